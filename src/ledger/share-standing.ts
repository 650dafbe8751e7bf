/**
 * What was said about sharing a report, as the ledger has it: what of it counts for one share, and what the grants that
 * a claim brings are worth. The look-up before an attempt and the claim decide by the same rules. Pure.
 */

import { ConsentBook } from '../consent/consent-book.ts';
import type { ConsentRecord, GrantFault, RefusalElsewhere, StandingConsents } from '../consent/consent-record.ts';
import type { SecondaryUser } from '../model/secondary-user.ts';
import { isForUser } from '../model/secondary-user.ts';
import type { StoredConsent } from './records.ts';

/** The share that consents are held against. */
export interface ShareTerms extends SecondaryUser {
  shareId: string;
  /** Whose grants may count: the share's own owner (model/owner-id.ts), and for a share by itself the report's. */
  owners: readonly string[];
  /** What makes a grant count where it was not judged when it came. */
  consentTrust: 'proof' | 'namespace';
}

/**
 * - A grant counts that was given under this share's id, to one of its owners, for this very secondary user, and that no
 *   other share was posted under. Where a grant needs a proof, it has one.
 * - A refusal under this share's id counts whomever it names.
 * - A refusal under another id counts where it may mean this secondary user, and still stands there.
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
    // What it proves was judged when it came; the ledger keeps it.
    own: stored.filter((one) => isOwn(one) && counts(one)).map(({ consent: { proof: _, ...rest } }) => rest),
    elsewhere: refusalsElsewhere(stored.filter((one) => !isOwn(one) && mayMean(one.consent.secondaryUser, terms))),
  };
}

/** What a claim brings, and when. */
export interface BroughtGrants {
  grants: readonly ConsentRecord[];
  /** Everybody whose grant is needed. */
  applicantIds: readonly string[];
  /** By the database's clock. */
  nowMs: number;
  validForMs?: number | undefined;
}

/** What the grants of a claim are worth, one by one, and what was refused of the applicants whose grants do not stand. */
export interface GrantsJudged {
  grants: { applicantId: string; consentId: string; worth: GrantFault | 'stands' }[];
  standing: StandingConsents;
}

/** Refusals against one grant that a run is told of, the newest: it needs one to go by, and its results are bounded. */
const MOST_TOLD = 20;

/** Judges the grants that a claim brings, which the ledger may not have yet, by everything that it has. */
export function judgeGrants(
  stored: readonly StoredConsent[],
  terms: Omit<ShareTerms, 'consentTrust'>,
  { grants, applicantIds, nowMs, validForMs }: BroughtGrants,
): GrantsJudged {
  const known = new Map(stored.map((one) => [keyOf(one.consent), one]));
  const all = [...stored, ...grants.filter((grant) => !known.has(keyOf(grant))).map((consent) => ({ consent }))];
  // Whether a grant needed a proof was judged by the run that brings it.
  const { own, elsewhere } = standingConsents(all.sort(byArrival), { ...terms, consentTrust: 'namespace' });
  const book = new ConsentBook();
  book.learn(terms.shareId, { own, elsewhere });
  const counted = new Set(own.map(keyOf));
  const worthOf = (grant: ConsentRecord): GrantFault | 'stands' => {
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

/** As the runs received them; of two at once the grant first, so that the refusal stands. */
export function byArrival(a: StoredConsent, b: StoredConsent): number {
  const at = ({ consent }: StoredConsent) => Date.parse(consent.receivedAt);
  const rank = ({ consent }: StoredConsent) => (consent.decision === 'granted' ? 0 : 1);
  return at(a) - at(b) || rank(a) - rank(b);
}

function keyOf({ journeyId, shareId, applicantId, consentId, decision }: ConsentRecord): string {
  return JSON.stringify([journeyId, shareId, applicantId, consentId, decision]);
}

/** Nothing that both name differs. */
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
