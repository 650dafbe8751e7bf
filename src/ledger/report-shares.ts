/** Rows of `report_shares`, which report a share is of, and what was said about sharing that report. */
import type { LedgerCipher } from '../protection/sealing.ts';
import { type ConsentRow, consentRecord, type PostingRow, wasPosted } from './consent-rows.ts';
import { insertRow, type Writing } from './inquiry-writes.ts';
import { ofOwner } from './owner-rows.ts';
import type { ConsentsQuery, ShareRecord, StoredConsent } from './port.ts';
import { referenceDigest } from './report-references.ts';
import type { DisposalScope, SeparateShare } from './retention.ts';
import type { SqlSession } from './sql-session.ts';

/** Whether the row now says this, or said so before. */
export async function insertShare(
  { session, dialect, cipher }: Writing,
  share: Omit<ShareRecord, 'reportEndUserCode'> & { reportEndUserCode?: string },
): Promise<boolean> {
  const { callerId, shareId, reportReferenceNumber, reportEndUserCode } = share;
  const digest = referenceDigest(cipher, reportReferenceNumber);
  const inserted = await insertRow(
    session,
    'report_shares',
    {
      caller_id: callerId,
      share_id: shareId,
      reference_digest: digest,
      report_end_user_code: reportEndUserCode,
    },
    { sql: { recorded_at: dialect.now }, onConflict: 'ON CONFLICT DO NOTHING' },
  );
  if (inserted) return true;
  const [row] = await session.rows<{ reference_digest: string }>(
    'SELECT reference_digest FROM report_shares WHERE caller_id = $1 AND share_id = $2',
    [callerId, shareId],
  );
  return row?.reference_digest === digest;
}

/** As `Retention.sharesOf`. */
export async function readSeparateShares(
  session: SqlSession,
  { callerId, productCode }: DisposalScope,
): Promise<SeparateShare[]> {
  const ofProduct = productCode === undefined ? '' : ' AND product_code = $2';
  const rows = await session.rows<{ caller_id: string; inquiries: number }>(
    `SELECT DISTINCT caller_id, (SELECT count(*) FROM inquiries i
       WHERE i.caller_id = s.caller_id AND i.disposed_at IS NULL) AS inquiries
     FROM report_shares s WHERE NOT (${ofOwner(callerId)}) AND reference_digest IN (
       SELECT reference_digest FROM report_references WHERE customer_trace_number IN (
         SELECT customer_trace_number FROM inquiries WHERE ${ofOwner(callerId)}${ofProduct}))
     ORDER BY caller_id`,
    productCode === undefined ? [callerId] : [callerId, productCode],
  );
  return rows.map(({ caller_id, inquiries }) => ({ ownerId: caller_id, inquiries }));
}

interface UseRow extends PostingRow {
  applicant_id: string;
  consent_id: string;
  journey_id: string;
  caller_id: string;
}

/** As `Ledger.consentsToShare`. */
export async function readConsentsToShare(
  session: SqlSession,
  cipher: LedgerCipher,
  { callerId, shareId, reportReferenceNumber, reportOwnerId = '' }: ConsentsQuery,
): Promise<StoredConsent[]> {
  const rows = await session.rows<ConsentRow>(
    `SELECT * FROM consents WHERE journey_id = $1 AND share_id = $2
     UNION SELECT * FROM consents WHERE journey_id = $3
     UNION SELECT c.* FROM report_shares s JOIN consents c ON c.journey_id = s.caller_id AND c.share_id = s.share_id
     WHERE s.reference_digest = $4`,
    [callerId, shareId, reportOwnerId, referenceDigest(cipher, reportReferenceNumber)],
  );
  const uses = await session.rows<UseRow>(
    `SELECT l.journey_id, l.applicant_id, l.consent_id, i.caller_id, a.state, a.outcome, a.answer_kind, a.late_state
     FROM attempt_consents l
     JOIN attempts a ON a.customer_trace_number = l.customer_trace_number AND a.attempt = l.attempt
     JOIN inquiries i ON i.customer_trace_number = l.customer_trace_number
     WHERE l.journey_id IN ($1, $3) AND l.share_id = $2 AND i.caller_id <> $1`,
    [callerId, shareId, reportOwnerId],
  );
  const usedBy = new Map(uses.filter(wasPosted).map((use) => [useKey({ ...use, share_id: shareId }), use.caller_id]));
  return rows.sort(byArrival).map((row) => {
    const user = row.decision === 'granted' ? usedBy.get(useKey(row)) : undefined;
    return { consent: consentRecord(row), ...(user === undefined ? {} : { usedBy: user }) };
  });
}

function useKey({
  journey_id,
  share_id,
  applicant_id,
  consent_id,
}: Pick<ConsentRow, 'share_id'> & Omit<UseRow, keyof PostingRow | 'caller_id'>): string {
  return [journey_id, share_id, applicant_id, consent_id].join('|');
}

/** As the runs received them; of two at once the grant first, so that the refusal stands. */
function byArrival(a: ConsentRow, b: ConsentRow): number {
  const at = (row: ConsentRow) => Date.parse(row.received_at);
  const rank = (row: ConsentRow) => (row.decision === 'granted' ? 0 : 1);
  return at(a) - at(b) || a.recorded_at - b.recorded_at || rank(a) - rank(b);
}
