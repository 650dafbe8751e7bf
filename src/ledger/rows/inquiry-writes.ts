/** The statements that change `inquiries` and `attempts`. Each is part of a transaction of the ledger. */

import { parseInstantMs } from '../../base/instants.ts';
import { CANONICAL_VERSION } from '../../model/canonical-request.ts';
import type { InquiryDescription } from '../../model/inquiry.ts';
import { repeatOf } from '../claim.ts';
import type { SqlRow, SqlSession, SqlValue } from '../database/sql-session.ts';
import type { Writing } from '../database/writing.ts';
import type { ClaimRequest, CloseRequest, OutcomeRecord } from '../records.ts';
import { currentDigest } from '../request-digests.ts';
import { detailsOf, summaryOf } from './answer-columns.ts';
import { PAUSES_IN_FORCE, sealAnswer } from './inquiry-rows.ts';

/** What a claim adds to its inquiry. */
type Claiming = Pick<ClaimRequest, 'digests' | 'run' | 'applicantIds'> & { permittedRepeat: number };

/**
 * Inserts a row of named columns; `sql` holds the columns whose value is an expression and not a parameter. Returns the
 * `returning` columns of the inserted row, if one was inserted.
 */
export async function insertRow(
  session: SqlSession,
  table: string,
  columns: Record<string, SqlValue | undefined>,
  {
    sql = {},
    onConflict = '',
    returning = ['1 AS inserted'],
  }: { sql?: Record<string, string>; onConflict?: string; returning?: readonly string[] },
): Promise<SqlRow | undefined> {
  const names = [...Object.keys(columns), ...Object.keys(sql)];
  const places = [...Object.keys(columns).map((_, index) => `$${index + 1}`), ...Object.values(sql)];
  const [row] = await session.rows(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')}) ${onConflict} RETURNING ${returning.join(', ')}`,
    Object.values(columns),
  );
  return row;
}

/** The repeat that the claim of this inquiry takes, and the number that another customer already has. */
export async function readRepeat(
  session: SqlSession,
  inquiry: InquiryDescription,
): Promise<ReturnType<typeof repeatOf>> {
  const rows = await session.rows<{
    customer_trace_number: string;
    customer_id: string;
    ordinal: number;
    permitted_repeat: number;
  }>(
    `SELECT customer_trace_number, customer_id, ordinal, permitted_repeat FROM inquiries
     WHERE caller_id = $1 AND product_code = $2 AND environment = $3 AND workflow_type = $4
       AND coalesce(share_id, '') = $5 AND permitted_repeat IS NOT NULL
     ORDER BY permitted_repeat, ordinal`,
    [inquiry.ownerId, inquiry.productCode, inquiry.environment, inquiry.workflowType, inquiry.shareId ?? ''],
  );
  const numbers = rows.map((row) => ({
    customerTraceNumber: row.customer_trace_number,
    customerId: row.customer_id,
    ordinal: row.ordinal,
    permittedRepeat: row.permitted_repeat,
  }));
  return repeatOf(numbers, inquiry);
}

/**
 * Makes the inquiry's row where it is missing, and returns whether it did. With a claim the row has the digest, and
 * takes the key that the same inquiry under another number would have. Where another row has the key, it makes none.
 */
export async function insertInquiry(
  { session, dialect }: Writing,
  inquiry: InquiryDescription,
  claim?: Claiming,
): Promise<boolean> {
  const inserted = await insertRow(
    session,
    'inquiries',
    {
      customer_trace_number: inquiry.customerTraceNumber,
      environment: inquiry.environment,
      profile: inquiry.profile,
      customer_id: inquiry.customerId,
      workflow_type: inquiry.workflowType,
      caller_id: inquiry.ownerId,
      product_code: inquiry.productCode,
      share_id: inquiry.shareId,
      ordinal: inquiry.ordinal,
      permitted_repeat: claim?.permittedRepeat,
      end_user_code: inquiry.endUserCode,
      end_user: inquiry.endUser,
      permissible_purpose_code: inquiry.permissiblePurposeCode,
      amends: inquiry.amends,
      digest: claim && currentDigest(claim.digests),
      digest_version: claim && CANONICAL_VERSION,
      applicant_ids: claim?.applicantIds && JSON.stringify(claim.applicantIds),
      workflow_id: claim?.run.workflowId,
      run_id: claim?.run.runId,
    },
    {
      sql: { created_at: dialect.now },
      onConflict: 'ON CONFLICT DO NOTHING',
    },
  );
  return inserted !== undefined;
}

