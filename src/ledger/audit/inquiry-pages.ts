/** Reads audited attempts in pages by time, so that a million rows are never in memory at once. */

import { defined } from '../../base/defined.ts';
import { utcInstant } from '../../base/instants.ts';
import type { Answer, Outcome } from '../../model/inquiry.ts';
import type { ApplicantOutcome, ReportOutcome } from '../../model/report-outcome.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { standing } from '../claim.ts';
import { fieldsOf, instantsOf } from '../database/fields.ts';
import type { SqlDialect, SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import { type Page, periodMs } from '../database/transactions.ts';
import { type AttemptRow, DESCRIPTION, type DecisionRow, type InquiryRow } from '../inquiries/inquiry-rows.ts';
import { withoutForeignRuns } from '../owners.ts';
import { referenceNumbersOf } from '../reports/report-references.ts';
import { readHoldsByOwner } from '../retention/retention-log.ts';
import {
  type AuditDecision,
  type AuditedAttempt,
  type AuditOutcome,
  type InquiriesQuery,
  judgesAttempts,
  postedOf,
} from './audited.ts';

/**
 * Attempts that one statement looks at, whether or not the query wants them: the statement stays short in any ledger.
 */
const PAGE_SIZE = 1_000;

export interface AttemptPlace {
  claimedAtMs: number;
  customerTraceNumber: string;
  attempt: number;
}

/**
 * Reads only: attempts that were claimed in a period, oldest first. Each comes with its purpose, its decisions and
 * consents, and its outcome. Attempts that are claimed meanwhile may be among them. For a past period the whole is one
 * consistent view, except for late answers.
 */
export function readAttemptsPage(
  tx: Transaction,
  query: InquiriesQuery,
  after?: AttemptPlace,
  pageSize = PAGE_SIZE,
): Promise<Page<AuditedAttempt, AttemptPlace>> {
  const { fromMs, beforeMs } = periodMs(query);
  const start = after ?? { claimedAtMs: fromMs, customerTraceNumber: '', attempt: 0 };
  return new PageReader(tx, query).read({ after: start, beforeMs, pageSize });
}

/** The outcome of the attempt `a`, by `AUDIT_OUTCOMES`. */
function outcomeSql({ now }: SqlDialect): string {
  return `CASE WHEN a.outcome IS NOT NULL THEN a.outcome WHEN a.state = 'answered' THEN a.answer_kind
    WHEN a.state = 'sending' AND a.answer_by <= ${now} THEN 'unknown' ELSE a.state END`;
}

/** How many applicants the list `["1A","2A"]` has; NULL before the first claim. */
const APPLICANTS_SQL = `(length(i.applicant_ids) - length(replace(i.applicant_ids, '","', '""')) + 1)`;

const OF_ATTEMPT = [
  ...['attempt', 'state', 'claimed_at', 'answer_by', 'permitted_by', 'requested_at', 'http_status', 'failure_type'],
  ...['return_reason_code', 'applicant_outcomes', 'sent_trace_number'],
  ...['answer_kind', 'outcome', 'return_code', 'late_at', 'late_state', 'late_outcome'],
  ...['late_return_code', 'late_return_reason_code', 'late_applicant_outcomes'],
];
/** The columns that may hold a reference. */
const SEALED = ['answer', 'accepted_answer', 'late_answer'] as const;

/** The answers to open if the query names no reference: those whose number the audit shows. A record's stays sealed. */
const NEEDED_ANSWERS = [
  "CASE WHEN a.state = 'answered' AND a.outcome <> 'record' THEN a.answer END AS answer",
  "CASE WHEN a.late_outcome <> 'record' THEN a.late_answer END AS late_answer",
];

type FoundRow = InquiryRow &
  Omit<AttemptRow, 'run_id' | 'retry_after_ms' | 'accepted_by'> & {
    permitted_by: string | null;
    return_code: string | null;
    return_reason_code: string | null;
    /** A JSON list. */
    applicant_outcomes: string | null;
    late_outcome: ReportOutcome | null;
    late_return_code: string | null;
    late_return_reason_code: string | null;
    late_applicant_outcomes: string | null;
    late_answer: Uint8Array | null;
    audit_outcome: AuditOutcome;
    first_attempt: number;
    now: number;
  };

/** The last attempt that was looked at, beside each row that was found; alone, where none was found. */
type PageRow = { end_claimed_at: number; end_trace: string; end_attempt: number } & (
  | FoundRow
  | { audit_outcome: null }
);

/** The attempts of a page once its end is known. `$1` to `$6` are its begin and its end. */
const IN_PAGE = `a.claimed_at >= $1 AND (a.claimed_at, a.customer_trace_number, a.attempt) > ($1, $2, $3)
  AND a.claimed_at <= $4 AND (a.claimed_at, a.customer_trace_number, a.attempt) <= ($4, $5, $6)`;

class PageReader {
  readonly #session: SqlSession;
  readonly #dialect: SqlDialect;
  readonly #cipher: LedgerCipher;
  readonly #query: InquiriesQuery;

  constructor({ session, dialect, cipher }: Transaction, query: InquiriesQuery) {
    this.#session = session;
    this.#dialect = dialect;
    this.#cipher = cipher;
    this.#query = query;
  }

  async read({
    after,
    beforeMs,
    pageSize,
  }: {
    after: AttemptPlace;
    beforeMs: number;
    pageSize: number;
  }): Promise<Page<AuditedAttempt, AttemptPlace>> {
    const rows = await this.#rows(after, beforeMs, pageSize);
    const [first] = rows;
    if (!first) return { items: [] };
    const end = {
      claimedAtMs: first.end_claimed_at,
      customerTraceNumber: first.end_trace,
      attempt: first.end_attempt,
    };
    const wanted = rows.filter((row): row is PageRow & FoundRow => row.audit_outcome !== null && this.#isReferred(row));
    if (wanted.length === 0) return { items: [], end };
    const range = [...valuesOf(after), ...valuesOf(end)];
    const decisions = Map.groupBy(await this.#decisions(range), (row) => row.customer_trace_number);
    const isShared = wanted.some((row) => row.product_code === 'SECONDUSE');
    const consents = Map.groupBy(isShared ? await this.#consents(range) : [], attemptKey);
    const holdsOn = await readHoldsByOwner(this.#session, wanted);
    const accesses = new Map((await this.#accesses(range)).map((row) => [attemptKey(row), row]));
    return {
      items: wanted.map((row) => ({
        ...auditedAttempt(row, decisions, consents.get(attemptKey(row)) ?? []),
        ...this.#withoutRecord(row),
        ...(row.late_at === null ? {} : { late: this.#late(row, row.late_at) }),
        ...accessesOf(accesses.get(attemptKey(row))),
        legalHolds: holdsOn(row.run_key),
      })),
      end,
    };
  }

  #rows(after: AttemptPlace, beforeMs: number, pageSize: number): Promise<PageRow[]> {
    const values: SqlValue[] = [...valuesOf(after), beforeMs, pageSize];
    const place = (value: SqlValue) => `$${values.push(value)}`;
    const { endUser, productCode, outcome, reportReferenceNumber, runKey, customerTraceNumber, applicants } =
      this.#query;
    const conditions = [
      ...withoutForeignRuns('i.run_key', this.#query, place),
      ...(productCode === undefined ? [] : [`i.product_code = ${place(productCode)}`]),
      ...(endUser === undefined ? [] : [`(i.end_user_code = ${place(endUser)} OR i.end_user = ${place(endUser)})`]),
      ...(runKey === undefined ? [] : [`i.run_key = ${place(runKey)}`]),
      ...(customerTraceNumber === undefined ? [] : [`i.customer_trace_number = ${place(customerTraceNumber)}`]),
      ...(applicants === undefined ? [] : [`${APPLICANTS_SQL} = ${place(applicants)}`]),
      ...(outcome === undefined ? [] : [`${outcomeSql(this.#dialect)} = ${place(outcome)}`]),
      ...(reportReferenceNumber === undefined ? [] : ['(a.outcome IS NOT NULL OR a.late_outcome IS NOT NULL)']),
    ];
    const columns = [
      'i.*',
      ...OF_ATTEMPT.map((name) => `a.${name}`),
      ...(reportReferenceNumber === undefined ? NEEDED_ANSWERS : SEALED.map((name) => `a.${name}`)),
      `${outcomeSql(this.#dialect)} AS audit_outcome`,
      `${this.#dialect.now} AS now`,
      // Closed attempts come before it, and were never sent.
      '(SELECT min(b.attempt) FROM attempts b WHERE b.customer_trace_number = a.customer_trace_number) AS first_attempt',
    ];
    return this.#session.rows<PageRow>(
      `WITH page AS (
         SELECT a.claimed_at, a.customer_trace_number, a.attempt FROM attempts a
         WHERE a.claimed_at >= $1 AND a.claimed_at < $4
           AND (a.claimed_at, a.customer_trace_number, a.attempt) > ($1, $2, $3)
         ORDER BY a.claimed_at, a.customer_trace_number, a.attempt LIMIT $5
       ), page_end AS (
         SELECT claimed_at AS end_claimed_at, customer_trace_number AS end_trace, attempt AS end_attempt FROM page
         ORDER BY claimed_at DESC, customer_trace_number DESC, attempt DESC LIMIT 1
       )
       SELECT e.*, found.* FROM page_end e LEFT JOIN (
         SELECT ${columns.join(', ')} FROM page p
         JOIN attempts a ON a.customer_trace_number = p.customer_trace_number AND a.attempt = p.attempt
         JOIN inquiries i ON i.customer_trace_number = p.customer_trace_number
         WHERE ${['1 = 1', ...conditions].join(' AND ')}
       ) found ON 1 = 1
       ORDER BY found.claimed_at, found.customer_trace_number, found.attempt`,
      values,
    );
  }

  /** Whether the row has the wanted reference, where one is wanted. */
  #isReferred(row: FoundRow): boolean {
    const { reportReferenceNumber } = this.#query;
    if (reportReferenceNumber === undefined) return true;
    return SEALED.some((column) => {
      const answer = this.#answerIn(row, column);
      if (!answer) return false;
      return [...referenceNumbersOf(answer), answer.noRecordReference].includes(reportReferenceNumber);
    });
  }

  /** The number is sealed with its answer: of a record it is half of a share. */
  #withoutRecord(row: FoundRow): Pick<AuditedAttempt, 'noRecordReference'> {
    if (row.state !== 'answered' || row.outcome === null || row.outcome === 'record') return {};
    return defined({ noRecordReference: this.#answerIn(row, 'answer')?.noRecordReference });
  }

  /** Describes an answer that arrived after its attempt was superseded, like any other answer. */
  #late(row: FoundRow, lateAtMs: number): NonNullable<AuditedAttempt['late']> {
    const { late_outcome: outcome, late_applicant_outcomes: told } = row;
    return {
      at: utcInstant(lateAtMs),
      ...defined({
        outcome: outcome ?? undefined,
        returnCode: row.late_return_code ?? undefined,
        returnReasonCode: row.late_return_reason_code ?? undefined,
      }),
      ...outcomesOf(row, { outcome, told }),
      ...(outcome === null || outcome === 'record'
        ? {}
        : defined({ noRecordReference: this.#answerIn(row, 'late_answer')?.noRecordReference })),
    };
  }

  #answerIn(row: FoundRow, column: (typeof SEALED)[number]): Outcome | undefined {
    const sealed = row[column];
    if (!sealed) return undefined;
    const place = [column, row.customer_trace_number, String(row.attempt)];
    const answer = this.#cipher.unsealValue(sealed, ...place) as Answer;
    return answer.kind === 'outcome' ? answer : undefined;
  }

  /** The decisions about the page's inquiries, and about those that they amend. */
  #decisions(range: readonly SqlValue[]): Promise<DecisionRow[]> {
    return this.#session.rows<DecisionRow>(
      `SELECT d.* FROM decisions d WHERE d.customer_trace_number IN (
         SELECT a.customer_trace_number FROM attempts a WHERE ${IN_PAGE}
         UNION SELECT i.amends FROM attempts a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
         WHERE i.amends IS NOT NULL AND ${IN_PAGE}
       ) ORDER BY d.recorded_at, d.decision_id`,
      range,
    );
  }

  #accesses(range: readonly SqlValue[]): Promise<AccessCountRow[]> {
    return this.#session.rows<AccessCountRow>(
      `SELECT r.customer_trace_number, r.attempt, count(*) AS accesses, count(r.purpose) AS reissues,
         max(r.recorded_at) AS last_at
       FROM attempts a JOIN report_accesses r
         ON r.customer_trace_number = a.customer_trace_number AND r.attempt = a.attempt
       WHERE ${IN_PAGE} GROUP BY r.customer_trace_number, r.attempt`,
      range,
    );
  }

  #consents(range: readonly SqlValue[]): Promise<ConsentLinkRow[]> {
    return this.#session.rows<ConsentLinkRow>(
      `SELECT c.customer_trace_number, c.attempt, c.applicant_id, c.consent_id
       FROM attempts a JOIN attempt_consents c
         ON c.customer_trace_number = a.customer_trace_number AND c.attempt = a.attempt
       WHERE ${IN_PAGE} ORDER BY c.applicant_id, c.consent_id`,
      range,
    );
  }
}

interface AccessCountRow {
  customer_trace_number: string;
  attempt: number;
  accesses: number;
  reissues: number;
  last_at: number;
}

function accessesOf(row: AccessCountRow | undefined): Pick<AuditedAttempt, 'accesses'> {
  if (!row) return {};
  return { accesses: { count: row.accesses, reissues: row.reissues, lastAt: utcInstant(row.last_at) } };
}

interface ConsentLinkRow {
  customer_trace_number: string;
  attempt: number;
  applicant_id: string;
  consent_id: string;
}

function valuesOf({ claimedAtMs, customerTraceNumber, attempt }: AttemptPlace): SqlValue[] {
  return [claimedAtMs, customerTraceNumber, attempt];
}

function attemptKey(row: { customer_trace_number: string; attempt: number }): string {
  return `${row.customer_trace_number} ${row.attempt}`;
}

function auditedAttempt(
  row: FoundRow,
  decisions: ReadonlyMap<string, DecisionRow[]>,
  consents: readonly ConsentLinkRow[],
): Omit<AuditedAttempt, 'legalHolds'> {
  const own = decisions.get(row.customer_trace_number) ?? [];
  const judging = own.filter((one) => one.attempt === row.attempt && judgesAttempts(one.failure_type));
  const said = judging.findLast(({ provider_said }) => provider_said === 'posted' || provider_said === 'notPosted');
  const permit = permitOf(row, own, decisions);
  const decision = judging.at(-1);
  const state = standing({ attempt: row.attempt, state: row.state, answerInMs: row.answer_by - row.now });
  const isAnsweredLate = row.late_state === 'answered';
  const isAnswered = row.answer_kind !== null || isAnsweredLate;
  const isAcceptedAsNotPosted =
    row.product_code === 'SECONDUSE' && state === 'accepted' && row.audit_outcome !== 'record' && !isAnsweredLate;
  return {
    ...fieldsOf(row, DESCRIPTION),
    ...(row.applicant_ids === null ? {} : { applicants: (JSON.parse(row.applicant_ids) as string[]).length }),
    ...fieldsOf(row, [
      'attempt',
      'sent_trace_number',
      'return_code',
      'return_reason_code',
      'http_status',
      'failure_type',
    ]),
    ...instantsOf(row, ['claimed_at', 'requested_at', 'abandoned_at', 'disposed_at']),
    outcome: row.audit_outcome,
    posted: postedOf({
      state,
      isAnswered,
      isAcceptedAsNotPosted,
      ...(said ? { providerSaid: said.provider_said } : {}),
    }),
    consents: consents.map((link) => fieldsOf(link, ['applicant_id', 'consent_id'])),
    ...outcomesOf(row, { outcome: row.outcome, told: row.applicant_outcomes }),
    ...(permit ? { permittedBy: decisionView(permit) } : {}),
    ...(decision ? { decision: decisionView(decision) } : {}),
  };
}

/**
 * The resend that this attempt has spent. For an inquiry's first attempt, the amendment or the repeat that asked for
 * it.
 */
function permitOf(
  row: FoundRow,
  own: readonly DecisionRow[],
  decisions: ReadonlyMap<string, DecisionRow[]>,
): DecisionRow | undefined {
  const resend = own.find((one) => one.decision_id === row.permitted_by);
  if (resend || row.attempt > row.first_attempt) return resend;
  if (row.amends === null) return own.find(({ action }) => action === 'repeat');
  return decisions.get(row.amends)?.findLast(({ action }) => action === 'amend');
}

function decisionView(row: DecisionRow): AuditDecision {
  return {
    ...fieldsOf(row, ['decision_id', 'action', 'reason', 'provider_said', 'decided_at', 'proven_by']),
    by: row.decided_by,
  };
}

/** Whom the answer does not name has no record, or has what the one answer says. */
function outcomesOf(
  { product_code, applicant_ids }: Pick<InquiryRow, 'product_code' | 'applicant_ids'>,
  { outcome, told: list }: { outcome: string | null; told: string | null },
): Pick<AuditedAttempt, 'applicantOutcomes'> {
  if (product_code === 'SECONDUSE' || outcome === null) return {};
  const told = JSON.parse(list ?? '[]') as ApplicantOutcome[];
  const asked =
    applicant_ids === null ? told.map(({ applicantId }) => applicantId) : (JSON.parse(applicant_ids) as string[]);
  const others = outcome === 'record' ? 'noRecord' : (outcome as ReportOutcome);
  const outcomes = asked.map(
    (id) => told.find(({ applicantId }) => applicantId === id) ?? { applicantId: id, outcome: others },
  );
  return outcomes.length === 0 ? {} : { applicantOutcomes: outcomes };
}
