/** Rows of `report_shares`: the report of each share, and the consents about sharing that report. */
import { defined } from '../../../base/defined.ts';
import type { LedgerCipher } from '../../../protection/sealed/sealing.ts';
import type { SqlDialect, SqlSession } from '../../database/sql-session.ts';
import type { Writing } from '../../database/writing.ts';
import type { ConsentsQuery, PlannedShare, ShareFacts } from '../../records.ts';
import type { DisposalScope, SeparateShare } from '../../retention.ts';
import { byArrival } from '../../share-standing.ts';
import { type ConsentRow, consentRecord, type PostingRow, wasPosted } from '../consent-rows.ts';
import { DISPOSALS_BEGUN, isReviewDisposed } from '../inquiry-rows.ts';
import { insertRow } from '../inquiry-writes.ts';
import { HOLD_IN_FORCE, readHolds } from '../legal-holds.ts';
import { ofOwner, reviewOfRow } from '../owner-rows.ts';
import { referenceDigest } from '../report-references.ts';
import { readWithdrawnShare } from './withdrawn-shares.ts';

/** Returns whether the row has this now, or had it before. */
export async function insertShare(
  { session, dialect, cipher }: Writing,
  share: Omit<PlannedShare, 'reportEndUserCode'> & { reportEndUserCode?: string },
): Promise<boolean> {
  const { ownerId, shareId, reportReferenceNumber, reportEndUserCode } = share;
  const digest = referenceDigest(cipher, reportReferenceNumber);
  const inserted = await insertRow(
    session,
    'report_shares',
    {
      owner_id: ownerId,
      share_id: shareId,
      reference_digest: digest,
      report_end_user_code: reportEndUserCode,
    },
    { sql: { recorded_at: dialect.now }, onConflict: 'ON CONFLICT DO NOTHING' },
  );
  if (inserted) return true;
  const [row] = await session.rows<{ reference_digest: string }>(
    'SELECT reference_digest FROM report_shares WHERE owner_id = $1 AND share_id = $2',
    [ownerId, shareId],
  );
  return row?.reference_digest === digest;
}

/** As `Retention.sharesOf`. */
export async function readSeparateShares(
  session: SqlSession,
  { ownerId, productCode }: DisposalScope,
): Promise<SeparateShare[]> {
  const ofProduct = productCode === undefined ? '' : ' AND product_code = $2';
  const rows = await session.rows<{ owner_id: string; inquiries: number }>(
    `SELECT DISTINCT owner_id, (SELECT count(*) FROM inquiries i
       WHERE i.owner_id = s.owner_id AND i.disposed_at IS NULL) AS inquiries
     FROM report_shares s WHERE NOT (${ofOwner(ownerId)}) AND reference_digest IN (
       SELECT reference_digest FROM report_references WHERE customer_trace_number IN (
         SELECT customer_trace_number FROM inquiries WHERE ${ofOwner(ownerId)}${ofProduct}))
     ORDER BY owner_id`,
    productCode === undefined ? [ownerId] : [ownerId, productCode],
  );
  return rows.map(({ owner_id, inquiries }) => ({ ownerId: owner_id, inquiries }));
}

/** As `Ledger.shareFacts`; for a claim, after the chain's head was locked. */
export async function readShareFacts(
  session: SqlSession,
  dialect: SqlDialect,
  cipher: LedgerCipher,
  { ownerId, shareId, reportReferenceNumber }: ConsentsQuery,
): Promise<ShareFacts> {
  const digest = reportReferenceNumber === undefined ? '' : referenceDigest(cipher, reportReferenceNumber);
  const reports = await readReports(session, dialect, digest);
  const [{ now: nowMs } = { now: Date.now() }] = reports;
  const found = reports.flatMap(({ owner_id }) => (owner_id === null ? [] : [owner_id]));
  const owners = [...new Set([ownerId, ...found])];
  const rows = await readSaid(session, { shareId, owners, digest });
  const usedBy = await readUses(session, { ownerId, shareId, owners });
  const stored = rows.map((row) => {
    const user = row.decision === 'granted' ? usedBy.get(useKey(row)) : undefined;
    return { consent: consentRecord(row), ...(user === undefined ? {} : { usedBy: user }) };
  });
  let reportIsGone = false;
  for (const report of reports) reportIsGone ||= await isGone(session, report);
  // A share by itself that would be posted under the grants to its journey's share is withdrawn with that one.
  const withdrawn = await readWithdrawnShare(session, { owners, shareId });
  return { owners, stored: stored.sort(byArrival), reportIsGone, ...defined({ withdrawn }), nowMs };
}

