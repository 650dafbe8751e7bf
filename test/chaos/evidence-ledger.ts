/** The evidence of the ledger: rows by read-only SQL, and sealed content through the port. */

import { runInParallel } from '../../src/base/in-parallel.ts';
import type { SqlRow, SqlSession } from '../../src/ledger/database/sql-session.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openEngine } from '../../src/ledger/open-ledger.ts';
import type { InquiryView } from '../../src/ledger/records.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import type { ProductCode } from '../../src/model/products.ts';
import { readSealedReport } from '../ledger/fixtures.ts';
import { NEXT_FENCE } from '../support/next-version.ts';
import { openInquiries } from '../support/open-inquiries.ts';
import type { LedgerAttempt, LedgerConsent, LedgerDecision, LedgerEvidence, LedgerInquiry } from './evidence.ts';

/** Reads at once: enough to hide the way to the database, and fewer than the pool has connections. */
const READS_AT_ONCE = 8;

type Tables = Awaited<ReturnType<typeof readTables>>;

export async function readLedger({
  ledger,
  ledgerUrl,
}: {
  ledger: Ledger;
  ledgerUrl: string;
}): Promise<LedgerEvidence> {
  const tables = await readTables(ledgerUrl);
  const callers = [...new Set(tables.inquiries.map((row) => String(row.run_key)))];
  const views = (await runInParallel(callers, READS_AT_ONCE, (id) => ledger.inquiriesOf(id))).flat();
  const open = (await openInquiries(ledger)).map(({ customerTraceNumber, undecided, attention }) => ({
    customerTraceNumber,
    ...(undecided ? { undecided } : {}),
    attention,
  }));
  return {
    ledgerId: ledger.identity.ledgerId,
    inquiries: tables.inquiries.map(inquiryOf),
    attempts: attemptsOf(tables, views),
    closed: tables.closed.map((row) => ({
      customerTraceNumber: String(row.customer_trace_number),
      attempt: Number(row.attempt),
    })),
    ...claimsSinceMigration(tables.attempts),
    decisions: tables.decisions.map(decisionOf),
    consents: tables.consents.map(consentOf),
    orders: tables.orders.length,
    withdrawnShares: tables.orders
      .filter(({ kind }) => kind === 'withdrawShare')
      .map((row) => ({
        ...{ runKey: String(row.run_key), shareId: String(row.share_id) },
        recordedAtMs: Number(row.recorded_at),
      })),
    open,
    views,
    reports: await readReports(ledger, tables),
    chain: await ledger.verifyChain(),
  };
}

async function readTables(url: string) {
  const engine = await openEngine(url);
  try {
    // One transaction: no row refers to what another statement has not seen.
    return await engine.read(async (session: SqlSession) => {
      const [clock] = await session.rows<{ now: number }>(`SELECT ${session.dialect.now} AS now`);
      return {
        nowMs: Number(clock?.now),
        inquiries: await session.rows('SELECT * FROM inquiries ORDER BY created_at'),
        attempts: await session.rows('SELECT * FROM attempts ORDER BY customer_trace_number, attempt'),
        closed: await session.rows('SELECT customer_trace_number, attempt FROM closed_attempts'),
        decisions: await session.rows('SELECT * FROM decisions ORDER BY recorded_at'),
        consents: await session.rows('SELECT * FROM consents ORDER BY recorded_at'),
        orders: await session.rows('SELECT kind, run_key, share_id, recorded_at FROM orders'),
        attemptConsents: await session.rows('SELECT * FROM attempt_consents'),
        reports: await session.rows(
          "SELECT customer_trace_number, attempt, late FROM sealed_bodies WHERE kind = 'report'",
        ),
      };
    });
  } finally {
    await engine.close();
  }
}

function inquiryOf(row: SqlRow): LedgerInquiry {
  return clean({
    customerTraceNumber: row.customer_trace_number,
    runKey: row.run_key,
    workflowType: row.workflow_type,
    productCode: row.product_code,
    shareId: row.share_id,
    ordinal: Number(row.ordinal),
    amends: row.amends,
    digest: row.digest,
    endUserCode: row.end_user_code,
    endUser: row.end_user,
    abandonedAtMs: instantOf(row.abandoned_at),
  });
}

