/** Reads audited attempts in pages by time, so that a million rows are never in memory at once. */

import { omitUndefined } from '../../base/defined.ts';
import { utcInstant } from '../../base/instants.ts';
import type { Outcome } from '../../model/inquiry.ts';
import type { ApplicantOutcome, ReportOutcome } from '../../model/report-outcome.ts';
import { effectiveState } from '../claim.ts';
import { type Page, periodMs, readKeyset } from '../database/pages.ts';
import { toFields } from '../database/rows.ts';
import { listPlaceholders, type SqlDialect, type SqlValue, type Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import {
  ANSWERS,
  type AttemptRow,
  DESCRIPTION,
  type DecisionRow,
  type InquiryRow,
  openOutcome,
} from '../inquiries/inquiries.ts';
import { withoutForeignRuns } from '../owners.ts';
import { listReferenceNumbers } from '../reports/report-references.ts';
import { readHoldsByOwner } from '../retention/retention-log.ts';
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

export type AttemptPlace = Pick<AttemptRow, (typeof ORDER)[number]>;

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
  return new PageReader(tx, query).read(after, pageSize);
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

/** The answers to open if the query names no reference: those whose number the audit shows. A record's stays sealed. */
const NEEDED_ANSWERS = [
  "CASE WHEN a.state = 'answered' AND a.outcome <> 'record' THEN a.answer END AS answer",
  "CASE WHEN a.late_outcome <> 'record' THEN a.late_answer END AS late_answer",
];

type FoundRow = InquiryRow &
  Omit<Row<'attempts'>, 'run_id' | 'workflow_id'> & {
    audit_outcome: AuditOutcome;
    first_attempt: number;
    now: number;
  };

class PageReader {
  readonly #tx: Transaction;
  readonly #query: InquiriesQuery;

  constructor(tx: Transaction, query: InquiriesQuery) {
    this.#tx = tx;
    this.#query = query;
  }

  async read(after: AttemptPlace | undefined, limit: number): Promise<Page<AuditedAttempt, AttemptPlace>> {
    const { fromMs, beforeMs } = periodMs(this.#query);
    const { items: places, end } = await readKeyset<AttemptPlace, keyof AttemptPlace>(this.#tx.session, {
      from: 'attempts',
      columns: ORDER,
      where: ['claimed_at >= $1 AND claimed_at < $2'],
      values: [Math.max(fromMs, after?.claimed_at ?? 0), beforeMs],
      order: ORDER,
      after,
      limit,
    });
    const [first, last] = [places[0], places.at(-1)];
    const wanted = first && last ? (await this.#rows(first, last)).filter((row) => this.#isReferred(row)) : [];
    if (wanted.length === 0) return { items: [], end };
    const numbers = [...new Set(wanted.map((row) => row.customer_trace_number))];
    const amended = wanted.flatMap(({ amends }) => amends ?? []);
    const decisions = Map.groupBy(
      await this.#about<DecisionRow>('* FROM decisions', [...numbers, ...amended], 'ORDER BY recorded_at, decision_id'),
      (row) => row.customer_trace_number,
    );
    const isShared = wanted.some((row) => row.product_code === 'SECONDUSE');
    const links = isShared
      ? await this.#about<ConsentLinkRow>(CONSENT_LINKS, numbers, 'ORDER BY applicant_id, consent_id')
      : [];
    const consents = Map.groupBy(links, attemptKey);
    const holdsOn = await readHoldsByOwner(this.#tx.session, wanted);
    const counts = await this.#about<AccessCountRow>(ACCESSES, numbers, 'GROUP BY customer_trace_number, attempt');
    const accesses = new Map(counts.map((row) => [attemptKey(row), row]));
    return {
      items: wanted.map((row) => ({
        ...auditedAttempt(row, decisions, consents.get(attemptKey(row)) ?? []),
        ...this.#withoutRecord(row),
        ...(row.late_at === null ? {} : { late: this.#late(row, row.late_at) }),
        ...toAccesses(accesses.get(attemptKey(row))),
        legalHolds: holdsOn(row.run_key),
      })),
      end,
    };
  }

  /** Reads rows about these trace numbers. */
  #about<Row>(selected: string, numbers: readonly string[], then: string): Promise<Row[]> {
    return this.#tx.session.rows<Row>(
      `SELECT ${selected} WHERE customer_trace_number IN (${listPlaceholders(numbers)}) ${then}`,
      numbers,
    );
  }

  /** The wanted attempts from the first to the last place of a page. */
  #rows(first: AttemptPlace, last: AttemptPlace): Promise<FoundRow[]> {
    const values: SqlValue[] = [...toValues(first), ...toValues(last)];
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
      ...(outcome === undefined ? [] : [`${outcomeSql(this.#tx.dialect)} = ${place(outcome)}`]),
      ...(reportReferenceNumber === undefined ? [] : ['(a.outcome IS NOT NULL OR a.late_outcome IS NOT NULL)']),
    ];
    const columns = [
      'i.*',
      ...OF_ATTEMPT.map((name) => `a.${name}`),
      ...(reportReferenceNumber === undefined ? NEEDED_ANSWERS : ANSWERS.map((name) => `a.${name}`)),
      `${outcomeSql(this.#tx.dialect)} AS audit_outcome`,
      `${this.#tx.dialect.now} AS now`,
      // Closed attempts come before it, and were never sent.
      '(SELECT min(b.attempt) FROM attempts b WHERE b.customer_trace_number = a.customer_trace_number) AS first_attempt',
    ];
    const ordered = ORDER.map((column) => `a.${column}`).join(', ');
    return this.#tx.session.rows<FoundRow>(
      `SELECT ${columns.join(', ')} FROM attempts a
       JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
       WHERE a.claimed_at >= $1 AND a.claimed_at <= $4 AND (${ordered}) >= ($1, $2, $3) AND (${ordered}) <= ($4, $5, $6)
         AND ${['1 = 1', ...conditions].join(' AND ')}
       ORDER BY ${ordered}`,
      values,
    );
  }

  /** Whether the row has the wanted reference, where one is wanted. */
  #isReferred(row: FoundRow): boolean {
    const { reportReferenceNumber } = this.#query;
    if (reportReferenceNumber === undefined) return true;
    return ANSWERS.some((column) => {
      const answer = this.#answerIn(row, column);
      if (!answer) return false;
      return [...listReferenceNumbers(answer), answer.noRecordReference].includes(reportReferenceNumber);
    });
  }

  /** The number is sealed with its answer: of a record it is half of a share. */
  #withoutRecord(row: FoundRow): Pick<AuditedAttempt, 'noRecordReference'> {
    if (row.state !== 'answered' || row.outcome === null || row.outcome === 'record') return {};
    return omitUndefined({ noRecordReference: this.#answerIn(row, 'answer')?.noRecordReference });
  }

  /** Describes an answer that arrived after its attempt was superseded, like any other answer. */
  #late(row: FoundRow, lateAtMs: number): NonNullable<AuditedAttempt['late']> {
    const { late_outcome: outcome, late_applicant_outcomes: told } = row;
    return {
      at: utcInstant(lateAtMs),
      ...omitUndefined({
        outcome: outcome ?? undefined,
        returnCode: row.late_return_code ?? undefined,
        returnReasonCode: row.late_return_reason_code ?? undefined,
      }),
      ...listOutcomes(row, { outcome, told }),
      ...(outcome === null || outcome === 'record'
        ? {}
        : omitUndefined({ noRecordReference: this.#answerIn(row, 'late_answer')?.noRecordReference })),
    };
  }

  #answerIn(row: FoundRow, column: (typeof ANSWERS)[number]): Outcome | undefined {
    return openOutcome(this.#tx.cipher, row, column);
  }
}

const CONSENT_LINKS = 'customer_trace_number, attempt, applicant_id, consent_id FROM attempt_consents';

const ACCESSES = `customer_trace_number, attempt, count(*) AS count, count(purpose) AS reissues,
  max(recorded_at) AS last_at FROM report_accesses`;

type OfAttempt = Pick<AttemptRow, 'customer_trace_number' | 'attempt'>;
type AccessCountRow = OfAttempt & { count: number; reissues: number; last_at: number };
type ConsentLinkRow = OfAttempt & { applicant_id: string; consent_id: string };

function toAccesses(row: AccessCountRow | undefined): Pick<AuditedAttempt, 'accesses'> {
  return row ? { accesses: toFields(row, ['count', 'reissues', 'last_at']) } : {};
}

function toValues(place: AttemptPlace): SqlValue[] {
  return ORDER.map((column) => place[column]);
}

function attemptKey(row: OfAttempt): string {
  return `${row.customer_trace_number} ${row.attempt}`;
}

function auditedAttempt(
  row: FoundRow,
  decisions: ReadonlyMap<string, DecisionRow[]>,
  consents: readonly ConsentLinkRow[],
): Omit<AuditedAttempt, 'legalHolds'> {
  const own = decisions.get(row.customer_trace_number) ?? [];
  const judging = own.filter(
    (candidate) => candidate.attempt === row.attempt && judgesAttempts(candidate.failure_type),
  );
  const said = judging.findLast(({ provider_said }) => provider_said === 'posted' || provider_said === 'notPosted');
  const permit = findPermit(row, own, decisions);
  const decision = judging.at(-1);
  const state = effectiveState({ attempt: row.attempt, state: row.state, answerInMs: row.answer_by - row.now });
  const isAnsweredLate = row.late_state === 'answered';
  const isAnswered = row.answer_kind !== null || isAnsweredLate;
  const isAcceptedAsNotPosted =
    row.product_code === 'SECONDUSE' && state === 'accepted' && row.audit_outcome !== 'record' && !isAnsweredLate;
  return {
    ...toFields(row, DESCRIPTION),
    ...(row.applicant_ids === null ? {} : { applicants: (JSON.parse(row.applicant_ids) as string[]).length }),
    ...toFields(row, [
      'attempt',
      'sent_trace_number',
      'return_code',
      'return_reason_code',
      'http_status',
      'failure_type',
      'claimed_at',
      'requested_at',
      'abandoned_at',
      'disposed_at',
    ]),
    outcome: row.audit_outcome,
    posted: isPosted({
      state,
      isAnswered,
      isAcceptedAsNotPosted,
      ...(said ? { providerSaid: said.provider_said } : {}),
    }),
    consents: consents.map((link) => toFields(link, ['applicant_id', 'consent_id'])),
    ...listOutcomes(row, { outcome: row.outcome, told: row.applicant_outcomes }),
    ...(permit ? { permittedBy: decisionView(permit) } : {}),
    ...(decision ? { decision: decisionView(decision) } : {}),
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

function decisionView(row: DecisionRow): AuditDecision {
  return toFields(row, ['decision_id', 'action', 'by', 'reason', 'provider_said', 'decided_at', 'proven_by']);
}

/** Whom the answer does not name has no record, or has what the one answer says. */
function listOutcomes(
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
