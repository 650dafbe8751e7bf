import { omitUndefined } from '../base/defined.ts';
import { parseInstantMs } from '../base/instants.ts';
import type { ConsentRecord, GrantFault, ShareStanding } from '../consent/consent-record.ts';
import { isAhead, refuseFault } from '../consent/refusals.ts';
import { type JudgedShare, judgeShare, toConsentStanding } from '../consent/standing.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type ConsentMessage, consent as consentDefinition } from '../messages/consent.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import type { LateConsentResult, Stands } from '../messages/journey/shapes.ts';
import { InvalidInputError, type Problem, parseProblem } from '../model/problems.ts';
import { type RefusalCause, refusePaths } from '../model/refusals.ts';
import { parseRunKey } from '../model/run-key.ts';
import type { ConsentTaken, LookUpSharesArgs, RecordConsentsArgs, ShareQuestion } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createRetryableFailure, translateErrors } from './failures.ts';

type Asker = Pick<RecordConsentsArgs, 'runKey' | 'firstRunId' | 'applicantIds' | 'consentTrust'>;

/** Judges the consents of a share by all messages that the ledger has about it. */
async function judge(
  ledger: Ledger,
  { runKey, firstRunId, applicantIds, consentTrust = 'namespace' }: Asker,
  { shareId, validForMs, reportReferenceNumber, reportRunKey, ...user }: ShareQuestion,
): Promise<JudgedShare & { standing: ShareStanding }> {
  const facts = await ledger.shareFacts({ runKey, shareId, ...omitUndefined({ reportReferenceNumber }) });
  // A journey's applicants may have been corrected since an earlier start of it received their grants.
  const start = parseRunKey(runKey).kind === 'journey' ? firstRunId : undefined;
  const terms = { shareId, owners: facts.owners, consentTrust, ...user, ...omitUndefined({ validForMs, start }) };
  const judged = judgeShare(facts.stored, terms, facts.nowMs);
  // The ledger had the report when the share started, but no longer has it.
  const isLost = reportRunKey !== undefined && !facts.owners.includes(reportRunKey);
  return {
    ...judged,
    standing: {
      applicants: judged.applicants.filter(({ applicantId }) => applicantIds.includes(applicantId)),
      position: facts.position,
      ...(facts.reportIsGone || isLost ? { reportGone: true } : {}),
      ...(facts.withdrawn ? { withdrawn: true } : {}),
    },
  };
}

/**
 * Reads which consents are in force for shares of a run. This start then owns the grants that no start has received.
 * The ledger takes consents off the list of unmatched consents if this start knows their shares.
 */
export async function lookUpShares(ledger: Ledger, args: LookUpSharesArgs): Promise<ShareStanding[]> {
  const { ledgerId = ledger.identity.ledgerId, runKey, firstRunId, applicantIds, shares, shareIds } = args;
  const reportRunKey = shares.find((share) => share.reportRunKey !== undefined)?.reportRunKey;
  await ledger.consents.adopt(ledgerId, { runKey, firstRunId, shareIds, applicantIds, reportRunKey });
  return Promise.all(shares.map(async (share) => (await judge(ledger, args, share)).standing));
}

/** Adds whether the consent, which the ledger did not have before, has changed it. */
function describeStands(stands: Omit<Stands, 'changed'>, consent: ConsentRecord, isKnown: boolean): Stands {
  const { decision, consentId } = stands;
  return { ...stands, changed: !isKnown && decision === consent.decision && consentId === consent.consentId };
}

function createRefusal(cause: RefusalCause, ...problems: Problem[]): InvalidInputError {
  return new InvalidInputError(problems, cause);
}

const RECORDED_OTHERWISE = 'must be what was recorded before under this consentId and decision';