interface ReportRow {
  now: number;
  owner_id: string | null;
  disposed_at: number | null;
  holds: number;
  is_disposal_begun: number;
}

/** The inquiries that the report came from; one row without an inquiry where the ledger knows of none. */
function readReports(session: SqlSession, dialect: SqlDialect, digest: string): Promise<ReportRow[]> {
  return session.rows<ReportRow>(
    `SELECT ${dialect.now} AS now, i.owner_id, i.disposed_at, ${DISPOSALS_BEGUN} AS is_disposal_begun,
       (SELECT count(*) FROM legal_holds h WHERE h.owner_id = i.owner_id AND ${HOLD_IN_FORCE}) AS holds
     FROM ledger_identity LEFT JOIN inquiries i ON i.product_code <> 'SECONDUSE' AND i.customer_trace_number IN (
       SELECT r.customer_trace_number FROM report_references r WHERE r.reference_digest = $1)`,
    [digest],
  );
}

async function isGone(session: SqlSession, row: ReportRow): Promise<boolean> {
  const { owner_id, disposed_at, holds, is_disposal_begun } = row;
  if (owner_id === null) return false;
  if (disposed_at !== null || holds > 0 || is_disposal_begun > 0) return true;
  const review = reviewOfRow(owner_id);
  return (
    review !== null &&
    ((await isReviewDisposed(session, { owner_id })) || (await readHolds(session, owner_id)).length > 0)
  );
}

/** All consents to one of the owners, for any share; and those to other shares of the report, by their own names. */
function readSaid(
  session: SqlSession,
  { shareId, owners, digest }: { shareId: string; owners: readonly string[]; digest: string },
): Promise<ConsentRow[]> {
  const places = owners.map((_, index) => `$${index + 3}`).join(', ');
  return session.rows<ConsentRow>(
    `SELECT c.* FROM consents c WHERE c.journey_id IN (${places}) AND (c.share_id = $1 OR EXISTS (
         SELECT 1 FROM consents r WHERE r.journey_id = c.journey_id AND r.share_id = c.share_id
           AND r.applicant_id = c.applicant_id AND r.decision <> 'granted'))
     UNION SELECT c.* FROM report_shares s JOIN consents c ON c.journey_id = s.owner_id AND c.share_id = s.share_id
     WHERE s.reference_digest = $2`,
    [shareId, digest, ...owners],
  );
}

interface UseRow extends PostingRow {
  journey_id: string;
  applicant_id: string;
  consent_id: string;
  owner_id: string;
}

/**
 * The grants under this share's id under which another share was, or may have been, posted, with that share's owner.
 */
async function readUses(
  session: SqlSession,
  { ownerId, shareId, owners }: { ownerId: string; shareId: string; owners: readonly string[] },
): Promise<Map<string, string>> {
  const places = owners.map((_, index) => `$${index + 3}`).join(', ');
  const uses = await session.rows<UseRow>(
    `SELECT l.journey_id, l.applicant_id, l.consent_id, i.owner_id, a.state, a.outcome, a.answer_kind, a.late_state
     FROM attempt_consents l
     JOIN attempts a ON a.customer_trace_number = l.customer_trace_number AND a.attempt = l.attempt
     JOIN inquiries i ON i.customer_trace_number = l.customer_trace_number
     WHERE l.journey_id IN (${places}) AND l.share_id = $2 AND i.owner_id <> $1`,
    [ownerId, shareId, ...owners],
  );
  return new Map(uses.filter(wasPosted).map((use) => [useKey({ ...use, share_id: shareId }), use.owner_id]));
}

function useKey(row: Pick<ConsentRow, 'journey_id' | 'share_id' | 'applicant_id' | 'consent_id'>): string {
  const { journey_id, share_id, applicant_id, consent_id } = row;
  return [journey_id, share_id, applicant_id, consent_id].join('|');
}
