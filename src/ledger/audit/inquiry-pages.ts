/** Reads audited attempts in pages by time, so that a million rows are never in memory at once. */

import { omitUndefined, pick } from '../../base/defined.ts';
import type { ApplicantOutcome } from '../../model/report-outcome.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { effectiveState } from '../claim.ts';
import { type Page, readKeyset, toPeriodMs } from '../database/pages.ts';
import { listPlaceholders, type SqlDialect, type SqlValue, type Transaction } from '../database/sql-session.ts';
import { listColumns, type Row, TABLES } from '../database/tables.ts';
import {
  type AttemptRow,
  DESCRIPTION,
  type DecisionRow,
  type InquiryRow,
  openOutcome,
  selectAttempts,
} from '../inquiries/inquiries.ts';
import { withoutForeignRuns } from '../owners.ts';
import type { ReportOrigin } from '../records.ts';
import { computeReferenceDigest } from '../reports/report-references.ts';
import { readHoldsByOwner } from '../retention/legal-holds.ts';
import {
  type AuditDecision,
  type AuditedAttempt,
  type AuditOutcome,
  type InquiriesQuery,
  isPosted,
  judgesAttempts,
} from './audited.ts';

/**
 * Attempts that one statement looks at, whether or not the other conditions want them: it stays short in any ledger.
 */
const PAGE_SIZE = 1_000;

/** By time of the claim. */
const ORDER = ['claimedAt', 'customerTraceNumber', 'attempt'] as const;

/**
 * Reads only: attempts that were claimed in a period, oldest first. Each comes with its purpose, its decisions and
 * consents, and its outcome. Attempts that are claimed meanwhile may be among them. For a past period the whole is one
 * consistent view, except for late answers.
 */
export async function readAttemptsPage(
  tx: Transaction,
  query: InquiriesQuery,
  after?: FoundRow,
  pageSize = PAGE_SIZE,
): Promise<Page<AuditedAttempt, FoundRow>> {
  const { session, dialect, cipher } = tx;
  const { fromMs, beforeMs } = toPeriodMs(query);
  const values: SqlValue[] = [fromMs, beforeMs];
  const place = (value: SqlValue) => `$${values.push(value)}`;
  const write = <Value extends SqlValue>(value: Value | undefined, toSql: (at: string) => string) =>
    value === undefined ? [] : [toSql(place(value))];
  const { reportReferenceNumber: reference } = query;
  const digest = reference === undefined ? undefined : computeReferenceDigest(cipher, reference);
  // An index finds the rows of these conditions.
  const indexed = [
    'a.claimed_at >= $1 AND a.claimed_at < $2',
    ...write(query.runKey, (at) => `i.run_key = ${at}`),
    ...write(query.customerTraceNumber, (at) => `i.customer_trace_number = ${at}`),
    ...write(
      digest,
      (at) => `(a.customer_trace_number, a.attempt) IN
      (SELECT r.customer_trace_number, r.attempt FROM report_references r WHERE r.reference_digest = ${at})`,
    ),
  ];
  const others = [
    ...withoutForeignRuns('i.run_key', query, place),
    ...write(query.productCode, (at) => `i.product_code = ${at}`),
    ...write(query.applicants, (at) => `${APPLICANTS_SQL} = ${at}`),
    ...write(query.outcome, (at) => `${writeOutcomeSql(dialect)} = ${at}`),
    ...write(query.endUser, (at) => `${at} IN (i.end_user_code, i.end_user)`),
  ];
  // Closed attempts come before the first attempt, and were never sent.
  const { items, end } = await readKeyset<FoundRow>(session, {
    from: `(SELECT ${OF_INQUIRY}, a.*, ${writeOutcomeSql(dialect)} AS audit_outcome,
        (SELECT min(b.attempt) FROM attempts b WHERE b.customer_trace_number = a.customer_trace_number) AS first_attempt,
        CASE WHEN ${['1 = 1', ...others].join(' AND ')} THEN 1 ELSE 0 END AS is_wanted
      FROM (${selectAttempts(dialect)}) a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
      WHERE ${indexed.join(' AND ')}) found`,
    values,
    order: ORDER,
    after,
    limit: pageSize,
  });
  const wanted = items.filter(({ isWanted }) => isWanted === 1);
  return { items: await describeAttempts(tx, wanted), end };
}

/** The columns that an attempt lacks. */
const OF_INQUIRY = listColumns('inquiries', (_, name) => !(name in TABLES.attempts.columns))
  .map((column) => `i.${column}`)
  .join(', ');

/** The outcome of an attempt `a`, by `AUDIT_OUTCOMES`. */
function writeOutcomeSql({ now }: SqlDialect): string {
  return `CASE WHEN a.outcome IS NOT NULL THEN a.outcome WHEN a.state = 'answered' THEN a.answer_kind
    WHEN a.state = 'sending' AND a.answer_by <= ${now} THEN 'unknown' ELSE a.state END`;
}

/** How many applicants the list `["1A","2A"]` has; NULL before the first claim. */
const APPLICANTS_SQL = `(length(i.applicant_ids) - length(replace(i.applicant_ids, '","', '""')) + 1)`;

export type FoundRow = InquiryRow & AttemptRow & { auditOutcome: AuditOutcome; firstAttempt: number; isWanted: number };

