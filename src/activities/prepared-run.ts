/** The first activity of each kind of run: it checks the input, and fixes the run's configuration. */
import { activityInfo } from '@temporalio/activity';
import { omitUndefined } from '../base/defined.ts';
import { toUtcInstant } from '../base/instants.ts';
import type { ShareStanding } from '../consent/consent-record.ts';
import { computeProfileFingerprint, type GatewayProfile } from '../gateway/profile.ts';
import { LedgerUnavailableError } from '../ledger/errors.ts';
import type { Ledger, StartFacts } from '../ledger/ledger.ts';
import { type LendingJourneyInput, lendingJourney } from '../messages/inputs/lending-journey.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { type PortfolioReviewInput, portfolioReview } from '../messages/inputs/portfolio-review.ts';
import { creditReport, failsafeCheck, type PullInput } from '../messages/inputs/pull.ts';
import {
  type RequestShareMessage,
  requestShare,
  type ShareInput,
  toConsentValidForMs,
} from '../messages/request-share.ts';
import type { FailsafeApplicant } from '../model/applicant.ts';
import { type InquiryContent, type InquiryDescription, type InquiryTerms, pickTerms } from '../model/inquiry.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import { STAGES } from '../model/products.ts';
import { ID_NAMES, type RunKind, toRunKey, toWorkflowId } from '../model/run-key.ts';
import { toPullInquiry, toSecondaryUser, toStageInquiry } from '../model/stage-end-user.ts';
import { lookUpShares } from './consent-activities.ts';
import type { RunConfig } from './contract.ts';
import { type ActivityDependencies, findPreparedProfile, findProfile } from './dependencies.ts';
import { translateErrors } from './failures.ts';
import {
  buildRequest,
  findApplicantProblems,
  findEntitlementProblems,
  listApplicantProblems,
  toSentContent,
} from './inquiry-request.ts';

/** Reads the profile's name from unchecked input, since that profile's limits are needed to check the input. */
function readProfileName(input: unknown): string {
  const name = (input as { profile?: unknown } | null | undefined)?.profile;
  return typeof name === 'string' ? name : 'default';
}

/**
 * Returns the ledger's facts about the run's owner, or `null` if it does not answer. That is no reason to refuse a
 * start: each claim asks the same, and sends nothing without an answer.
 */
async function readFactsAtStart({ ledger }: ActivityDependencies, runKey: string): Promise<StartFacts | null> {
  const facts = await nullIfUnanswered(ledger.startFacts(runKey));
  if (facts?.hasOpenWork && hasOwnWorkflowId(runKey)) {
    // An earlier run of this id may have been cut off before it closed its holds.
    const until = toUtcInstant(activityInfo().scheduledTimestampMs);
    await nullIfUnanswered(ledger.work.close(ledger.identity.ledgerId, { runKey, until }));
  }
  return facts;
}

interface StartRules<Input> {
  /** Checks the input by its table. */
  parse(profile: GatewayProfile): Input;
  listProblems(profile: GatewayProfile, input: Input): Problem[];
}

/**
 * Makes the checks that all starts share: the profile, the input, the workflow id and the entitlements.
 *
 * @throws InvalidInputError with every problem
 */
export async function checkStart<Input extends object>(
  dependencies: ActivityDependencies,
  kind: RunKind,
  given: unknown,
  { parse, listProblems }: StartRules<Input>,
) {
  const profile = findProfile(dependencies, readProfileName(given));
  const input = parse(profile);
  const ownProblems = listProblems(profile, input);
  const idName = ID_NAMES[kind];
  const runKey = toRunKey(kind, (input as Record<string, unknown>)[idName] as string);
  const facts = await readFactsAtStart(dependencies, runKey);
  const problems = [...findIdProblems(runKey, `/${idName}`, facts), ...ownProblems];
  if (problems.length > 0) throw new InvalidInputError(problems);
  return { profile, input, runKey, facts };
}

