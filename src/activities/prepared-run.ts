/** The first activity of each kind of run: it checks the input, and fixes the run's configuration. */
import { activityInfo } from '@temporalio/activity';
import { toUtcInstant } from '../base/instants.ts';
import { isRecord } from '../base/is-record.ts';
import type { ShareStanding } from '../consent/consent-record.ts';
import { computeProfileFingerprint, type GatewayProfile } from '../gateway/profile.ts';
import { findApplicantProblems } from '../gateway/sendable-applicants.ts';
import { LedgerUnavailableError } from '../ledger/errors.ts';
import type { Ledger, StartFacts } from '../ledger/ledger.ts';
import { type LendingJourneyInput, lendingJourney } from '../messages/inputs/lending-journey.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { type PortfolioReviewInput, portfolioReview } from '../messages/inputs/portfolio-review.ts';
import { creditReport, failsafeCheck, type PullInput } from '../messages/inputs/pull.ts';
import { type ShareReportInput, shareReport } from '../messages/inputs/share-report.ts';
import type { Checked, MessageOf } from '../messages/message.ts';
import { type RequestShareMessage, requestShare, type ShareInput } from '../messages/request-share.ts';
import type { FailsafeApplicant } from '../model/applicant.ts';
import { type InquiryContent, type InquiryDescription, type InquiryTerms, pickTerms } from '../model/inquiry.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { STAGES } from '../model/products.ts';
import { ID_NAMES, type RunKind, toRunKey, toWorkflowId } from '../model/run-key.ts';
import { toPullInquiry, toStageInquiry } from '../model/stage-end-user.ts';
import type { RunConfig } from './contract.ts';
import { type ActivityDependencies, findPreparedProfile, findProfile } from './dependencies.ts';
import { translateErrors } from './failures.ts';
import {
  buildRequest,
  type Entitlement,
  findEntitlementProblems,
  listApplicantProblems,
  toSentContent,
} from './inquiry-request.ts';
import { findSharedReport } from './shared-report.ts';

/**
 * Returns the ledger's facts about the run's owner, or `null` if it does not answer. That is no reason to refuse a
 * start: each claim asks the same, and sends nothing without an answer.
 */
async function readFactsAtStart({ ledger }: ActivityDependencies, runKey: string): Promise<StartFacts | null> {
  const facts = await nullIfUnanswered(ledger.startFacts(runKey));
  if (facts?.hasOpenTasks && hasOwnWorkflowId(runKey)) {
    // An earlier run of this id may have been cut off before it closed its holds.
    const until = toUtcInstant(activityInfo().scheduledTimestampMs);
    await nullIfUnanswered(ledger.tasks.close(ledger.identity.ledgerId, { runKey, until }));
  }
  return facts;
}

/**
 * Makes the checks that all starts share: the profile, the input, the workflow id, the entitlements and the applicants.
 *
 * @throws InvalidInputError with every problem
 */
async function checkStart<Definition extends Checked>(
  dependencies: ActivityDependencies,
  kind: RunKind,
  given: unknown,
  definition: Definition,
  listEntitlements: (input: MessageOf<Definition>) => Entitlement[],
) {
  // The name is read from unchecked input, since that profile's limits are needed to check the input.
  const { profile: name }: Record<string, unknown> = isRecord(given) ? given : {};
  const profile = findProfile(dependencies, typeof name === 'string' ? name : 'default');
  const input = parseMessage(definition, given, profile.limits);
  const idName = ID_NAMES[kind];
  const { applicants = [] } = input as { applicants?: FailsafeApplicant[] };
  const runKey = toRunKey(kind, (input as Record<string, unknown>)[idName] as string);
  const facts = await readFactsAtStart(dependencies, runKey);
  const problems = [
    ...findIdProblems(runKey, `/${idName}`, facts),
    ...listEntitlements(input).flatMap((entitlement) => findEntitlementProblems(profile, entitlement)),
    ...findApplicantProblems(profile, applicants),
  ];
  if (problems.length > 0) throw new InvalidInputError(problems);
  return { profile, input, runKey, facts };
}

