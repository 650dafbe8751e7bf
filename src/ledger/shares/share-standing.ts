/**
 * The consents about sharing a report, in the ledger: which of them count for one share, and the worth of the grants
 * that a claim brings. The look-up before an attempt and the claim decide by the same rules. Pure.
 */
import { ConsentBook } from '../../consent/consent-book.ts';
import type { ConsentRecord, GrantFault, RefusalElsewhere, StandingConsents } from '../../consent/consent-record.ts';
import { isForUser, type SecondaryUser } from '../../model/stage-end-user.ts';
import type { StoredConsent } from '../records.ts';

/** The share that consents are compared with. */
export interface ShareTerms extends SecondaryUser {
  shareId: string;
  /** The owners whose grants may count: the share's own (model/run-key.ts), and for a share by itself the report's. */
  owners: readonly string[];
  /** Decides whether a grant counts that was not judged when it came. */
  consentTrust: 'proof' | 'namespace';
}

/**
 * Selects the consents that count for one share, by these rules.
 *
 * - A grant counts if it was given under this share's id, to one of its owners and for this very secondary user. No
 *   other share may have been posted under it. Where a grant needs a proof, it must have one.
 * - A refusal under this share's id counts for any secondary user that it names.
 * - A refusal under another id counts if it may mean this secondary user, and is still in force there.
 */
export function standingConsents(stored: readonly StoredConsent[], terms: ShareTerms): StandingConsents {
  const isOwn = ({ consent }: StoredConsent) =>
    consent.shareId === terms.shareId && terms.owners.includes(consent.journeyId);
  const counts = ({ consent, usedBy }: StoredConsent) =>
    consent.decision !== 'granted' ||
    (usedBy === undefined &&
      isForUser(consent.secondaryUser, terms) &&
      (terms.consentTrust !== 'proof' || consent.proof !== undefined));
  return {
    // Without the proof: it was judged when it came, and the ledger keeps it.
    own: stored.filter((one) => isOwn(one) && counts(one)).map(({ consent: { proof: _, ...rest } }) => rest),
    elsewhere: refusalsElsewhere(stored.filter((one) => !isOwn(one) && mayMean(one.consent.secondaryUser, terms))),
  };
}

/** Beyond these figures a run receives only the deciding messages: Temporal takes 2 MB for one result. */
const MOST_MESSAGES = 500;
const MOST_CHARACTERS = 500_000;

/** The part of the messages that a run needs. The claim judges by all of them. */
export function tellableConsents(
  { own, elsewhere }: StandingConsents,
  { shareId, applicantIds }: { shareId: string; applicantIds: readonly string[] },
): StandingConsents {
  const latest = new Map<string, RefusalElsewhere>();
  for (const refusal of elsewhere.filter(({ applicantId }) => applicantIds.includes(applicantId))) {
    const known = latest.get(refusal.applicantId);
    if (!known || Date.parse(known.decidedAt) <= Date.parse(refusal.decidedAt))
      latest.set(refusal.applicantId, refusal);
  }
  return { own: decidingOnes(own, shareId, applicantIds), elsewhere: [...latest.values()] };
}

function decidingOnes(own: ConsentRecord[], shareId: string, applicantIds: readonly string[]): ConsentRecord[] {
  if (own.length <= MOST_MESSAGES && JSON.stringify(own).length <= MOST_CHARACTERS) return own;
  const book = new ConsentBook();
  book.learn(shareId, { own, elsewhere: [] });
  const deciding = new Set(applicantIds.flatMap((applicantId) => book.deciding(shareId, applicantId)));
  return own.filter((record) => deciding.has(record));
}

/** The grants of a claim, and its time. */
interface BroughtGrants {
  grants: readonly ConsentRecord[];
  /** All applicants whose grant is needed. */
  applicantIds: readonly string[];
  /** By the database's clock. */
  nowMs: number;
  validForMs?: number | undefined;
}

/** The worth of each grant of a claim, and the refusals of the applicants whose grants do not count. */
export interface GrantsJudged {
  grants: { applicantId: string; consentId: string; worth: GrantFault | 'stands' }[];
  standing: StandingConsents;
}

/**
 * The most refusals against one grant that a run receives, the newest first: it needs only one, and results are
 * bounded.
 */