const UNPROVEN = 'the proof is refused: ';

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
    const proven = await Promise.all(consents.map((consent) => prove(consent, () => consentTrust === 'proof')));
    const written = proven.flatMap((item) => ('consent' in item ? [item.consent] : []));
    const shareIds = shares.map(({ shareId }) => shareId);
    const verdicts = await ledger.recordConsents(ledgerId, written, { firstRunId, shareIds, faultyGrants });
    const verdictByConsent = new Map(written.map((consent, index) => [consent, verdicts[index]]));
    for (const consent of written) {
      if (consent.decision !== 'granted') await ledger.flagPostedShares(ledgerId, consent);
    }
    const judged = await Promise.all(shares.map((share) => judge(ledger, args, share)));
    const toTaken = async (item: Proven): Promise<ConsentTaken> => {
      if (!('consent' in item)) return item;
      const { consent, doubt } = item;
      const verdict = verdictByConsent.get(consent);
      const share = judged[shareIds.indexOf(consent.shareId)];
      const stands =
        share &&
        describeStands(toConsentStanding(share.applicants, consent.applicantId), consent, verdict?.kind === 'known');
      if (verdict?.kind !== 'known') return { kind: 'recorded', ...omitUndefined({ doubt, stands }) };
      const differing = refusePaths('/consentId with this /decision was used', verdict.paths);
      if (differing) return { kind: 'refused', ...differing };
      const fault = await findFault(consent, share);
      return { kind: 'recorded', isKnown: true, ...omitUndefined({ fault, stands }) };
    };
    return { taken: await Promise.all(proven.map(toTaken)), standings: judged.map(({ standing }) => standing) };
  }

  /** Returns why a grant that the ledger had before permits nothing. */
  async function findFault(consent: ConsentRecord, share: JudgedShare | undefined): Promise<GrantFault | undefined> {
    if (consent.decision !== 'granted') return undefined;
    const worth = share?.judgeGrant(consent) ?? 'stands';
    return worth === 'stands' ? ((await ledger.consents.fault(consent)) ?? undefined) : worth;
  }

  /**
   * Refuses a grant whose proof is invalid, or missing where it is required. Always takes a refusal, but without a proof
   * that is invalid or that no key could check.
   */
  async function prove(consent: ConsentRecord, isRequired: () => boolean | Promise<boolean>): Promise<Proven> {
    const { receivedAt, proof, ...message } = consent;
    const isGrant = consent.decision === 'granted';
    if (proof === undefined) {
      return isGrant && (await isRequired())
        ? { kind: 'refused', cause: 'unproven', reason: `${UNPROVEN}missing` }
        : { consent };
    }
    const unproven = { ...message, receivedAt };
    try {
      const verdict = await checkConsentProof({ ...message, proof }, new Date(receivedAt));
      if (verdict.accepted) return { consent };
      const reason = `${UNPROVEN}${verdict.reason}`;
      return isGrant ? { kind: 'refused', cause: 'unproven', reason } : { consent: unproven, doubt: reason };
    } catch {
      return isGrant ? { kind: 'unjudged' } : { consent: unproven, doubt: 'the proof could not be checked' };
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

  async function recordLate(consent: ConsentMessage, receivedAt: string): Promise<LateConsentResult> {
    const parsed = parseMessage(consentDefinition, consent);
    if (isAhead(parsed, parseInstantMs(receivedAt) ?? 0)) {
      throw createRefusal('inFuture', { path: '/decidedAt', rule: 'must not be in the future' });
    }
    const proven = await prove({ ...parsed, receivedAt }, () => needsProof(parsed));
    if (!('consent' in proven)) {
      if (proven.kind === 'unjudged') throw createRetryableFailure('ActivityFailed');
      throw createRefusal('unproven', { path: '/proof', rule: proven.reason.slice('the proof '.length) });
    }
    const late = proven.consent;
    const { ledgerId } = ledger.identity;
    const { verdict, unmatched } = await ledger.consents.keep(ledgerId, late);
    const differing = verdict.kind === 'known' ? verdict.paths : [];
    if (differing.length > 0) {
      throw createRefusal('differs', ...differing.map((path) => ({ path, rule: RECORDED_OTHERWISE })));
    }
    const fault = verdict.kind === 'known' ? await findFault(late, undefined) : undefined;
    if (fault) throw createRefusal('noLongerCounts', parseProblem(refuseFault(fault).reason));
    const postedSharesFlagged = late.decision === 'granted' ? 0 : await ledger.flagPostedShares(ledgerId, late);
    const { journeyId: runKey, applicantId, shareId, secondaryUser } = late;
    const duplicate = verdict.kind === 'known';
    const found = await ledger.stands({ runKey, applicantId, shareId, ...secondaryUser });
    const stands = describeStands(found, late, duplicate);
    return { stands, duplicate, postedSharesFlagged, ...(unmatched ? { unmatched } : {}) };
  }

  return {
    /** Checks the proofs, writes the consents, and returns which consents are then in force for their shares. */
    recordConsents: (args: RecordConsentsArgs) => translateErrors(() => record(args)),

    /** Reads which consents are in force for shares. A grant that another start has received does not count. */
    lookUpShares: (args: LookUpSharesArgs) => translateErrors(() => lookUpShares(ledger, args)),

    /**
     * Refuses a grant if its proof is invalid, or missing where a profile that may apply requires one. Refuses any
     * consent if the ledger has other content under its key. A refusal is a result.
     */
    recordLateConsentMessage: ({ consent, receivedAt }: { consent: ConsentMessage; receivedAt: string }) =>
      translateErrors(() =>
        recordLate(consent, receivedAt).catch((error: unknown): LateConsentResult => {
          if (!(error instanceof InvalidInputError)) throw error;
          return { problems: [...error.problems], cause: error.refusalCause ?? 'notNow' };
        }),
      ),
  };
}