export async function fixRun(
  dependencies: ActivityDependencies,
  profile: GatewayProfile,
  facts: StartFacts | null,
): Promise<RunConfig> {
  return {
    environment: profile.environment,
    profile: profile.name,
    customerId: profile.customerId,
    profileFingerprint: computeProfileFingerprint(profile),
    ledgerId: dependencies.ledger.identity.ledgerId,
    ...(profile.accents === 'transliterate' ? { accents: profile.accents } : {}),
    // Without the ledger's newest attempt, the run sees only its own attempts.
    ...(facts?.newest ? { highWaterMark: facts.newest } : {}),
    settings: dependencies.config.protocol,
    searchAttributes: await dependencies.registeredSearchAttributes(),
    consentTrust: profile.consentTrust,
    ...(dependencies.slots.get(profile.name)?.forWorkflowQueue ? ({ submitsOnWorkflowQueue: true } as const) : {}),
    ...(profile.webhooks?.length ? ({ sendsEvents: true } as const) : {}),
    ...omitUndefined({ runbookUrl: dependencies.config.runbookUrl }),
  };
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
  const inquiry = {
    ...asked,
    environment,
    customerId,
    profile: name,
    workflowType: '',
    runKey: '',
    ordinal: 0,
    customerTraceNumber: 'PREFLIGHT',
  };
  buildRequest(profile, toSentContent(profile, { ...content, inquiry }), new Date());
}

export interface ShareCheck {
  profile: string;
  message: RequestShareMessage;
  journeyPurposeCode?: string;
}

/**
 * Creates the first activity of each kind of run. It checks the whole input and fixes the run's configuration before
 * anything can be posted. Also creates the checks of later requests to a running journey.
 *
 * @throws `InvalidInput` (final) with every problem; `LedgerUnavailable` (repeated)
 */
export function createStartActivities(dependencies: ActivityDependencies) {
  return {
    /** `firstRunId`: the first run of the chain. */
    prepareJourney: ({ input, firstRunId }: { input: LendingJourneyInput; firstRunId: string }) =>
      translateErrors(async () => {
        const checked = await checkStart(dependencies, 'journey', input, {
          parse: ({ limits: { maxApplicants } }) => parseMessage(lendingJourney, input, { maxApplicants }),
          listProblems: (profile, journey) => [
            ...findJourneyEntitlementProblems(profile, journey),
            ...findApplicantProblems(profile, journey.applicants),
          ],
        });
        const { profile, facts, input: journey } = checked;
        for (const productCode of journey.stages ?? STAGES) {
          checkRequestCanBeBuilt(profile, toStageInquiry(journey, productCode), { applicants: journey.applicants });
        }
        return {
          ...(await fixRun(dependencies, profile, facts)),
          ...(await findStandings(dependencies, profile, { journey, firstRunId, hasConsents: facts?.hasConsents })),
        };
      }),

    preparePull: ({ input }: { input: PullInput }) =>
      translateErrors(async () => {
        // Each workflow type accepts only its own products, so that the start is checked by the right table of fields.
        const definition = activityInfo().workflowType === 'failsafeCheck' ? failsafeCheck : creditReport;
        const checked = await checkStart(dependencies, 'pull', input, {
          parse: ({ limits }): PullInput => parseMessage(definition, input, limits),
          listProblems: (profile, pull) => findEntitlementProblems(profile, pull),
        });
        const { profile, runKey, facts, input: pull } = checked;
        const problems = await findProductProblems(dependencies.ledger, runKey, pull);
        if (problems.length > 0) throw new InvalidInputError(problems);
        checkRequestCanBeBuilt(profile, toPullInquiry(pull), { applicants: pull.applicants });
        return fixRun(dependencies, profile, facts);
      }),

    /** `examinePortfolio` checks the file, and waits while it cannot be reached. */
    preparePortfolio: ({ input }: { input: PortfolioReviewInput }) =>
      translateErrors(async () => {
        const { profile, facts } = await checkStart(dependencies, 'portfolio', input, {
          parse: () => parseMessage(portfolioReview, input),
          listProblems: (profile, review) => findEntitlementProblems(profile, { ...review, productCode: 'ACCTRVW' }),
        });
        return fixRun(dependencies, profile, facts);
      }),

    /** @throws `InvalidInput` (final) with paths under `/applicants`. */
    checkApplicants: ({ profile, applicants }: { profile: string; applicants: FailsafeApplicant[] }) =>
      translateErrors(async () => {
        const problems = listApplicantProblems(findPreparedProfile(dependencies, profile), 'PREQUAL', applicants);
        if (problems.length > 0) throw new InvalidInputError(problems);
      }),

    /**
     * `journeyPurposeCode` applies to a share without a purpose code of its own.
     *
     * @throws `InvalidInput` (final) with paths under `/share`, or the journey's own purpose code.
     */
    checkShare: ({ profile, message, journeyPurposeCode }: ShareCheck) =>
      translateErrors(async () => {
        const { share } = parseMessage(requestShare, message);
        const problems = findShareEntitlementProblems(findPreparedProfile(dependencies, profile), share, {
          path: '/share',
          journeyPurposeCode,
        });
        if (problems.length > 0) throw new InvalidInputError(problems);
      }),
  };
}