/** Keeps every other writer of this inquiry out until the transaction ends. */
export async function lockInquiry({ session, dialect }: Writing, customerTraceNumber: string): Promise<void> {
  await session.rows(`SELECT 1 FROM inquiries WHERE customer_trace_number = $1 ${dialect.forUpdate}`, [
    customerTraceNumber,
  ]);
}

/**
 * The next place in the sequence. The transaction holds the row's lock until its commit, so attempts are committed in
 * the order of their places: a copy that has one attempt has all before it. A claim takes this lock last.
 */
async function nextPosition(session: SqlSession): Promise<number> {
  const [row] = await session.rows<{ last_position: number }>(
    'UPDATE attempt_counter SET last_position = last_position + 1 RETURNING last_position',
  );
  if (!row) throw new Error('a ledger without a counter of attempts');
  return row.last_position;
}

/**
 * The claim itself: INSERT or lose. Returns its place, its time by the database's clock, in milliseconds, and how many
 * pauses are in force then, of any profile.
 */
export async function insertAttempt(
  { session, dialect }: Writing,
  request: ClaimRequest,
  permittedBy: string | undefined,
): Promise<{ claimedAt: number; position: number; pausesInForce: number }> {
  const { resendAfterMs = 0 } = request;
  const position = await nextPosition(session);
  const row = await insertRow(
    session,
    'attempts',
    {
      position,
      customer_trace_number: request.inquiry.customerTraceNumber,
      attempt: request.attempt,
      state: 'sending',
      workflow_id: request.run.workflowId,
      run_id: request.run.runId,
      permitted_by: permittedBy,
    },
    {
      // This statement reads the clock itself, after the wait for every lock: no claim looks older than it is.
      sql: {
        claimed_at: dialect.now,
        send_by: `${dialect.now} + ${wholeMs(request.sendByMs)}`,
        answer_by: `${dialect.now} + ${wholeMs(request.answerWithinMs)}`,
        ...(resendAfterMs > 0 ? { resend_from: `${dialect.now} + ${wholeMs(resendAfterMs)}` } : {}),
      },
      // After the counter's lock, which a pause takes too: pauses that came since the rules were asked are seen here.
      returning: ['claimed_at', `${PAUSES_IN_FORCE} AS pauses`],
    },
  );
  return { claimedAt: Number(row?.claimed_at), position, pausesInForce: Number(row?.pauses) };
}

/**
 * Records that the attempt can no longer be claimed. Returns the time of that record, by the database's clock, in
 * milliseconds.
 */
export async function insertClosed(
  { session, dialect }: Writing,
  { inquiry: { customerTraceNumber }, attempt, digests, run }: CloseRequest,
  permittedBy: string | undefined,
): Promise<number> {
  await session.rows(
    `UPDATE inquiries SET digest = coalesce(digest, $2), digest_version = coalesce(digest_version, $3)
     WHERE customer_trace_number = $1`,
    [customerTraceNumber, currentDigest(digests), CANONICAL_VERSION],
  );
  const row = await insertRow(
    session,
    'closed_attempts',
    {
      customer_trace_number: customerTraceNumber,
      attempt,
      workflow_id: run.workflowId,
      run_id: run.runId,
      permitted_by: permittedBy,
    },
    { sql: { closed_at: dialect.now }, returning: ['closed_at'] },
  );
  return Number(row?.closed_at);
}

/** Adds to an existing row what a claim says about the inquiry as a whole. */
export async function markClaimed({ session }: Writing, request: ClaimRequest & Claiming): Promise<void> {
  await session.rows(
    `UPDATE inquiries SET digest = coalesce(digest, $2), digest_version = coalesce(digest_version, $6),
       workflow_id = $3, run_id = $4, applicant_ids = coalesce($5, applicant_ids),
       permitted_repeat = coalesce(permitted_repeat, $7)
     WHERE customer_trace_number = $1`,
    [
      request.inquiry.customerTraceNumber,
      currentDigest(request.digests),
      request.run.workflowId,
      request.run.runId,
      request.applicantIds && JSON.stringify(request.applicantIds),
      CANONICAL_VERSION,
      request.permittedRepeat,
    ],
  );
}