async function describeAttempts({ session, cipher }: Transaction, rows: FoundRow[]): Promise<AuditedAttempt[]> {
  if (rows.length === 0) return [];
  const numbers = [...new Set(rows.map((row) => row.customerTraceNumber))];
  const amended = rows.flatMap(({ amends }) => amends ?? []);
  const readAbout = <Found>(selected: string, about: readonly string[], then: string) =>
    session.read<Found>(
      `SELECT ${selected} WHERE customer_trace_number IN (${listPlaceholders(about)}) ${then}`,
      about,
    );
  const decisions = Map.groupBy(
    await readAbout<DecisionRow>('* FROM decisions', [...numbers, ...amended], 'ORDER BY recorded_at, decision_id'),
    (row) => row.customerTraceNumber,
  );
  const grants = Map.groupBy(
    await readAbout<Row<'attempt_consents'>>('* FROM attempt_consents', numbers, 'ORDER BY applicant_id, consent_id'),
    toAttemptKey,
  );
  const holdsOn = await readHoldsByOwner(session, rows);
  return rows.map((row) => ({
    ...pick(row, ATTEMPT),
    ...readAnswer(cipher, row, IN_TIME),
    outcome: row.auditOutcome,
    ...judgeAttempt(row, decisions),
    ...omitUndefined({
      applicants: row.applicantIds?.length,
      late: row.lateAt === undefined ? undefined : { at: row.lateAt, ...readAnswer(cipher, row, LATE) },
    }),
    consents: (grants.get(toAttemptKey(row)) ?? []).map((grant) => pick(grant, ['applicantId', 'consentId'])),
    legalHolds: holdsOn(row.runKey),
  }));
}

const ATTEMPT = [
  ...DESCRIPTION,
  'attempt',
  'sentTraceNumber',
  'httpStatus',
  'failureType',
  'claimedAt',
  'requestedAt',
  'abandonedAt',
  'disposedAt',
] as const;

function toAttemptKey({ customerTraceNumber, attempt }: ReportOrigin): string {
  return `${customerTraceNumber} ${attempt}`;
}

/** Assigns decisions to the attempt, and judges whether it was posted. */
function judgeAttempt(
  row: FoundRow,
  decisions: ReadonlyMap<string, DecisionRow[]>,
): Pick<AuditedAttempt, 'posted' | 'permittedBy' | 'decision'> {
  const own = decisions.get(row.customerTraceNumber) ?? [];
  const judging = own.filter(({ attempt, failureType }) => attempt === row.attempt && judgesAttempts(failureType));
  const said = judging.findLast(({ providerSaid }) => providerSaid === 'posted' || providerSaid === 'notPosted');
  const state = effectiveState(row);
  const isAcceptedAsNotPosted =
    row.productCode === 'SECONDUSE' && state === 'accepted' && row.auditOutcome !== 'record' && !row.answeredLate;
  return {
    posted: isPosted({
      state,
      isAnswered: row.answerKind !== undefined || row.answeredLate === true,
      isAcceptedAsNotPosted,
      ...omitUndefined({ providerSaid: said?.providerSaid }),
    }),
    ...omitUndefined({
      permittedBy: toDecision(findPermit(row, own, decisions)),
      decision: toDecision(judging.at(-1)),
    }),
  };
}

/**
 * The resend that this attempt has spent. For an inquiry's first attempt, the amendment or the repeat that asked for
 * it.
 */
function findPermit(
  row: FoundRow,
  own: readonly DecisionRow[],
  decisions: ReadonlyMap<string, DecisionRow[]>,
): DecisionRow | undefined {
  const resend = own.find((decision) => decision.decisionId === row.permittedBy);
  if (resend || row.attempt > row.firstAttempt) return resend;
  if (row.amends === undefined) return own.find(({ action }) => action === 'repeat');
  return decisions.get(row.amends)?.findLast(({ action }) => action === 'amend');
}

function toDecision(row: DecisionRow | undefined): AuditDecision | undefined {
  return row && pick(row, ['decisionId', 'action', 'by', 'reason', 'providerSaid', 'decidedAt', 'provenBy']);
}

/** The names of the members of an answer that came late. */
const LATE = ['lateOutcome', 'lateReturnCode', 'lateReturnReasonCode', 'lateApplicantOutcomes', 'lateAnswer'] as const;
const IN_TIME = ['outcome', 'returnCode', 'returnReasonCode', 'applicantOutcomes', 'answer'] as const;

/**
 * The answer of an attempt, or one that came late. The number of one without a record is sealed: of a record it is half
 * of a share.
 */
function readAnswer(cipher: LedgerCipher, row: FoundRow, names: typeof IN_TIME | typeof LATE) {
  const [outcome, returnCode, returnReasonCode, named] = [row[names[0]], row[names[1]], row[names[2]], row[names[3]]];
  const isWithoutRecord = outcome !== undefined && outcome !== 'record' && (names === LATE || row.state === 'answered');
  const opened = isWithoutRecord ? openOutcome(cipher, row, names[4]) : undefined;
  return {
    ...omitUndefined({ outcome, returnCode, returnReasonCode, noRecordReference: opened?.noRecordReference }),
    ...listOutcomes(row, outcome, named ?? []),
  };
}

/** An applicant whom the answer does not name has no record, or has what the one answer says. */
function listOutcomes(
  row: FoundRow,
  outcome: FoundRow['outcome'],
  named: readonly ApplicantOutcome[],
): Pick<AuditedAttempt, 'applicantOutcomes'> {
  if (row.productCode === 'SECONDUSE' || outcome === undefined) return {};
  const { applicantIds = named.map(({ applicantId }) => applicantId) } = row;
  const others = outcome === 'record' ? 'noRecord' : outcome;
  const outcomes = applicantIds.map(
    (id) => named.find(({ applicantId }) => applicantId === id) ?? { applicantId: id, outcome: others },
  );
  return outcomes.length === 0 ? {} : { applicantOutcomes: outcomes };
}