const MOST_TOLD = 20;

/** Judges the grants of a claim, which may be new to the ledger, by everything in the ledger. */
export function judgeGrants(
  stored: readonly StoredConsent[],
  terms: Omit<ShareTerms, 'consentTrust'>,
  { grants, applicantIds, nowMs, validForMs }: BroughtGrants,
): GrantsJudged {
  const known = new Map(stored.map((one) => [keyOf(one.consent), one]));
  const all = [...stored, ...grants.filter((grant) => !known.has(keyOf(grant))).map((consent) => ({ consent }))];
  // The run that brings a grant has judged whether it needed a proof.
  const { own, elsewhere } = standingConsents(all.sort(byArrival), { ...terms, consentTrust: 'namespace' });
  const book = new ConsentBook();
  book.learn(terms.shareId, { own, elsewhere });
  const counted = new Set(own.map(keyOf));
  const worthOf = (grant: ConsentRecord): GrantFault | 'stands' => {
    // The request does not name this applicant.
    if (!applicantIds.includes(grant.applicantId)) return 'missing';
    if (known.get(keyOf(grant))?.usedBy !== undefined) return 'spent';
    return counted.has(keyOf(grant)) ? book.worthOf(grant, { nowMs, validForMs }) : 'missing';
  };
  const judged = grants.map((grant) => ({
    applicantId: grant.applicantId,
    consentId: grant.consentId,
    worth: worthOf(grant),
  }));
  const without = applicantIds.filter((id) => !grants.some(({ applicantId }) => applicantId === id));
  const refused = new Set(judged.flatMap(({ applicantId, worth }) => (worth === 'refused' ? [applicantId] : [])));
  const isRefused = ({ applicantId }: { applicantId: string }) => refused.has(applicantId);
  const against = grants.flatMap((grant) => (isRefused(grant) ? book.refusalsOf(grant).slice(-MOST_TOLD) : []));
  return {
    grants: [...judged, ...without.map((applicantId) => ({ applicantId, consentId: '', worth: 'missing' as const }))],
    standing: { own: against, elsewhere: elsewhere.filter(isRefused) },
  };
}

/**
 * Sorts by the order in which the runs received them. Of two at the same time the grant comes first, so that the
 * refusal prevails.
 */
export function byArrival(a: StoredConsent, b: StoredConsent): number {
  const at = ({ consent }: StoredConsent) => Date.parse(consent.receivedAt);
  const rank = ({ consent }: StoredConsent) => (consent.decision === 'granted' ? 0 : 1);
  return at(a) - at(b) || rank(a) - rank(b);
}

function keyOf({ journeyId, shareId, applicantId, consentId, decision }: ConsentRecord): string {
  return JSON.stringify([journeyId, shareId, applicantId, consentId, decision]);
}

/** Returns whether no field that both name differs. */
function mayMean(named: SecondaryUser, user: SecondaryUser): boolean {
  const agrees = (a: string | undefined, b: string | undefined) => a === undefined || b === undefined || a === b;
  return agrees(named.endUserCode, user.endUserCode) && agrees(named.endUser, user.endUser);
}

function refusalsElsewhere(stored: readonly StoredConsent[]): RefusalElsewhere[] {
  const consents = stored.map(({ consent }) => consent);
  const byShare = Map.groupBy(consents, ({ journeyId, shareId }) => `${journeyId} ${shareId}`);
  return [...byShare.values()].flatMap((said) => {
    if (said.every(({ decision }) => decision === 'granted')) return [];
    const book = new ConsentBook();
    for (const consent of said) book.add(consent);
    const [{ shareId } = { shareId: '' }] = said;
    return [...new Set(said.map(({ applicantId }) => applicantId))].flatMap((applicantId) => {
      const { kind } = book.standing(shareId, applicantId, { nowMs: 0 });
      if (kind !== 'denied' && kind !== 'revoked') return [];
      const refusals = said.filter((one) => one.applicantId === applicantId && one.decision !== 'granted');
      const last = refusals.reduce((a, b) => (Date.parse(a.decidedAt) > Date.parse(b.decidedAt) ? a : b));
      return [{ applicantId, decision: kind, decidedAt: last.decidedAt }];
    });
  });
}
