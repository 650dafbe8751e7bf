/** Reads audited attempts in pages by time, so that a million rows are never in memory at once. */

import { omitUndefined } from '../../base/defined.ts';
import { utcInstant } from '../../base/instants.ts';
import type { ApplicantOutcome } from '../../model/report-outcome.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { effectiveState } from '../claim.ts';
import { type Page, periodMs, readKeyset } from '../database/pages.ts';
import { toFields } from '../database/rows.ts';
import { listPlaceholders, type SqlDialect, type SqlValue, type Transaction } from '../database/sql-session.ts';
import type { RawRow as Row } from '../database/tables.ts';
import { ANSWERS, DESCRIPTION, type DecisionRow, type InquiryRow, openOutcome } from '../inquiries/inquiries.ts';
import { withoutForeignRuns } from '../owners.ts';
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
const ORDER = ['claimed_at', 'customer_trace_number', 'attempt'] as const;

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
  const { fromMs, beforeMs } = periodMs(query);
  const { items: places, end } = await readKeyset<AttemptPlace, keyof AttemptPlace>(tx.session, {
    from: 'attempts',
    columns: ORDER,
    where: ['claimed_at >= $1 AND claimed_at < $2'],
    values: [Math.max(fromMs, after?.claimed_at ?? 0), beforeMs],
    order: ORDER,
    after,
    limit: pageSize,
  });
  const [first, last] = [places[0], places.at(-1)];
  const rows = first && last ? await readRows(tx, query, first, last) : [];
  return { items: await describeAttempts(tx, rows), end };
}

/** The outcome of the attempt `a`, by `AUDIT_OUTCOMES`. */
function outcomeSql({ now }: SqlDialect): string {
  return `CASE WHEN a.outcome IS NOT NULL THEN a.outcome WHEN a.state = 'answered' THEN a.answer_kind
    WHEN a.state = 'sending' AND a.answer_by <= ${now} THEN 'unknown' ELSE a.state END`;
}

/** How many applicants the list `["1A","2A"]` has; NULL before the first claim. */
const APPLICANTS_SQL = `(length(i.applicant_ids) - length(replace(i.applicant_ids, '","', '""')) + 1)`;

type FoundRow = InquiryRow & Row<'attempts'> & { audit_outcome: AuditOutcome; first_attempt: number; now: number };

/** The wanted attempts from the first to the last place of a page. */
async function readRows(
  { session, dialect, cipher }: Transaction,
  query: InquiriesQuery,
  first: AttemptPlace,
  last: AttemptPlace,
): Promise<FoundRow[]> {
  const values: SqlValue[] = [first, last].flatMap((place) => ORDER.map((column) => place[column]));
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
    ...is(outcomeSql(dialect), query.outcome),
    ...(endUser === undefined ? [] : [`${place(endUser)} IN (i.end_user_code, i.end_user)`]),
    ...(wanted === undefined ? [] : ['(a.outcome IS NOT NULL OR a.late_outcome IS NOT NULL)']),
  ];
  const ordered = ORDER.map((column) => `a.${column}`).join(', ');
  // Closed attempts come before the first attempt, and were never sent.
  const rows = await session.rows<FoundRow>(
    `SELECT i.*, a.*, ${outcomeSql(dialect)} AS audit_outcome, ${dialect.now} AS now,
       (SELECT min(b.attempt) FROM attempts b WHERE b.customer_trace_number = a.customer_trace_number) AS first_attempt
     FROM attempts a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
     WHERE a.claimed_at >= $1 AND a.claimed_at <= $4 AND (${ordered}) >= ($1, $2, $3) AND (${ordered}) <= ($4, $5, $6)
       AND ${['1 = 1', ...conditions].join(' AND ')}
     ORDER BY ${ordered}`,
    values,
  );
  return wanted === undefined ? rows : rows.filter((row) => hasReference(cipher, row, wanted));
}

function hasReference(cipher: LedgerCipher, row: FoundRow, wanted: string): boolean {
  return ANSWERS.some((column) => {
    const answer = openOutcome(cipher, row, column);
    return answer && [...listReferenceNumbers(answer), answer.noRecordReference].includes(wanted);
  });
}

