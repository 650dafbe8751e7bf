/** Reads audited shares in pages: the audited attempts of SECONDUSE, each with its report and consents. */

import { omitUndefined, pick } from '../../base/defined.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import type { Page } from '../database/pages.ts';
import { listPlaceholders, type SqlSession, type Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import type { ReportOrigin } from '../records.ts';
import { computeReferenceDigest } from '../reports/report-references.ts';
import type { AuditedAttempt, AuditedShare, SharesQuery } from './audited.ts';
import { type FoundRow, readAttemptsPage } from './inquiry-pages.ts';

/**
 * Reads only: shares that were, or may have been, posted in a period, oldest first. Each comes with its report and the
 * grants that permitted it.
 */
export async function readSharesPage(
  tx: Transaction,
  { from, before, profiles, endUsers, ...conditions }: SharesQuery,
  after?: FoundRow,
): Promise<Page<AuditedShare, FoundRow>> {
  const query = { productCode: 'SECONDUSE' as const, ...omitUndefined({ from, before, profiles, endUsers }) };
  const { items, end } = await readAttemptsPage(tx, query, after);
  const posted = items.filter((attempt) => attempt.posted !== 'no');
  const found = posted.length === 0 ? [] : await withReports(tx.session, posted);
  return { items: found.filter(createFilter(tx.cipher, conditions)).map(({ share }) => share), end };
}

interface Found {
  share: AuditedShare;
  referenceDigest: string | null;
}

function createFilter(
  cipher: LedgerCipher,
  { endUser, report, runKey }: Pick<SharesQuery, 'endUser' | 'report' | 'runKey'>,
): (found: Found) => boolean {
  const digest = report === undefined ? undefined : computeReferenceDigest(cipher, report);
  return ({ share, referenceDigest: own }) =>
    (endUser === undefined || [share.endUserCode, share.endUser, share.sharedBy].includes(endUser)) &&
    (report === undefined || own === digest || share.report?.customerTraceNumber === report) &&
    (runKey === undefined || share.runKey === runKey || share.report?.runKey === runKey);
}

type ReportRow = {
  shareTraceNumber: string;
  referenceDigest: string;
  reportEndUserCode?: string;
  /** Absent, as the other members of its inquiry, where the ledger does not know the report. */
  customerTraceNumber?: string;
} & Pick<Row<'inquiries'>, 'runKey' | 'productCode' | 'endUserCode'>;

type Grant = Row<'consents'> & ReportOrigin & { runKey: string };

async function withReports(session: SqlSession, attempts: readonly AuditedAttempt[]): Promise<Found[]> {
  const traceNumbers = [...new Set(attempts.map(({ customerTraceNumber }) => customerTraceNumber))];
  const places = listPlaceholders(traceNumbers);
  const reports = await session.read<ReportRow>(
    `SELECT i.customer_trace_number AS share_trace_number, s.reference_digest, s.report_end_user_code,
       o.customer_trace_number AS customer_trace_number, o.run_key, o.product_code, o.end_user_code
     FROM inquiries i JOIN report_shares s ON s.run_key = i.run_key AND s.share_id = i.share_id
     LEFT JOIN (report_references r JOIN inquiries o
       ON o.customer_trace_number = r.customer_trace_number AND o.product_code <> 'SECONDUSE')
       ON r.reference_digest = s.reference_digest
     WHERE i.customer_trace_number IN (${places})`,
    traceNumbers,
  );
  const grants = await session.read<Grant>(
    `SELECT c.*, c.journey_id AS run_key, l.customer_trace_number, l.attempt FROM attempt_consents l
     JOIN consents c ON c.journey_id = l.journey_id AND c.share_id = l.share_id
       AND c.applicant_id = l.applicant_id AND c.consent_id = l.consent_id AND c.decision = 'granted'
     WHERE l.customer_trace_number IN (${places}) ORDER BY c.applicant_id, c.consent_id`,
    traceNumbers,
  );
  const reportOf = new Map(reports.map((row) => [row.shareTraceNumber, row]));
  return attempts.map((attempt) => {
    const row = reportOf.get(attempt.customerTraceNumber);
    const own = grants.filter(
      (grant) => grant.customerTraceNumber === attempt.customerTraceNumber && grant.attempt === attempt.attempt,
    );
    const share = {
      ...attempt,
      report: row ? toReport(row) : null,
      ...omitUndefined({ sharedBy: row?.endUserCode ?? row?.reportEndUserCode }),
      consents: own.map((grant) =>
        pick(grant, ['runKey', 'shareId', 'applicantId', 'consentId', 'decidedAt', 'evidence']),
      ),
    };
    return { share, referenceDigest: row?.referenceDigest ?? null };
  });
}

function toReport({ customerTraceNumber, ...row }: ReportRow): AuditedShare['report'] {
  if (customerTraceNumber === undefined) return null;
  return { customerTraceNumber, ...pick(row, ['runKey', 'productCode', 'endUserCode']) };
}
