import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { GatewayError } from '../gateway/errors.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import { profileFingerprint } from '../gateway/profile-fingerprint.ts';
import { buildReportRequest } from '../gateway/requests.ts';
import { LedgerUnavailableError } from '../ledger/errors.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { STAGES } from '../model/products.ts';
import type { LendingJourneyInput } from '../model/shapes.ts';
import { parseApplicants, parseLendingJourneyInput } from '../validation/messages.ts';
import type { JourneyActivities, PreparedRun } from './contract.ts';
import { type ActivityDependencies, profileNamed } from './dependencies.ts';
import { entitlementProblems } from './entitlements.ts';
import { translating } from './failures.ts';

export const JOURNEY_WORKFLOW_ID_PREFIX = 'journey-';

export function createPrepareJourney(
  dependencies: ActivityDependencies,
): Pick<JourneyActivities, 'prepareJourney' | 'checkApplicants'> {
  return {
    /**
     * Checks the whole input and fixes what the run will be held to, before anything can be posted.
     *
     * @throws `InvalidInput` (final) with every problem.
     */
    prepareJourney: ({ input }) =>
      translating(async () => {
        const profile = profileNamed(dependencies, profileNameOf(input));
        const journey = parseLendingJourneyInput(input, { maxApplicants: profile.limits.maxApplicants });
        await refuseInTheClear(dependencies, profile);
        const problems = [
          ...workflowIdProblems(journey),
          ...(await disposalProblems(dependencies, journey)),
          ...journeyEntitlementProblems(profile, journey),
        ];
        if (problems.length > 0) throw new InvalidInputError(problems);
        checkRequestsCanBeBuilt(profile, journey);
        const prepared: PreparedRun = {
          environment: profile.environment,
          profile: profile.name,
          customerId: profile.customerId,
          profileFingerprint: profileFingerprint(profile),
          ledgerId: dependencies.ledger.identity.ledgerId,
          settings: dependencies.config.protocol,
          searchAttributes: await dependencies.registeredSearchAttributes(),
          consentTrust: profile.consentTrust,
          listsConsentWaits: true,
          ...(profile.webhooks?.length ? { sendsEvents: true } : {}),
          token: await preflight(dependencies, profile),
        };
        return prepared;
      }),

    /** @throws `InvalidInput` (final) with paths under `/applicants`. */
    checkApplicants: ({ profile, applicants }) =>
      translating(async () => {
        const { limits } = profileNamed(dependencies, profile);
        parseApplicants(applicants, { maxApplicants: limits.maxApplicants });
      }),
  };
}

/** The input is not checked yet when its profile's limits are needed to check it. */
function profileNameOf(input: unknown): string {
  const name = (input as { profile?: unknown } | null | undefined)?.profile;
  return typeof name === 'string' ? name : 'default';
}

function workflowIdProblems(journey: LendingJourneyInput): Problem[] {
  const { workflowId } = activityInfo().workflowExecution ?? {};
  if (workflowId === `${JOURNEY_WORKFLOW_ID_PREFIX}${journey.journeyId}`) return [];
  return [{ path: '/journeyId', rule: `must be the workflow id without its "${JOURNEY_WORKFLOW_ID_PREFIX}"` }];
}

/** Whoever reads Temporal's database reads a start in the clear: outside the sandbox nothing is posted for one. */
async function refuseInTheClear(dependencies: ActivityDependencies, profile: GatewayProfile): Promise<void> {
  const { workflowExecution } = activityInfo();
  if (profile.environment === 'sandbox' || !workflowExecution) return;
  if (await dependencies.startedEncrypted(workflowExecution)) return;
  throw new InvalidInputError([
    { path: '', rule: `must be encrypted: ${profile.environment} takes no start in the clear` },
  ]);
}

/** A ledger that does not answer is no reason to refuse: each claim asks it the same, and sends nothing either. */
async function disposalProblems(
  { ledger }: ActivityDependencies,
  { journeyId }: LendingJourneyInput,
): Promise<Problem[]> {
  const disposedAt = await ledger.retention.disposalOf(journeyId).catch((error: unknown) => {
    if (error instanceof LedgerUnavailableError) return null;
    throw error;
  });
  return disposedAt === null ? [] : [{ path: '/journeyId', rule: 'was disposed of: choose another id' }];
}

function journeyEntitlementProblems(profile: GatewayProfile, journey: LendingJourneyInput): Problem[] {
  const ofStages = (journey.stages ?? STAGES).flatMap((stage) =>
    entitlementProblems(profile, {
      productCode: stage,
      endUserCode: journey.endUserCode,
      permissiblePurposeCode: journey.permissiblePurposeCodes[stage],
      endUserPath: '/endUserCode',
      purposePath: `/permissiblePurposeCodes/${stage}`,
    }),
  );
  const ofShares = (journey.shares ?? []).flatMap((share, index) =>
    entitlementProblems(profile, {
      productCode: 'SECONDUSE',
      endUserCode: share.endUserCode,
      permissiblePurposeCode: share.permissiblePurposeCode ?? journey.permissiblePurposeCodes.SECONDUSE,
      endUserPath: `/shares/${index}/endUserCode`,
      purposePath: share.permissiblePurposeCode
        ? `/shares/${index}/permissiblePurposeCode`
        : '/permissiblePurposeCodes/SECONDUSE',
    }),
  );
  return [...ofStages, ...ofShares];
}

/** The gateway's own tables have the last word (interface 2.3), before a single attempt is claimed. */
function checkRequestsCanBeBuilt(profile: GatewayProfile, journey: LendingJourneyInput): void {
  for (const productCode of journey.stages ?? STAGES) {
    buildReportRequest({
      profile,
      productCode,
      customerTraceNumber: 'PREFLIGHT',
      endUserCode: journey.endUserCode,
      permissiblePurposeCode: journey.permissiblePurposeCodes[productCode] ?? '',
      applicants: journey.applicants,
    });
  }
}

/** Half of the activity's start-to-close time-out, so that a token service that hangs is an answer, not a time-out. */
const PREFLIGHT_TIMEOUT_MS = 10_000;

/** A token service that is down or refuses does not fail the start: the first inquiry meets it again, and waits. */
async function preflight(dependencies: ActivityDependencies, profile: GatewayProfile): Promise<PreparedRun['token']> {
  const tooLong = AbortSignal.timeout(PREFLIGHT_TIMEOUT_MS);
  try {
    await dependencies.tokens.get(profile, { signal: AbortSignal.any([cancellationSignal(), tooLong]) });
    return 'ready';
  } catch (error) {
    if (tooLong.aborted) return 'unavailable';
    if (error instanceof GatewayError) return error.code === 'CredentialsRefused' ? 'refused' : 'unavailable';
    throw error;
  }
}
