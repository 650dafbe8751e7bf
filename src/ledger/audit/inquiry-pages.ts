/** Reads audited attempts in pages by time, so that a million rows are never in memory at once. */

import { omitUndefined, pick } from '../../base/defined.ts';
import type { ApplicantOutcome } from '../../model/report-outcome.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { effectiveState } from '../claim.ts';
import { type Page, readKeyset, toPeriodMs } from '../database/pages.ts';
import { encode, toColumnName } from '../database/rows.ts';
import { listPlaceholders, type SqlDialect, type SqlValue, type Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import {
  ANSWERS,
  type AttemptRow,
  DESCRIPTION,
  type DecisionRow,
  type InquiryRow,
  openOutcome,
  selectAttempts,
} from '../inquiries/inquiries.ts';
import { withoutForeignRuns } from '../owners.ts';
import type { ReportOrigin } from '../records.ts';
import { listReferenceNumbers } from '../reports/report-references.ts';
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
 * Attempts that one statement looks at, whether or not the query wants them: the statement stays short in any ledger.
 */
const PAGE_SIZE = 1_000;

/** By time of the claim. */
const ORDER = ['claimedAt', 'customerTraceNumber', 'attempt'] as const;
const ORDER_COLUMNS = ORDER.map(toColumnName);

export type AttemptPlace = Pick<Row<'attempts'>, (typeof ORDER)[number]>;

/**
 * Reads only: attempts that were claimed in a period, oldest first. Each comes with its purpose, its decisions and
 * consents, and its outcome. Attempts that are claimed meanwhile may be among them. For a past period the whole is one
 * consistent view, except for late answers.
 */
export async function readAttemptsPage(
  tx: Transaction,
  query: InquiriesQuery,
  after?: AttemptPlace,
  pageSize = PAGE_SIZE,
): Promise<Page<AuditedAttempt, AttemptPlace>> {
  const { fromMs, beforeMs } = toPeriodMs(query);
  const { items: places, end } = await readKeyset<AttemptPlace>(tx.session, {
    from: 'attempts',
    columns: ORDER_COLUMNS.join(', '),
    where: ['claimed_at >= $1 AND claimed_at < $2'],
    values: [Math.max(fromMs, after ? Date.parse(after.claimedAt) : 0), beforeMs],
    order: ORDER,
    after,
    limit: pageSize,
  });
  const [first, last] = [places[0], places.at(-1)];
  const rows = first && last ? await readRows(tx, query, first, last) : [];
  return { items: await describeAttempts(tx, rows), end };
}

/** The outcome of an attempt `a`, by `AUDIT_OUTCOMES`. */
function writeOutcomeSql({ now }: SqlDialect): string {
  return `CASE WHEN a.outcome IS NOT NULL THEN a.outcome WHEN a.state = 'answered' THEN a.answer_kind
    WHEN a.state = 'sending' AND a.answer_by <= ${now} THEN 'unknown' ELSE a.state END`;
}

/** How many applicants the list `["1A","2A"]` has; NULL before the first claim. */
const APPLICANTS_SQL = `(length(i.applicant_ids) - length(replace(i.applicant_ids, '","', '""')) + 1)`;

type FoundRow = InquiryRow & AttemptRow & { auditOutcome: AuditOutcome; firstAttempt: number };

/** The wanted attempts from the first to the last place of a page. */
async function readRows(
  { session, dialect, cipher }: Transaction,
  query: InquiriesQuery,
  first: AttemptPlace,
  last: AttemptPlace,
): Promise<FoundRow[]> {
  const values: SqlValue[] = [first, last].flatMap((place) =>
    ORDER.map((name, index) => encode(ORDER_COLUMNS[index] ?? '', place[name])),
  );
  const place = (value: SqlValue) => `$${values.push(value)}`;
  const is = (column: string, value: SqlValue | undefined) =>
    value === undefined ? [] : [`${column} = ${place(value)}`];
  const { endUser, reportReferenceNumber: wanted } = query;
  const conditions = [
    ...withoutForeignRuns('i.run_key', query, place),
    ...is('i.product_code', query.productCode),
    ...is('i.run_key', query.runKey),
    ...is('i.customer_trace_number', query.customerTraceNumber),
    ...is(APPLICANTS_SQL, query.applicants),
    ...is(writeOutcomeSql(dialect), query.outcome),
    ...(endUser === undefined ? [] : [`${place(endUser)} IN (i.end_user_code, i.end_user)`]),
    ...(wanted === undefined ? [] : ['(a.outcome IS NOT NULL OR a.late_outcome IS NOT NULL)']),
  ];
  const ordered = ORDER_COLUMNS.map((column) => `a.${column}`).join(', ');
  // Closed attempts come before the first attempt, and were never sent.
  const rows = await session.read<FoundRow>(
    `SELECT i.*, a.*, ${writeOutcomeSql(dialect)} AS audit_outcome,
       (SELECT min(b.attempt) FROM attempts b WHERE b.customer_trace_number = a.customer_trace_number) AS first_attempt
     FROM (${selectAttempts(dialect)}) a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
     WHERE a.claimed_at >= $1 AND a.claimed_at <= $4 AND (${ordered}) >= ($1, $2, $3) AND (${ordered}) <= ($4, $5, $6)
       AND ${['1 = 1', ...conditions].join(' AND ')}
     ORDER BY ${ordered}`,
    values,
  );
  return wanted === undefined ? rows : rows.filter((row) => hasReference(cipher, row, wanted));
}

function hasReference(cipher: LedgerCipher, row: FoundRow, wanted: string): boolean {
  return ANSWERS.some((name) => {
    const answer = openOutcome(cipher, row, name);
    return answer && [...listReferenceNumbers(answer), answer.noRecordReference].includes(wanted);
  });
}

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
  const counts = await readAbout<AccessCount>(ACCESSES, numbers, 'GROUP BY customer_trace_number, attempt');
  const accesses = new Map(counts.map((row) => [toAttemptKey(row), pick(row, ['count', 'reissues', 'lastAt'])]));
  const holdsOn = await readHoldsByOwner(session, rows);
  return rows.map((row) => ({
    ...pick(row, ATTEMPT),
    ...readAnswer(cipher, row, IN_TIME),
    outcome: row.auditOutcome,
    ...judgeAttempt(row, decisions),
    ...omitUndefined({
      applicants: row.applicantIds?.length,
      late: row.lateAt === undefined ? undefined : { at: row.lateAt, ...readAnswer(cipher, row, LATE) },
      accesses: accesses.get(toAttemptKey(row)),
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

const ACCESSES = `customer_trace_number, attempt, count(*) AS count, count(purpose) AS reissues,
  max(recorded_at) AS last_at FROM report_accesses`;

type AccessCount = ReportOrigin & { count: number; reissues: number; lastAt: string };

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
      ...{ state, isAnswered: row.answerKind !== undefined || row.answeredLate === true, isAcceptedAsNotPosted },
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