async function fixRun(dependencies: ActivityDependencies, profile: GatewayProfile, facts: StartFacts | null) {
  const { config, ledger, slots } = dependencies;
  return {
    environment: profile.environment,
    profile: profile.name,
    customerId: profile.customerId,
    profileFingerprint: computeProfileFingerprint(profile),
    ledgerId: ledger.identity.ledgerId,
    accents: profile.accents === 'transliterate' ? profile.accents : undefined,
    // Without the ledger's newest attempt, the run sees only its own attempts.
    highWaterMark: facts?.newest,
    settings: config.protocol,
    searchAttributes: await dependencies.registeredSearchAttributes(),
    consentTrust: profile.consentTrust,
    submitsOnWorkflowQueue: slots.get(profile.name)?.forWorkflowQueue ? true : undefined,
    sendsEvents: profile.webhooks?.length ? true : undefined,
    runbookUrl: config.runbookUrl,
  } satisfies RunConfig;
}

/** Returns `null` if the ledger does not answer: that is no reason to refuse a start. */
async function nullIfUnanswered<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return null;
    throw error;
  }
}

/** Whether the workflow id is made of the caller's id, so that each id has one run. */
function hasOwnWorkflowId(runKey: string): boolean {
  return activityInfo().workflowExecution?.workflowId === toWorkflowId(runKey);
}

function findIdProblems(runKey: string, path: string, facts: StartFacts | null): Problem[] {
  const workflowId = toWorkflowId(runKey);
  const prefix = workflowId.slice(0, workflowId.indexOf('-') + 1);
  return [
    ...(hasOwnWorkflowId(runKey) ? [] : [{ path, rule: `must be the workflow id without its "${prefix}"` }]),
    ...(facts?.isDisposed ? [{ path, rule: 'was disposed of: choose another id' }] : []),
  ];
}

/**
 * Checks the input by the interface's tables, which are decisive (2.3, 2.6, 4.3), before any attempt is claimed.
 *
 * @throws InvalidInputError as `buildRequest`
 */
export function checkRequestCanBeBuilt(
  profile: GatewayProfile,
  asked: Pick<InquiryDescription, 'productCode' | keyof InquiryTerms>,
  content: Omit<InquiryContent, 'inquiry'>,
): void {
  const { environment, name, customerId } = profile;
  const numbers = { workflowType: '', runKey: '', ordinal: 0, customerTraceNumber: 'PREFLIGHT' };
  const inquiry = { ...asked, ...numbers, environment, customerId, profile: name };
  buildRequest(profile, toSentContent(profile, { ...content, inquiry }), new Date());
}

/**
 * Creates the first activity of each kind of run. It checks the whole input and fixes the run's configuration before
 * anything can be posted. Also creates the checks of later requests to a running journey.
 *
 * @throws `InvalidInput` (final) with the first problems; `LedgerUnavailable` (repeated)
 */