function attemptsOf(tables: Tables, views: readonly InquiryView[]): LedgerAttempt[] {
  const key = (row: { customer_trace_number?: unknown; attempt?: unknown }) =>
    `${row.customer_trace_number} ${row.attempt}`;
  const consents = Map.groupBy(tables.attemptConsents, key);
  const reports = new Set(tables.reports.filter(({ late }) => Number(late) === 0).map(key));
  const answers = new Map<string, Answer>();
  for (const { customerTraceNumber, attempts } of views) {
    for (const { attempt, answer } of attempts) if (answer) answers.set(`${customerTraceNumber} ${attempt}`, answer);
  }
  return tables.attempts.map((row) => {
    const answer = answers.get(key(row));
    const reference = answer?.kind === 'outcome' ? answer.reference : undefined;
    const isOverdue = row.state === 'sending' && Number(row.answer_by) <= tables.nowMs;
    const isAccepted = row.state === 'accepted';
    return clean({
      customerTraceNumber: row.customer_trace_number,
      attempt: Number(row.attempt),
      written: row.state,
      state: isOverdue ? 'unknown' : row.state,
      claimedAtMs: instantOf(row.claimed_at),
      answerByMs: instantOf(row.answer_by),
      runId: row.run_id,
      permittedBy: row.permitted_by,
      requestedAtMs: instantOf(row.requested_at),
      recordedAtMs: instantOf(row.recorded_at),
      httpStatus: row.http_status === null ? null : Number(row.http_status),
      failureType: row.failure_type,
      answerKind: row.answer_kind,
      outcome: row.outcome,
      reportReferenceNumber: isAccepted ? null : reference?.reportReferenceNumber,
      consumers: isAccepted ? null : reference?.applicants,
      acceptedReference: isAccepted ? reference?.reportReferenceNumber : null,
      late: row.late_at === null ? null : { atMs: instantOf(row.late_at), state: row.late_state },
      consents: (consents.get(key(row)) ?? []).map((consent) => ({
        shareId: String(consent.share_id),
        applicantId: String(consent.applicant_id),
        consentId: String(consent.consent_id),
      })),
      hasReport: reports.has(key(row)),
    });
  });
}

function claimsSinceMigration(attempts: readonly SqlRow[]): Pick<LedgerEvidence, 'claimsSinceMigration'> {
  if (!attempts.some((row) => NEXT_FENCE in row)) return {};
  const later = attempts.filter((row) => row[NEXT_FENCE] === null || Number(row[NEXT_FENCE]) === 1);
  return {
    claimsSinceMigration: later.map((row) => ({
      customerTraceNumber: String(row.customer_trace_number),
      attempt: Number(row.attempt),
      keepsFence: row[NEXT_FENCE] !== null,
    })),
  };
}

function decisionOf(row: SqlRow): LedgerDecision {
  return clean({
    customerTraceNumber: row.customer_trace_number,
    decisionId: row.decision_id,
    attempt: Number(row.attempt),
    action: row.action,
    failureType: row.failure_type,
    providerSaid: row.provider_said,
    permitsAttempt: row.permits_attempt === null ? null : Number(row.permits_attempt),
    recordedAtMs: instantOf(row.recorded_at),
  });
}

function consentOf(row: SqlRow): LedgerConsent {
  return clean({
    journeyId: row.journey_id,
    shareId: row.share_id,
    applicantId: row.applicant_id,
    consentId: row.consent_id,
    decision: row.decision,
    decidedAt: row.decided_at,
    receivedAt: row.received_at,
    recordedAtMs: instantOf(row.recorded_at),
    endUserCode: row.end_user_code,
    endUser: row.end_user,
  });
}

/**
 * Opens the newest report of every journey and product that has one, and keeps only its reference. Skips reports of
 * answers that no person has accepted: the ledger keeps them but returns them to no caller.
 */
async function readReports(ledger: Ledger, tables: Tables): Promise<LedgerEvidence['reports']> {
  const nameOf = (row: SqlRow) => `${row.customer_trace_number} ${row.attempt}`;
  const isJudged = ({ state, answer_kind }: SqlRow) =>
    state === 'accepted' || (state === 'answered' && answer_kind === 'outcome');
  const judged = new Set(tables.attempts.filter(isJudged).map(nameOf));
  const withReport = new Set(
    tables.reports
      .filter((row) => Number(row.late) === 0 && judged.has(nameOf(row)))
      .map((row) => row.customer_trace_number),
  );
  const wanted = new Map<string, { journeyId: string; productCode: ProductCode }>();
  for (const row of tables.inquiries) {
    if (!withReport.has(row.customer_trace_number)) continue;
    const [journeyId, productCode] = [String(row.run_key), row.product_code as ProductCode];
    wanted.set(`${journeyId} ${productCode}`, { journeyId, productCode });
  }
  return runInParallel([...wanted.values()], READS_AT_ONCE, async ({ journeyId, productCode }) => {
    try {
      const report = await readSealedReport(ledger, journeyId, productCode);
      if (!report) return { journeyId, productCode, problem: 'readReport finds none' };
      const { customerTraceNumber, attempt, body } = report;
      const reportReferenceNumber = readReference(body);
      const found = { journeyId, productCode, customerTraceNumber, attempt };
      return reportReferenceNumber === undefined ? found : { ...found, reportReferenceNumber };
    } catch (error) {
      return { journeyId, productCode, problem: error instanceof Error ? error.name : 'readReport fails' };
    }
  });
}

function readReference(body: string): string | undefined {
  return /"reportReferenceNumber"\s*:\s*"([A-Za-z0-9]{1,30})"/.exec(body)?.[1];
}

function instantOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** Leaves out the NULL columns of a row. */
function clean<T extends object>(row: Record<string, unknown>): T {
  const there = Object.entries(row).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(there) as T;
}
