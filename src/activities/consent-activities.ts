import { getClient, log } from '@temporalio/activity';
import { isGrpcServiceError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { runInParallel } from '../base/in-parallel.ts';
import { parseInstantMs } from '../base/instants.ts';
import type { ConsentRecord, ShareStanding } from '../consent/consent-record.ts';
import { isAhead, isRefusal, refuseFault } from '../consent/refusals.ts';
import { type JudgedShare, judgeShare, toConsentStanding } from '../consent/standing.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ConsentVerdict } from '../ledger/records.ts';
import { type ConsentMessage, consent as consentDefinition } from '../messages/consent.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import type { LateConsentResult, Stands } from '../messages/journey/shapes.ts';
import { InvalidInputError, parseProblem } from '../model/problems.ts';
import { type RefusalCause, refuse, refusePaths } from '../model/refusals.ts';
import { parseRunKey, toRunKey, toWorkflowId } from '../model/run-key.ts';
import type { ConsentTaken, RecordConsentsArgs, ShareQuestion } from './contract.ts';
import { type ActivityDependencies, requireNewest } from './dependencies.ts';
import { createRetryableFailure, translateErrors } from './failures.ts';

/** Judges the consents of a share by all messages that the ledger has about it. */
async function judge(
  ledger: Ledger,
  { runKey, firstRunId, applicantIds, consentTrust }: RecordConsentsArgs,
  { reportReferenceNumber, reportRunKey, ...share }: ShareQuestion,
): Promise<JudgedShare & { standing: ShareStanding }> {
  const { shareId } = share;
  const { stored, owners, nowMs, ...facts } = await ledger.shareFacts({ runKey, shareId, reportReferenceNumber });
  // A journey's applicants may have been corrected since an earlier start of it received their grants.
  const start = parseRunKey(runKey).kind === 'journey' ? firstRunId : undefined;
  const judged = judgeShare(stored, { ...share, owners, consentTrust, start }, nowMs);
  // The ledger had the report when the share started, but no longer has it.
  const isLost = reportRunKey !== undefined && !owners.includes(reportRunKey);
  return {
    ...judged,
    standing: {
      shareId,
      applicants: judged.applicants.filter(({ applicantId }) => applicantIds.includes(applicantId)),
      reportGone: facts.reportIsGone || isLost ? true : undefined,
      withdrawn: facts.isWithdrawn ? true : undefined,
    },
  };
}

/**
 * A share by itself of a journey's report may wait for a consent that the journey has received. It asks the ledger which
 * consents count.
 */
async function wakeSharesByThemselves(runKey: string, consents: readonly ConsentRecord[]): Promise<void> {
  const shares = new Set(consents.map(({ shareId }) => toRunKey('share', shareId)));
  shares.delete(runKey);
  await runInParallel([...shares], SIGNALS_AT_ONCE, (share) => signalIfOpen(share, 'lookUpConsents'));
}

const SIGNALS_AT_ONCE = 20;

/** Passes over a run that has ended, or that takes no more messages. */
async function signalIfOpen(runKey: string, signal: string, ...content: [] | [ConsentMessage]): Promise<void> {
  try {
    await getClient()
      .workflow.getHandle(toWorkflowId(runKey))
      .signal(signal, ...content);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const code = isGrpcServiceError(cause) ? cause.code : undefined;
    // Temporal repeats the activity once its server answers again.
    if (code !== undefined && SERVER_AWAY.includes(code)) throw error;
    if (!(error instanceof WorkflowNotFoundError)) log.warn('an open run was not told of a consent', { runKey, code });
  }
}

/** DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED and UNAVAILABLE of gRPC: the server is away or overloaded. */
const SERVER_AWAY: readonly number[] = [4, 8, 10, 14];

/** Adds whether the consent, which the ledger did not have before, has changed it. */
function describeStands(stands: Omit<Stands, 'changed'>, consent: ConsentRecord, isKnown: boolean): Stands {
  const { decision, consentId } = stands;
  return { ...stands, changed: !isKnown && decision === consent.decision && consentId === consent.consentId };
}

/** Says whether the ledger had the consent before: with other content, or as a grant that permits nothing. */
function judgeVerdict(consent: ConsentRecord, verdict: ConsentVerdict | undefined, share?: JudgedShare) {
  if (verdict?.kind !== 'known') return { isKnown: false, paths: [] };
  const worth = consent.decision === 'granted' && share ? share.judgeGrant(consent) : 'stands';
  return { isKnown: true, paths: verdict.paths, fault: worth === 'stands' ? verdict.fault : worth };
}

const RECORDED_OTHERWISE = 'must be what was recorded before under this consentId and decision';

/** A message that is to be written, or the reason why it is not. */
type Proven = { consent: ConsentRecord; doubt?: string } | Exclude<ConsentTaken, { kind: 'recorded' }>;

/**
 * Creates the activities that check and record consents. Each is idempotent, so Temporal may repeat it without limit.
 *
 * @throws `LedgerUnavailable`, and `ActivityFailed` while the consent keys cannot be read (repeated); `LedgerChanged`
 *   (final)
 */
export function createConsentActivities(dependencies: ActivityDependencies) {
  const { ledger, checkConsentProof } = dependencies;

  async function record(args: RecordConsentsArgs) {
    const { ledgerId = ledger.identity.ledgerId, firstRunId, consents, faultyGrants, shares, consentTrust } = args;
    await requireNewest(ledger, ledgerId, args.highWaterMark);
    const proven = await Promise.all(consents.map((consent) => prove(consent, () => consentTrust === 'proof')));
    const written = proven.flatMap((item) => ('consent' in item ? [item.consent] : []));
    const shareIds = shares.map(({ shareId }) => shareId);
    const verdicts = await ledger.recordConsents(ledgerId, written, { firstRunId, shareIds, faultyGrants });
    const verdictByConsent = new Map(written.map((consent, index) => [consent, verdicts[index]]));
    for (const consent of written.filter(isRefusal)) await ledger.flagPostedShares(ledgerId, consent);
    await wakeSharesByThemselves(args.runKey, written);
    if (args.shareIds) {
      const { runKey, applicantIds } = args;
      const reportRunKey = shares.find((share) => share.reportRunKey !== undefined)?.reportRunKey;
      const start = { runKey, firstRunId, shareIds: args.shareIds, applicantIds, reportRunKey };
      await ledger.consents.adopt(ledgerId, start);
    }
    const judged = await Promise.all(shares.map((share) => judge(ledger, args, share)));
    const toTaken = async (item: Proven): Promise<ConsentTaken> => {
      if (!('consent' in item)) return item;
      const { consent, doubt } = item;
      const share = judged[shareIds.indexOf(consent.shareId)];
      const { isKnown, paths, fault } = judgeVerdict(consent, verdictByConsent.get(consent), share);
      const differing = refusePaths('/consentId with this /decision was used', paths);
      if (differing) return { kind: 'refused', ...differing };
      const found = share && toConsentStanding(share.applicants, consent.applicantId);
      return { kind: 'recorded', isKnown, fault, doubt, stands: found && describeStands(found, consent, isKnown) };
    };
    return { taken: await Promise.all(proven.map(toTaken)), standings: judged.map(({ standing }) => standing) };
  }

  /**
   * Refuses a grant whose proof is invalid, or missing where it is required. Always takes a refusal, but without a proof
   * that is invalid or that no key could check.
   */
  async function prove(consent: ConsentRecord, isRequired: () => boolean | Promise<boolean>): Promise<Proven> {
    const { receivedAt, proof, ...message } = consent;
    const isGrant = consent.decision === 'granted';
    const refuseProof = (reason: string): Proven =>
      isGrant
        ? { kind: 'refused', ...refuse('unproven', reason) }
        : { consent: { ...message, receivedAt }, doubt: reason };
    if (proof === undefined) {
      return isGrant && (await isRequired()) ? refuseProof('the proof is refused: missing') : { consent };
    }
    try {
      const verdict = await checkConsentProof({ ...message, proof }, new Date(receivedAt));
      return verdict.accepted ? { consent } : refuseProof(`the proof is refused: ${verdict.reason}`);
    } catch {
      return isGrant ? { kind: 'unjudged' } : refuseProof('the proof could not be checked');
    }
  }

  /**
   * No run names the profile here. So the profiles of the journey's inquiries count, or every profile if none is known.
   */
  async function needsProof({ journeyId }: ConsentMessage): Promise<boolean> {
    const all = [...dependencies.config.profiles.values()];
    const used = new Set((await ledger.inquiriesOf(journeyId)).map(({ profile }) => profile));
    const known = all.filter(({ name }) => used.has(name));
    return (known.length > 0 ? known : all).some(({ consentTrust }) => consentTrust === 'proof');
  }

  async function recordLate(given: ConsentMessage, receivedAt: string): Promise<LateConsentResult> {
    const parsed = parseMessage(consentDefinition, given);
    const refuseLate = (cause: RefusalCause, path: string, rule: string) => ({ cause, problems: [{ path, rule }] });
    if (isAhead(parsed, parseInstantMs(receivedAt) ?? 0)) {
      return refuseLate('inFuture', '/decidedAt', 'must not be in the future');
    }
    const proven = await prove({ ...parsed, receivedAt }, () => needsProof(parsed));
    if (!('consent' in proven)) {
      if (proven.kind === 'unjudged') throw createRetryableFailure('ActivityFailed');
      return refuseLate('unproven', '/proof', proven.reason.slice('the proof '.length));
    }
    const { consent } = proven;
    const { ledgerId } = ledger.identity;
    await requireNewest(ledger, ledgerId);
    const { verdict, unmatched } = await ledger.consents.keep(ledgerId, consent);
    const { isKnown: duplicate, paths, fault } = judgeVerdict(consent, verdict);
    if (paths.length > 0) {
      return { cause: 'differs', problems: paths.map((path) => ({ path, rule: RECORDED_OTHERWISE })) };
    }
    if (fault) return { cause: 'noLongerCounts', problems: [parseProblem(refuseFault(fault).reason)] };
    const postedSharesFlagged = isRefusal(consent) ? await ledger.flagPostedShares(ledgerId, consent) : 0;
    const { journeyId: runKey, applicantId, shareId, secondaryUser } = consent;
    // A journey that was started meanwhile may have asked the ledger a moment too early. It ignores what it knows.
    await signalIfOpen(runKey, 'consent', given);
    await wakeSharesByThemselves(runKey, [consent]);
    const found = await ledger.stands({ runKey, applicantId, shareId, ...secondaryUser });
    return { stands: describeStands(found, consent, duplicate), duplicate, postedSharesFlagged, unmatched };
  }

  return translateErrors({
    /**
     * Checks the proofs, writes the consents, and returns which consents are then in force for the shares. A grant that
     * another start of a journey has received does not count.
     */
    recordConsents: record,

    /**
     * Refuses a grant if its proof is invalid, or missing where a profile that may apply requires one. Refuses any
     * consent if the ledger has other content under its key. A refusal is a result.
     */
    recordLateConsentMessage: ({ consent, receivedAt }: { consent: ConsentMessage; receivedAt: string }) =>
      recordLate(consent, receivedAt).catch((error: unknown): LateConsentResult => {
        if (!(error instanceof InvalidInputError)) throw error;
        return { problems: [...error.problems], cause: error.refusalCause ?? 'invalidInput' };
      }),
  });
}