async function describeAttempts({ session, cipher }: Transaction, rows: FoundRow[]): Promise<AuditedAttempt[]> {
  if (rows.length === 0) return [];
  const numbers = [...new Set(rows.map((row) => row.customer_trace_number))];
  const amended = rows.flatMap(({ amends }) => amends ?? []);
  const readAbout = <Found>(selected: string, about: readonly string[], then: string) =>
    session.rows<Found>(
      `SELECT ${selected} WHERE customer_trace_number IN (${listPlaceholders(about)}) ${then}`,
      about,
    );
  const decisions = Map.groupBy(
    await readAbout<DecisionRow>('* FROM decisions', [...numbers, ...amended], 'ORDER BY recorded_at, decision_id'),
    (row) => row.customer_trace_number,
  );
  const grants = Map.groupBy(
    await readAbout<Row<'attempt_consents'>>('* FROM attempt_consents', numbers, 'ORDER BY applicant_id, consent_id'),
    attemptKey,
  );
  const counts = await readAbout<AccessCountRow>(ACCESSES, numbers, 'GROUP BY customer_trace_number, attempt');
  const accesses = new Map(counts.map((row) => [attemptKey(row), toFields(row, ['count', 'reissues', 'last_at'])]));
  const holdsOn = await readHoldsByOwner(session, rows);
  return rows.map((row) => ({
    ...toFields(row, ATTEMPT),
    ...readAnswer(cipher, row, ''),
    outcome: row.audit_outcome,
    ...judgeAttempt(row, decisions),
    ...omitUndefined({
      applicants: toFields(row, ['applicant_ids']).applicantIds?.length,
      late: row.late_at === null ? undefined : { at: utcInstant(row.late_at), ...readAnswer(cipher, row, 'late_') },
      accesses: accesses.get(attemptKey(row)),
    }),
    consents: (grants.get(attemptKey(row)) ?? []).map((grant) => toFields(grant, ['applicant_id', 'consent_id'])),
    legalHolds: holdsOn(row.run_key),
  }));
}

const ATTEMPT = [
  ...DESCRIPTION,
  'attempt',
  'sent_trace_number',
  'http_status',
  'failure_type',
  'claimed_at',
  'requested_at',
  'abandoned_at',
  'disposed_at',
] as const;

const ACCESSES = `customer_trace_number, attempt, count(*) AS count, count(purpose) AS reissues,
  max(recorded_at) AS last_at FROM report_accesses`;

type OfAttempt = Pick<Row<'attempts'>, 'customer_trace_number' | 'attempt'>;
type AccessCountRow = OfAttempt & { count: number; reissues: number; last_at: number };

function attemptKey(row: OfAttempt): string {
  return `${row.customer_trace_number} ${row.attempt}`;
}

/** Says which decisions are about the attempt, and whether it was posted. */
function judgeAttempt(
  row: FoundRow,
  decisions: ReadonlyMap<string, DecisionRow[]>,
): Pick<AuditedAttempt, 'posted' | 'permittedBy' | 'decision'> {
  const own = decisions.get(row.customer_trace_number) ?? [];
  const judging = own.filter(({ attempt, failure_type }) => attempt === row.attempt && judgesAttempts(failure_type));
  const said = judging.findLast(({ provider_said }) => provider_said === 'posted' || provider_said === 'notPosted');
  const state = effectiveState({ attempt: row.attempt, state: row.state, answerInMs: row.answer_by - row.now });
  const isAnsweredLate = row.late_state === 'answered';
  const isAcceptedAsNotPosted =
    row.product_code === 'SECONDUSE' && state === 'accepted' && row.audit_outcome !== 'record' && !isAnsweredLate;
  return {
    posted: isPosted({
      ...{ state, isAnswered: row.answer_kind !== null || isAnsweredLate, isAcceptedAsNotPosted },
      ...omitUndefined({ providerSaid: said?.provider_said }),
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
  const resend = own.find((decision) => decision.decision_id === row.permitted_by);
  if (resend || row.attempt > row.first_attempt) return resend;
  if (row.amends === null) return own.find(({ action }) => action === 'repeat');
  return decisions.get(row.amends)?.findLast(({ action }) => action === 'amend');
}

function toDecision(row: DecisionRow | undefined): AuditDecision | undefined {
  return row && toFields(row, ['decision_id', 'action', 'by', 'reason', 'provider_said', 'decided_at', 'proven_by']);
}

/** The answer of an attempt, or one that came late. The number of one without a record is sealed: of a record it is half of a share. */
function readAnswer(cipher: LedgerCipher, row: FoundRow, prefix: '' | 'late_') {
  const outcome = row[`${prefix}outcome`];
  const isWithoutRecord = outcome !== null && outcome !== 'record' && (prefix !== '' || row.state === 'answered');
  const opened = isWithoutRecord ? openOutcome(cipher, row, `${prefix}answer`) : undefined;
  const columns = {
    outcome,
    return_code: row[`${prefix}return_code`],
    return_reason_code: row[`${prefix}return_reason_code`],
    applicant_outcomes: row[`${prefix}applicant_outcomes`],
  };
  const { applicantOutcomes = [], ...said } = toFields(columns);
  return {
    ...said,
    ...listOutcomes(row, outcome, applicantOutcomes),
    ...omitUndefined({ noRecordReference: opened?.noRecordReference }),
  };
}

/** An applicant whom the answer does not name has no record, or has what the one answer says. */
function listOutcomes(
  row: FoundRow,
  outcome: FoundRow['outcome'],
  named: readonly ApplicantOutcome[],
): Pick<AuditedAttempt, 'applicantOutcomes'> {
  if (row.product_code === 'SECONDUSE' || outcome === null) return {};
  const { applicantIds = named.map(({ applicantId }) => applicantId) } = toFields(row, ['applicant_ids']);
  const others = outcome === 'record' ? 'noRecord' : outcome;
  const outcomes = applicantIds.map(
    (id) => named.find(({ applicantId }) => applicantId === id) ?? { applicantId: id, outcome: others },
  );
  return outcomes.length === 0 ? {} : { applicantOutcomes: outcomes };
}