/** If the ledger does not answer, the journey still starts, and asks for each share when it waits for consent. */
async function findStandings(
  { ledger }: ActivityDependencies,
  { consentTrust }: GatewayProfile,
  start: { journey: LendingJourneyInput; firstRunId: string; hasConsents: boolean | undefined },
): Promise<{ standings?: ShareStanding[] }> {
  const { journeyId: runKey, shares = [], applicants } = start.journey;
  const { firstRunId, hasConsents } = start;
  if (hasConsents === false) return { standings: shares.map(() => ({ applicants: [], position: 0 })) };
  const questions = shares.map((share) => {
    const validForMs = toConsentValidForMs(share);
    return { shareId: share.shareId, ...toSecondaryUser(share), ...omitUndefined({ validForMs }) };
  });
  const standings = await nullIfUnanswered(
    lookUpShares(ledger, {
      runKey,
      firstRunId,
      consentTrust,
      shares: questions,
      applicantIds: applicants.map(({ applicantId }) => applicantId),
      shareIds: shares.map(({ shareId }) => shareId),
    }),
  );
  return standings === null ? {} : { standings };
}

function findJourneyEntitlementProblems(profile: GatewayProfile, journey: LendingJourneyInput): Problem[] {
  const ofStages = (journey.stages ?? STAGES).flatMap((stage) =>
    findEntitlementProblems(profile, {
      ...toStageInquiry(journey, stage),
      endUserPath: journey.endUserCodes?.[stage] === undefined ? '/endUserCode' : `/endUserCodes/${stage}`,
      purposePath: `/permissiblePurposeCodes/${stage}`,
    }),
  );
  const ofShares = (journey.shares ?? []).flatMap((share, index) =>
    findShareEntitlementProblems(profile, share, {
      path: `/shares/${index}`,
      journeyPurposeCode: journey.permissiblePurposeCodes.SECONDUSE,
    }),
  );
  return [...ofStages, ...ofShares];
}

function findShareEntitlementProblems(
  profile: GatewayProfile,
  share: ShareInput,
  { path, journeyPurposeCode }: { path: string; journeyPurposeCode: string | undefined },
): Problem[] {
  return findEntitlementProblems(profile, {
    productCode: 'SECONDUSE',
    ...pickTerms({ permissiblePurposeCode: journeyPurposeCode, ...share }),
    endUserPath: `${path}/endUserCode`,
    purposePath: share.permissiblePurposeCode ? `${path}/permissiblePurposeCode` : '/permissiblePurposeCodes/SECONDUSE',
  });
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
  return [{ path: '/productCode', rule: 'must be that of the pull which has this id already: choose another id' }];
}
