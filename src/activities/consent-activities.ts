import { parseInstantMs } from '../base/instants.ts';
import type { ConsentRecord } from '../consent/consent-record.ts';
import { describeFault, isAhead } from '../consent/refusals.ts';
import { type ConsentMessage, consent as consentDefinition } from '../messages/consent.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { InvalidInputError, type Problem } from '../model/problems.ts';
import type { JourneyActivities, RecordConsentsArgs, RecordConsentsResult } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { translating } from './failures.ts';

function recordedOtherwise(path: string): Problem {
  return { path, rule: 'must be what was recorded before under this consentId and decision' };
}

/**
 * Creates the activities that check and record consents. Each is idempotent, so Temporal may repeat it without limit.
 *
 * @throws `LedgerUnavailable`, and `ActivityFailed` while the consent keys cannot be read (repeated); `LedgerChanged`
 *   (final)
 */
export function createConsentActivities(
  dependencies: ActivityDependencies,
): Pick<JourneyActivities, 'checkConsentProof' | 'recordConsents' | 'hearConsents' | 'recordLateConsentMessage'> {
  const { ledger, checkConsentProof } = dependencies;

  async function record(args: RecordConsentsArgs): Promise<RecordConsentsResult> {
    const { ledgerId = ledger.identity.ledgerId, consents, ...told } = args;
    const doubts = await Promise.all(consents.map(doubtAbout));
    const checked = consents.map((consent, index) => (doubts[index] === undefined ? consent : withoutProof(consent)));
    const verdicts = await ledger.recordConsents(ledgerId, checked);
    // Most messages are new, for a share that the run knows: they need no second transaction.
    const isMore = told.unknownShares.length + told.matchedShares.length + told.faultyGrants.length > 0;
    if (isMore || verdicts.some(({ kind }) => kind === 'known')) {
      await ledger.kept.noteTold(ledgerId, { ...told, consents: checked });
    }
    for (const consent of checked) {
      if (consent.decision !== 'granted') await ledger.flagPostedShares(ledgerId, consent);
    }
    return {
      unproved: doubts.flatMap((reason, index) => (reason === undefined ? [] : [{ index, reason }])),
      knownOtherwise: verdicts.flatMap((verdict, index) =>
        verdict.kind === 'known' && verdict.paths.length > 0 ? [{ index, paths: verdict.paths }] : [],
      ),
    };
  }

  /** Returns why a refusal is recorded without its proof. Unreadable keys do not keep a refusal from the ledger. */
  async function doubtAbout({ receivedAt, ...consent }: ConsentRecord): Promise<string | undefined> {
    if (consent.proof === undefined || consent.decision === 'granted') return undefined;
    try {
      const verdict = await checkConsentProof(consent, new Date(receivedAt));
      return verdict.accepted ? undefined : `the proof is refused: ${verdict.reason}`;
    } catch {
      return 'the proof could not be checked';
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

  /** Refuses a grant whose proof is missing or invalid. Always takes a refusal, but drops an invalid proof. */
  async function proved(consent: ConsentMessage, receivedAt: string): Promise<ConsentMessage> {
    const isGrant = consent.decision === 'granted';
    if (consent.proof === undefined && !(isGrant && (await needsProof(consent)))) return consent;
    const verdict = await checkConsentProof(consent, new Date(receivedAt));
    if (verdict.accepted) return consent;
    if (isGrant) throw new InvalidInputError([{ path: '/proof', rule: `is refused: ${verdict.reason}` }]);
    return withoutProof(consent);
  }

  return {
    checkConsentProof: ({ consent, receivedAt }) => translating(() => checkConsentProof(consent, new Date(receivedAt))),

    recordConsents: (args) => translating(() => record(args)),

    hearConsents: ({ ledgerId, run }) => translating(() => ledger.kept.hear(ledgerId, run)),

    recordLateConsentMessage: ({ consent, receivedAt }) =>
      translating(async () => {
        const parsed = parseMessage(consentDefinition, consent);
        if (isAhead(parsed, parseInstantMs(receivedAt) ?? 0)) {
          throw new InvalidInputError([{ path: '/decidedAt', rule: 'must not be in the future' }]);
        }
        const late = { ...(await proved(parsed, receivedAt)), receivedAt };
        const { ledgerId } = ledger.identity;
        const { verdict, unmatched, fault } = await ledger.kept.keep(ledgerId, late);
        const differing = verdict.kind === 'known' ? verdict.paths : [];
        if (differing.length > 0) throw new InvalidInputError(differing.map(recordedOtherwise));
        if (fault) throw new InvalidInputError([describeFault(fault)]);
        const postedSharesFlagged = late.decision === 'granted' ? 0 : await ledger.flagPostedShares(ledgerId, late);
        return { duplicate: verdict.kind === 'known', postedSharesFlagged, ...(unmatched ? { unmatched } : {}) };
      }),
  };
}

function withoutProof<T extends ConsentMessage>({ proof: _, ...consent }: T): Omit<T, 'proof'> {
  return consent;
}