/** Writes an overdue `sending` as `unknown`. */
export async function markUnknown({ session, dialect }: Writing, customerTraceNumber: string): Promise<void> {
  await session.rows(
    `UPDATE attempts SET state = 'unknown', failure_type = 'OutcomeUnknown'
     WHERE customer_trace_number = $1 AND state = 'sending' AND answer_by <= ${dialect.now}`,
    [customerTraceNumber],
  );
}

/** Writes news as the attempt's outcome. */
export async function writeOutcome({ session, dialect, cipher }: Writing, record: OutcomeRecord): Promise<void> {
  const row = { customer_trace_number: record.customerTraceNumber, attempt: record.attempt };
  const told = { ...summaryOf(record.answer), ...detailsOf(record.answer) };
  await session.rows(
    `UPDATE attempts SET state = $3, failure_type = $4, http_status = coalesce($5, http_status), retry_after_ms = $6,
       requested_at = coalesce($7, requested_at), answer_kind = $8, outcome = $9, return_code = $10, answer = $11,
       return_reason_code = $12, applicant_outcomes = $13, recorded_at = ${dialect.now}
     WHERE customer_trace_number = $1 AND attempt = $2`,
    [
      record.customerTraceNumber,
      record.attempt,
      record.state,
      record.failureType,
      record.httpStatus,
      record.retryAfterMs,
      instantMs(record.requestedAt),
      told.kind,
      told.outcome,
      told.returnCode,
      sealAnswer(cipher, record.answer, row, 'answer'),
      told.reasonCode,
      told.applicantOutcomes,
    ],
  );
}

/**
 * Writes news beside an attempt that was superseded, and marks the inquiry for attention; `withAnswer` is false where
 * the inquiry was disposed of.
 */
export async function writeLate(
  { session, dialect, cipher }: Writing,
  record: OutcomeRecord,
  withAnswer: boolean,
): Promise<void> {
  const row = { customer_trace_number: record.customerTraceNumber, attempt: record.attempt };
  const told = { ...summaryOf(record.answer), ...detailsOf(record.answer) };
  await session.rows(
    `UPDATE attempts SET late_at = ${dialect.now}, late_state = $3, late_failure_type = $4, late_http_status = $5,
       late_requested_at = $6, late_outcome = $7, late_answer = $8, late_return_code = $9,
       late_return_reason_code = $10, late_applicant_outcomes = $11
     WHERE customer_trace_number = $1 AND attempt = $2`,
    [
      record.customerTraceNumber,
      record.attempt,
      record.state,
      record.failureType,
      record.httpStatus,
      instantMs(record.requestedAt),
      told.outcome,
      sealAnswer(cipher, withAnswer ? record.answer : undefined, row, 'late_answer'),
      told.returnCode,
      told.reasonCode,
      told.applicantOutcomes,
    ],
  );
  await drawAttention({ session, dialect, cipher }, 'late_answer_at', record.customerTraceNumber);
}

/** Marks an inquiry for a person's attention. News after a person has seen it raises it again. */
export async function drawAttention(
  { session, dialect }: Writing,
  column: 'late_answer_at' | 'late_consent_at',
  customerTraceNumber: string,
): Promise<void> {
  await session.rows(
    `UPDATE inquiries SET ${column} = CASE
       WHEN ${column} > (SELECT coalesce(max(s.seen_at), -1) FROM attention_seen s WHERE s.customer_trace_number = $1)
       THEN ${column} ELSE ${dialect.now} END
     WHERE customer_trace_number = $1`,
    [customerTraceNumber],
  );
}

function instantMs(text: string | undefined): number | null {
  return text === undefined ? null : parseInstantMs(text);
}

/** Becomes part of a statement: only a whole number of milliseconds is permitted. */
function wholeMs(ms: number): number {
  if (!Number.isFinite(ms) || ms < 0) throw new RangeError('must be a span of time in milliseconds');
  return Math.ceil(ms);
}
