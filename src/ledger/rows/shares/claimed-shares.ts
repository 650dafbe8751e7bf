/** What a share's claim depends on beside its own rows: the consents, and whether the report may still be used. */

import type { ShareObjection, StandingConsents } from '../../../consent/consent-record.ts';
import { secondaryUserOf } from '../../../model/stage-end-user.ts';
import { lockHead } from '../../audit/audit-chain.ts';
import type { KnownShare } from '../../claim.ts';
import type { Writing } from '../../database/writing.ts';
import type { ClaimRequest, StandingShareWithdrawal } from '../../records.ts';
import { type GrantsJudged, judgeGrants } from '../../share-standing.ts';
import { readShareFacts } from './report-shares.ts';

interface ClaimedShare extends KnownShare {
  grants: GrantsJudged['grants'];
  standing: StandingConsents;
  withdrawn?: StandingShareWithdrawal;
}

/**
 * Reads and judges it; `undefined` where the claim is of no share. Locks the chain's head first. So a refusal that is
 * being written is waited for. A later one finds the claim, and is then respected or flagged.
 */
export async function readClaimedShare(writing: Writing, request: ClaimRequest): Promise<ClaimedShare | undefined> {
  const { inquiry, consents, consentValidForMs, sharedReference } = request;
  const { applicantIds = consents.map(({ applicantId }) => applicantId) } = request;
  const { productCode, ownerId, shareId } = inquiry;
  if (productCode !== 'SECONDUSE' || shareId === undefined) return undefined;
  await lockHead(writing);
  const { session, dialect, cipher } = writing;
  const { owners, stored, reportIsGone, withdrawn, nowMs } = await readShareFacts(session, dialect, cipher, {
    ownerId,
    shareId,
    ...(sharedReference === undefined ? {} : { reportReferenceNumber: sharedReference }),
  });
  const terms = { shareId, owners, ...secondaryUserOf(inquiry) };
  const judged = judgeGrants(stored, terms, { grants: consents, applicantIds, nowMs, validForMs: consentValidForMs });
  return { reportIsGone, ...(withdrawn ? { isWithdrawn: true, withdrawn } : {}), ...judged };
}

/** The answer to a run whose share was not claimed. */
export function objectionOf(share: ClaimedShare | undefined): ShareObjection {
  if (!share) throw new Error('an objection to what is no share');
  const { reportIsGone, withdrawn, grants, standing } = share;
  return {
    ...(withdrawn ? { withdrawn: told(withdrawn) } : {}),
    ...(reportIsGone ? { reportGone: true } : {}),
    grants: grants.flatMap(({ applicantId, consentId, worth }) =>
      worth === 'stands' ? [] : [{ applicantId, consentId, fault: worth }],
    ),
    standing,
  };
}

/** Who withdrew it, and why, is read in the ledger. */
function told({ replacedBy }: StandingShareWithdrawal): NonNullable<ShareObjection['withdrawn']> {
  return replacedBy === undefined ? {} : { replacedBy };
}
