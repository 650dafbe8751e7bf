/** Reads audited shares in pages: the audited attempts of SECONDUSE, each with its report and consents. */

import { omitUndefined } from '../../base/defined.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { type ConsentRow, consentRecord } from '../consents/consents.ts';
import type { Page } from '../database/pages.ts';
import { listPlaceholders, type SqlSession, type Transaction } from '../database/sql-session.ts';
import { referenceDigest } from '../reports/report-references.ts';
import type { AuditedAttempt, AuditedShare, ShareConsent, SharedReportView, SharesQuery } from './audited.ts';
import { type AttemptPlace, readAttemptsPage } from './inquiry-pages.ts';

/**
 * Reads only: shares that were, or may have been, posted in a period, oldest first. Each comes with its report and the
 * grants that permitted it.
 */
export async function readSharesPage(
  tx: Transaction,
  { from, before, profiles, endUsers, ...conditions }: SharesQuery,
  after?: AttemptPlace,
): Promise<Page<AuditedShare, AttemptPlace>> {
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
  const digest = report === undefined ? undefined : referenceDigest(cipher, report);
  return ({ share, referenceDigest: own }) =>
    (endUser === undefined || [share.endUserCode, share.endUser, share.sharedBy].includes(endUser)) &&
    (report === undefined || own === digest || share.report?.customerTraceNumber === report) &&
    (runKey === undefined || share.runKey === runKey || share.report?.runKey === runKey);
}

interface ReportRow {
  customer_trace_number: string;
  reference_digest: string;
  report_end_user_code: string | null;
  report_trace_number: string | null;
  report_run_key: string | null;
  report_product_code: AuditedAttempt['productCode'] | null;
  report_end_user: string | null;
}

type GrantRow = ConsentRow & { customer_trace_number: string; attempt: number };

async function withReports(session: SqlSession, attempts: readonly AuditedAttempt[]): Promise<Found[]> {
  const traceNumbers = [...new Set(attempts.map(({ customerTraceNumber }) => customerTraceNumber))];
  const places = listPlaceholders(traceNumbers);
  const reports = await session.rows<ReportRow>(
    `SELECT i.customer_trace_number, s.reference_digest, s.report_end_user_code,
       o.customer_trace_number AS report_trace_number, o.run_key AS report_run_key,
       o.product_code AS report_product_code, o.end_user_code AS report_end_user
     FROM inquiries i JOIN report_shares s ON s.run_key = i.run_key AND s.share_id = i.share_id
     LEFT JOIN (report_references r JOIN inquiries o
       ON o.customer_trace_number = r.customer_trace_number AND o.product_code <> 'SECONDUSE')
       ON r.reference_digest = s.reference_digest
     WHERE i.customer_trace_number IN (${places})`,
    traceNumbers,
  );
  const grants = await session.rows<GrantRow>(
    `SELECT c.*, l.customer_trace_number, l.attempt FROM attempt_consents l
     JOIN consents c ON c.journey_id = l.journey_id AND c.share_id = l.share_id
       AND c.applicant_id = l.applicant_id AND c.consent_id = l.consent_id AND c.decision = 'granted'
     WHERE l.customer_trace_number IN (${places}) ORDER BY c.applicant_id, c.consent_id`,
    traceNumbers,
  );
  const reportOf = new Map(reports.map((row) => [row.customer_trace_number, row]));
  return attempts.map((attempt) => {
    const row = reportOf.get(attempt.customerTraceNumber);
    const report = row ? reportView(row) : null;
    const sharedBy = report?.endUserCode ?? row?.report_end_user_code ?? undefined;
    const own = grants.filter(
      (grant) => grant.customer_trace_number === attempt.customerTraceNumber && grant.attempt === attempt.attempt,
    );
    return {
      referenceDigest: row?.reference_digest ?? null,
      share: {
        ...attempt,
        report,
        ...omitUndefined({ sharedBy }),
        consents: own.map(shareConsent),
      },
    };
  });
}

function reportView(row: ReportRow): SharedReportView | null {
  const { report_trace_number, report_run_key, report_product_code, report_end_user } = row;
  if (report_trace_number === null || report_run_key === null || report_product_code === null) return null;
  return {
    customerTraceNumber: report_trace_number,
    runKey: report_run_key,
    productCode: report_product_code,
    ...(report_end_user === null ? {} : { endUserCode: report_end_user }),
  };
}

function shareConsent(row: GrantRow): ShareConsent {
  const { journeyId: runKey, shareId, applicantId, consentId, decidedAt, evidence } = consentRecord(row);
  return { runKey, shareId, applicantId, consentId, decidedAt, ...omitUndefined({ evidence }) };
}
