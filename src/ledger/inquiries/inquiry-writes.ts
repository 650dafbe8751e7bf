/** The statements that change `inquiries` and `attempts`, each part of a transaction, and the columns that they fill. */

import { omitUndefined } from '../../base/defined.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { applicantOutcomes } from '../../messages/pull/consumer-results.ts';
import type { Answer, InquiryDescription, Outcome } from '../../model/inquiry.ts';
import type { ApplicantOutcome } from '../../model/report-outcome.ts';
import { type Columns, insertRow, toFields } from '../database/rows.ts';
import type { SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import type { ClaimRequest, CloseRequest, OutcomeRecord } from '../records.ts';
import { DESCRIPTION, ownersOfClaim, sealAnswer, selectPauses, selectWithdrawals } from './inquiries.ts';

/** The repeat that the claim of this inquiry takes, and the number that another customer already has. */
export async function readRepeat(
  session: SqlSession,
  inquiry: InquiryDescription,
): Promise<ReturnType<typeof findRepeat>> {
  const rows = await session.rows<Columns<ClaimedNumber>>(
    `SELECT customer_trace_number, customer_id, ordinal, permitted_repeat FROM inquiries
     WHERE run_key = $1 AND product_code = $2 AND environment = $3 AND workflow_type = $4
       AND coalesce(share_id, '') = $5 AND permitted_repeat IS NOT NULL
     ORDER BY permitted_repeat, ordinal`,
    [inquiry.runKey, inquiry.productCode, inquiry.environment, inquiry.workflowType, inquiry.shareId ?? ''],
  );
  const columns = ['customer_trace_number', 'customer_id', 'ordinal', 'permitted_repeat'] as const;
  const numbers = rows.map((row) => toFields(row, columns));
  return findRepeat(numbers, inquiry);
}

/** Makes the inquiry's row where it is missing, and returns whether it did. `markClaimed` adds what a claim says of it. */
export async function insertInquiry({ session, dialect }: Transaction, inquiry: InquiryDescription): Promise<boolean> {
  const inserted = await insertRow(session, 'inquiries', inquiry, {
    sql: () => ({ created_at: dialect.now }),
    orKeep: true,
    only: DESCRIPTION,
  });
  return inserted !== undefined;
}

/** Keeps every other writer of this inquiry out until the transaction ends. Where each transaction does so for all, nothing is asked. */
export async function lockInquiry({ session, dialect }: Transaction, customerTraceNumber: string): Promise<void> {
  if (dialect.forUpdate === '') return;
  await session.rows(`SELECT 1 FROM inquiries WHERE customer_trace_number = $1 ${dialect.forUpdate}`, [
    customerTraceNumber,
  ]);
}

/**
 * The claim itself: INSERT or lose. Returns its place in the sequence, and its time by the database's clock, in
 * milliseconds. Issues all of its statements at once.
 *
 * The transaction holds the counter's lock until its commit, so attempts are committed in the order of their places: a
 * copy that has one attempt has all before it. A claim takes this lock last.
 *
 * @throws LostRaceError also where a pause of the profile, or a withdrawal of the run, came first
 */
export async function insertAttempt(
  { session, dialect }: Transaction,
  request: ClaimRequest,
  { permittedBy, sentTraceNumber }: { permittedBy: string | undefined; sentTraceNumber: string | undefined },
): Promise<{ claimedAt: number; position: number }> {
  const { inquiry, resendAfterMs = 0 } = request;
  const { attempt, run } = request;
  const { customerTraceNumber } = inquiry;
  const columns = { customerTraceNumber, attempt, state: 'sending', ...run, permittedBy, sentTraceNumber } as const;
  const [owner, runOwner] = ownersOfClaim(inquiry.runKey);
  const [, row] = await Promise.all([
    session.rows('UPDATE attempt_counter SET last_position = last_position + 1'),
    insertRow(session, 'attempts', columns, {
      // This statement reads the clock itself, after the wait for every lock: no claim looks older than it is.
      sql: (place) => ({
        position: '(SELECT last_position FROM attempt_counter)',
        // A pause takes the counter's lock too, and so does a withdrawal: one that came since the rules were asked is
        // seen here, and the column takes no NULL.
        claimed_at: `CASE WHEN EXISTS (${selectPauses(place(inquiry.profile))}) OR EXISTS (${selectWithdrawals(place(owner), place(runOwner))}) THEN NULL ELSE ${dialect.now} END`,
        send_by: `${dialect.now} + ${wholeMs(request.sendByMs)}`,
        answer_by: `${dialect.now} + ${wholeMs(request.answerWithinMs)}`,
        ...(resendAfterMs > 0 ? { resend_from: `${dialect.now} + ${wholeMs(resendAfterMs)}` } : {}),
      }),
    }),
  ]);
  return { claimedAt: Number(row?.claimed_at), position: Number(row?.position) };
}

/**
 * Records that the attempt can no longer be claimed. Returns the time of that record, by the database's clock, in
 * milliseconds.
 */
export async function insertClosed(
  { session, dialect }: Transaction,
  { inquiry: { customerTraceNumber }, attempt, digest, run }: CloseRequest,
  permittedBy: string | undefined,
): Promise<number> {
  await session.rows('UPDATE inquiries SET digest = coalesce(digest, $2) WHERE customer_trace_number = $1', [
    customerTraceNumber,
    digest,
  ]);
  const row = await insertRow(
    session,
    'closed_attempts',
    { customerTraceNumber, attempt, ...run, permittedBy },
    { sql: () => ({ closed_at: dialect.now }) },
  );
  return Number(row?.closed_at);
}

/**
 * Adds what a claim says about the inquiry as a whole. The row takes the key that the same inquiry under another number
 * would have.
 *
 * @throws LostRaceError where another number has taken the key since it was read
 */
export async function markClaimed(
  { session }: Transaction,
  request: ClaimRequest & { permittedRepeat: number },
): Promise<void> {
  await session.rows(
    `UPDATE inquiries SET digest = coalesce(digest, $2), workflow_id = $3, run_id = $4,
       applicant_ids = coalesce($5, applicant_ids), permitted_repeat = coalesce(permitted_repeat, $6)
     WHERE customer_trace_number = $1`,
    [
      request.inquiry.customerTraceNumber,
      request.digest,
      request.run.workflowId,
      request.run.runId,
      request.applicantIds && JSON.stringify(request.applicantIds),
      request.permittedRepeat,
    ],
  );
}

/** Writes an overdue `sending` as `unknown`. */
export async function markUnknown({ session, dialect }: Transaction, customerTraceNumber: string): Promise<void> {
  await session.rows(
    `UPDATE attempts SET state = 'unknown', failure_type = 'OutcomeUnknown'
     WHERE customer_trace_number = $1 AND state = 'sending' AND answer_by <= ${dialect.now}`,
    [customerTraceNumber],
  );
}

/** Writes news as the attempt's outcome. Status and request stay unchanged if the news lacks them. */
export async function writeOutcome(tx: Transaction, record: OutcomeRecord): Promise<void> {
  const { http_status, requested_at, ...columns } = newsColumns(record);
  await updateAttempt(
    tx,
    record,
    {
      ...columns,
      ...omitUndefined({ http_status, requested_at }),
      retry_after_ms: record.retryAfterMs,
      answer_kind: record.answer?.kind,
      answer: sealAnswer(tx.cipher, record.answer, record, 'answer'),
    },
    'recorded_at',
  );
}

/** Writes news beside an attempt that was superseded; `withAnswer` is false where the inquiry was disposed of. */
export async function writeLate(tx: Transaction, record: OutcomeRecord, withAnswer: boolean): Promise<void> {
  const late = Object.entries(newsColumns(record)).map(([column, value]) => [`late_${column}`, value] as const);
  const answer = withAnswer ? record.answer : undefined;
  const late_answer = sealAnswer(tx.cipher, answer, record, 'late_answer');
  await updateAttempt(tx, record, { ...Object.fromEntries(late), late_answer }, 'late_at');
}

function newsColumns({ state, failureType, httpStatus, requestedAt, answer }: OutcomeRecord) {
  return {
    state,
    failure_type: failureType,
    http_status: httpStatus,
    requested_at: requestedAt === undefined ? undefined : (parseInstantMs(requestedAt) ?? undefined),
    ...answerColumns(answer),
  };
}

/** @param now a column that takes the time of the database's clock */
export async function updateAttempt(
  { session, dialect }: Transaction,
  { customerTraceNumber, attempt }: { customerTraceNumber: string; attempt: number },
  columns: Readonly<Record<string, SqlValue | undefined>>,
  now?: string,
): Promise<void> {
  const set = Object.keys(columns).map((column, index) => `${column} = $${index + 3}`);
  if (now !== undefined) set.push(`${now} = ${dialect.now}`);
  await session.rows(`UPDATE attempts SET ${set.join(', ')} WHERE customer_trace_number = $1 AND attempt = $2`, [
    customerTraceNumber,
    attempt,
    ...Object.values(columns),
  ]);
}

/** Becomes part of a statement: only a whole number of milliseconds is permitted. */
function wholeMs(ms: number): number {
  if (!Number.isFinite(ms) || ms < 0) throw new RangeError('must be a span of time in milliseconds');
  return Math.ceil(ms);
}

/**
 * Columns of an answer that are readable without a key. A code that is in no table, or of an answer that is not
 * trusted, is unchecked text: it stays in the sealed answer.
 */
export function answerColumns(answer: Answer | undefined) {
  const outcome = answer?.kind === 'outcome' ? answer : undefined;
  const applicants = outcome && outcomesOfApplicants(outcome);
  return {
    outcome: outcome?.outcome,
    return_code: outcome?.returnCode,
    return_reason_code: outcome?.returnReasonCode,
    applicant_outcomes: applicants && applicants.length > 0 ? JSON.stringify(applicants) : undefined,
  };
}

function outcomesOfApplicants(answer: Outcome): ApplicantOutcome[] | undefined {
  const { applicants, reference } = answer;
  if (!applicants) return reference?.applicants.map(({ applicantId }) => ({ applicantId, outcome: 'record' }));
  return applicantOutcomes(
    answer,
    applicants.map(({ applicantId }) => applicantId),
  );
}

// The numbers that one inquiry has under several customers. Pure.

/** A trace number of a stage, pull, share or row under which something was claimed. */
interface ClaimedNumber {
  customerTraceNumber: string;
  customerId: string;
  ordinal: number;
  /** 0 for the first customer; each further one that a decision permits has the next number. */
  permittedRepeat: number;
}

/**
 * The `permittedRepeat` that a customer's numbers of one stage take. Also the number that another customer already has.
 * Two inquiries that differ only in their customer would take the same key: the second needs a decision.
 */
export function findRepeat(
  numbers: readonly ClaimedNumber[],
  { customerTraceNumber, customerId, ordinal }: Pick<ClaimedNumber, 'customerTraceNumber' | 'customerId' | 'ordinal'>,
): { permittedRepeat: number; otherNumber?: string } {
  const others = numbers.filter((known) => known.customerTraceNumber !== customerTraceNumber);
  const taken = others.findLast((known) => known.ordinal === ordinal);
  const own = numbers.find((known) => known.customerId === customerId);
  if (own && taken?.permittedRepeat !== own.permittedRepeat) return { permittedRepeat: own.permittedRepeat };
  const other = taken ?? others.at(-1);
  const next = Math.max(-1, ...others.map((known) => known.permittedRepeat)) + 1;
  return { permittedRepeat: next, ...(other ? { otherNumber: other.customerTraceNumber } : {}) };
}
