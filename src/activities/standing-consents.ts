/** What was said about sharing a report, as the ledger has it, and what of it counts for one share. Pure. */
import type { StoredConsent } from '../ledger/port.ts';
import { ConsentBook, isForUser } from '../model/consent-book.ts';
import { ownerIdOf } from '../model/owner-id.ts';
import type { SecondaryUser } from '../model/shapes.ts';
import type { LookUpConsentsArgs, StandingConsents } from './contract.ts';

/**
 * - A grant counts that was given under this share's id, to the share itself or to the report's own journey, for this
 *   very secondary user, and that no other share was posted under. Where a grant needs a proof, it has one.
 * - A refusal under this share's id counts whomever it names.
 * - A refusal under another id counts where it may mean this secondary user, and still stands there.
 */
export function standingConsents(
  stored: readonly StoredConsent[],
  { share, report, consentTrust }: Pick<LookUpConsentsArgs, 'share' | 'report' | 'consentTrust'>,
): StandingConsents {
  const owners = [ownerIdOf('share', share.shareId), ...(report.kind === 'ledger' ? [report.ownerId] : [])];
  const isOwn = ({ consent }: StoredConsent) => consent.shareId === share.shareId && owners.includes(consent.journeyId);
  const counts = ({ consent, usedBy }: StoredConsent) =>
    consent.decision !== 'granted' ||
    (usedBy === undefined &&
      isForUser(consent.secondaryUser, share) &&
      (consentTrust !== 'proof' || consent.proof !== undefined));
  return {
    // What it proves was judged when it came; the ledger keeps it.
    own: stored.filter((one) => isOwn(one) && counts(one)).map(({ consent: { proof: _, ...rest } }) => rest),
    elsewhere: refusalsElsewhere(stored.filter((one) => !isOwn(one) && mayMean(one.consent.secondaryUser, share))),
  };
}

/** Nothing that both name differs. */
function mayMean(named: SecondaryUser, user: SecondaryUser): boolean {
  const agrees = (a: string | undefined, b: string | undefined) => a === undefined || b === undefined || a === b;
  return agrees(named.endUserCode, user.endUserCode) && agrees(named.endUser, user.endUser);
}

function refusalsElsewhere(stored: readonly StoredConsent[]): StandingConsents['elsewhere'] {
  const consents = stored.map(({ consent }) => consent);
  const byShare = Map.groupBy(consents, ({ journeyId, shareId }) => `${journeyId} ${shareId}`);
  return [...byShare.values()].flatMap((said) => {
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