export function createStartActivities(dependencies: ActivityDependencies) {
  const { ledger } = dependencies;

  return translateErrors({
    prepareJourney: async ({ input: given }: { input: LendingJourneyInput }) => {
      const start = await checkStart(dependencies, 'journey', given, lendingJourney, listJourneyEntitlements);
      const { profile, facts, input } = start;
      const { shares = [], applicants } = input;
      for (const productCode of input.stages ?? STAGES) {
        checkRequestCanBeBuilt(profile, toStageInquiry(input, productCode), { applicants });
      }
      // A journey without earlier consents need not ask the ledger about its shares.
      const standings =
        facts?.hasConsents === false ? shares.map(({ shareId }): ShareStanding => ({ shareId, applicants: [] })) : [];
      return { ...(await fixRun(dependencies, profile, facts)), standings };
    },

    preparePull: async ({ input: given }: { input: PullInput }) => {
      // Each workflow type accepts only its own products, so that the start is checked by the right table of fields.
      const definition = activityInfo().workflowType === 'failsafeCheck' ? failsafeCheck : creditReport;
      const start = await checkStart(dependencies, 'pull', given, definition, (pull: PullInput) => [pull]);
      const { profile, runKey, facts, input } = start;
      const problems = await findProductProblems(ledger, runKey, input);
      if (problems.length > 0) throw new InvalidInputError(problems);
      checkRequestCanBeBuilt(profile, toPullInquiry(input), { applicants: input.applicants });
      return fixRun(dependencies, profile, facts);
    },

    /** `examinePortfolio` checks the file, and waits while it cannot be reached. */
    preparePortfolio: async ({ input }: { input: PortfolioReviewInput }) => {
      const start = await checkStart(dependencies, 'portfolio', input, portfolioReview, (review) => [
        { ...review, productCode: 'ACCTRVW' },
      ]);
      return fixRun(dependencies, start.profile, start.facts);
    },

    /** Finds the report that is shared. The ledger knows of the share from then on. */
    prepareShareReport: async ({ input: given }: { input: ShareReportInput }) => {
      const start = await checkStart(dependencies, 'share', given, shareReport, (share) => [
        { ...share, productCode: 'SECONDUSE' },
      ]);
      const { profile, runKey, facts, input } = start;
      const { report, reference, reportEndUserCode } = await findSharedReport(ledger, profile, input);
      checkRequestCanBeBuilt(profile, { productCode: 'SECONDUSE', ...pickTerms(input) }, { reference });
      const { reportReferenceNumber } = reference;
      const row = { runKey, shareId: input.shareId, reportReferenceNumber, reportEndUserCode };
      if (!(await ledger.recordShare(ledger.identity.ledgerId, row))) {
        const rule = 'must be that of the share that already has this id: choose another id';
        throw new InvalidInputError([{ path: '/report', rule }]);
      }
      return { ...(await fixRun(dependencies, profile, facts)), report, reference };
    },

    /** @throws `InvalidInput` (final) with paths under `/applicants`. */
    checkApplicants: async ({ profile, applicants }: { profile: string; applicants: FailsafeApplicant[] }) => {
      const problems = listApplicantProblems(findPreparedProfile(dependencies, profile), 'PREQUAL', applicants);
      if (problems.length > 0) throw new InvalidInputError(problems);
    },

    /**
     * `journeyPurposeCode` applies to a share without a purpose code of its own.
     *
     * @throws `InvalidInput` (final) with paths under `/share`, or the journey's own purpose code.
     */
    checkShare: async (args: { profile: string; message: RequestShareMessage; journeyPurposeCode?: string }) => {
      const { profile, message, journeyPurposeCode } = args;
      const entitlement = toShareEntitlement(parseMessage(requestShare, message).share, '/share', journeyPurposeCode);
      const problems = findEntitlementProblems(findPreparedProfile(dependencies, profile), entitlement);
      if (problems.length > 0) throw new InvalidInputError(problems);
    },
  });
}

function listJourneyEntitlements(journey: LendingJourneyInput): Entitlement[] {
  const { stages = STAGES, shares = [], endUserCodes, permissiblePurposeCodes } = journey;
  return [
    ...stages.map((stage) => ({
      ...toStageInquiry(journey, stage),
      endUserPath: endUserCodes?.[stage] === undefined ? '/endUserCode' : `/endUserCodes/${stage}`,
      purposePath: `/permissiblePurposeCodes/${stage}`,
    })),
    ...shares.map((share, index) => toShareEntitlement(share, `/shares/${index}`, permissiblePurposeCodes.SECONDUSE)),
  ];
}

function toShareEntitlement(share: ShareInput, path: string, journeyPurposeCode: string | undefined): Entitlement {
  const { endUserCode, permissiblePurposeCode = journeyPurposeCode } = share;
  return {
    productCode: 'SECONDUSE',
    endUserCode,
    permissiblePurposeCode,
    endUserPath: `${path}/endUserCode`,
    purposePath: share.permissiblePurposeCode ? `${path}/permissiblePurposeCode` : '/permissiblePurposeCodes/SECONDUSE',
  };
}

/**
 * One pull is one product. Another product under the id of a failed pull would have another trace number. It would be
 * sent before an operator has decided about the first.
 */
async function findProductProblems(ledger: Ledger, runKey: string, { productCode }: PullInput): Promise<Problem[]> {
  const inquiries = await ledger.inquiriesOf(runKey);
  // A claim that a pause has refused leaves a row under which nothing was sent or decided.
  const taken = inquiries.filter(({ attempts, decisions }) => attempts.length + decisions.length > 0);
  if (taken.every((inquiry) => inquiry.productCode === productCode)) return [];
  return [{ path: '/productCode', rule: 'must be that of the pull that already has this id: choose another id' }];
}
