/** Flags shares for a person that were posted although a refusal stands against their grants. */

import type { ConsentRecord } from '../../../consent/consent-record.ts';
import { endsGrant, refusalsAgainst, revokesAllOf } from '../../../consent/refusals.ts';
import type { Writing } from '../../database/writing.ts';
import { type ConsentRow, consentRecord, type PostingRow, saidAbout, wasPosted } from '../consent-rows.ts';
import { lockInquiry } from '../inquiry-writes.ts';
import { drawAttention } from '../work-for-people.ts';

/** A grant that permitted an attempt, with the inquiry's secondary user and the attempt's state. */
interface PermitRow extends ConsentRow, PostingRow {
  customer_trace_number: string;
  overdue: number;
  inquiry_user_code: string | null;
  inquiry_user: string | null;
}

/** Marks the shares that this refusal concerns and that were, or may have been, posted; returns how many. */
export async function flagShares(writing: Writing, refusal: ConsentRecord): Promise<number> {
  // A grant withdraws nothing.
  if (refusal.decision === 'granted') return 0;
  const { session, dialect } = writing;
  const said = [refusal.journeyId, refusal.shareId, refusal.applicantId];
  const links = await session.rows<{ customer_trace_number: string }>(
    `SELECT DISTINCT customer_trace_number FROM attempt_consents
     WHERE journey_id = $1 AND share_id = $2 AND applicant_id = $3 ORDER BY customer_trace_number`,
    said,
  );
  // Waits for an outcome that is being written: either that transaction reads this refusal, or this one reads the
  // outcome.
  for (const { customer_trace_number } of links) await lockInquiry(writing, customer_trace_number);
  const permits = await session.rows<PermitRow>(
    `SELECT c.*, a.customer_trace_number, a.state, a.outcome, a.answer_kind, a.late_state,
       CASE WHEN a.answer_by <= ${dialect.now} THEN 1 ELSE 0 END AS overdue,
       i.end_user_code AS inquiry_user_code, i.end_user AS inquiry_user ${PERMITS}
     WHERE l.journey_id = $1 AND l.share_id = $2 AND l.applicant_id = $3 AND i.product_code = 'SECONDUSE'`,
    said,
  );
  const posted = permits.filter((permit) => isOnFile(permit) && isFor(permit, refusal));
  // Most refusals are about no posting. Everything that was said is read only for those that are.
  if (posted.length === 0) return 0;
  const revokesAll = revokesAllOf(await saidAbout(writing, refusal), refusal);
  const concerned = new Set(
    posted
      .filter((permit) => endsGrant(refusal, consentRecord(permit), { revokesAll }))
      .map((permit) => permit.customer_trace_number),
  );
  for (const customerTraceNumber of concerned) await drawAttention(writing, 'lateConsent', customerTraceNumber);
  return concerned.size;
}

/**
 * Does the same when an attempt turns out to be, or to be possibly, posted: a refusal may have come while it was sent.
 */
export async function flagIfRefused(
  writing: Writing,
  { customerTraceNumber, attempt }: { customerTraceNumber: string; attempt: number },
): Promise<void> {
  const permits = await writing.session.rows<PermitRow>(
    `SELECT c.*, a.state, a.outcome, a.answer_kind, a.late_state, 0 AS overdue,
       i.end_user_code AS inquiry_user_code, i.end_user AS inquiry_user ${PERMITS}
     WHERE l.customer_trace_number = $1 AND l.attempt = $2 AND i.product_code = 'SECONDUSE'`,
    [customerTraceNumber, attempt],
  );
  const posted = permits.filter(isOnFile);
  if (posted.length === 0) return;
  for (const permit of posted) {
    const grant = consentRecord(permit);
    const refusals = refusalsAgainst(grant, await saidAbout(writing, grant));
    if (!refusals.some((refusal) => isFor(permit, refusal))) continue;
    return drawAttention(writing, 'lateConsent', customerTraceNumber);
  }
}

const PERMITS = `FROM attempt_consents l
     JOIN attempts a ON a.customer_trace_number = l.customer_trace_number AND a.attempt = l.attempt
     JOIN inquiries i ON i.customer_trace_number = l.customer_trace_number
     JOIN consents c ON c.journey_id = l.journey_id AND c.share_id = l.share_id AND c.applicant_id = l.applicant_id
       AND c.consent_id = l.consent_id AND c.decision = 'granted'`;

/**
 * Whether the share counts as posted. An attempt in progress does not yet: its outcome, or the end of its time,
 * decides.
 */
function isOnFile(permit: PermitRow): boolean {
  return wasPosted(permit) && (permit.state !== 'sending' || permit.overdue === 1);
}

/** Nothing that both sides name differs: a consent may name the secondary user by code, by name, or by both. */
function isFor(permit: PermitRow, { secondaryUser }: ConsentRecord): boolean {
  const agrees = (ours: string | null, theirs: string | undefined) =>
    ours === null || theirs === undefined || ours === theirs;
  return (
    agrees(permit.inquiry_user_code, secondaryUser.endUserCode) && agrees(permit.inquiry_user, secondaryUser.endUser)
  );
}
