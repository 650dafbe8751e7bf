/** Rules that say which inquiries need a decision, as parts of statements, and the one reader of an inquiry's needs. */
import { FAILURE_TYPES, type FailureType } from '../../model/failure-types.ts';
import { LATE_NEWS, NOT_POSTED_STATES, REASON_OF_STATE } from '../../model/inquiry.ts';
import { judgesAttempts } from '../audit/audited.ts';
import { HELD_STATES } from '../claim.ts';
import type { SqlDialect, SqlSession, Transaction } from '../database/sql-session.ts';
import type { AttemptRow } from '../inquiries/inquiry-rows.ts';
import { readInquiries } from '../inquiries/inquiry-views.ts';
import type { AttentionReason, OpenInquiry } from '../records.ts';

/** Failure types whose decisions judge no attempt. */
const JUDGING_NONE = list(FAILURE_TYPES.filter((type) => !judgesAttempts(type)));

/** The latest attempt of an undecided inquiry. */
const IS_UNDECIDED = `a.claimed_at >= $1
  AND NOT EXISTS (SELECT 1 FROM attempts b
    WHERE b.customer_trace_number = a.customer_trace_number AND b.attempt > a.attempt)
  AND NOT EXISTS (SELECT 1 FROM inquiries i
    WHERE i.customer_trace_number = a.customer_trace_number AND i.abandoned_at IS NOT NULL)
  -- What was decided about an attempt that was not claimed by then, or about another request, has judged none.
  AND NOT EXISTS (SELECT 1 FROM decisions d
    WHERE d.customer_trace_number = a.customer_trace_number AND d.attempt = a.attempt
      AND (d.action = 'amend' OR d.permits_attempt IS NOT NULL)
      AND (d.failure_type IS NULL OR d.failure_type NOT IN (${JUDGING_NONE})))`;

/**
 * An attempt that was answered late and is still to be judged, as `lateToJudge` has it. The latest attempt may be followed
 * by another one.
 */
const IS_LATE_TO_JUDGE = `a.late_state = 'answered' AND a.claimed_at >= $1 AND i.abandoned_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.customer_trace_number = a.customer_trace_number
    AND (b.state = 'accepted' OR (b.attempt > a.attempt AND b.late_state = 'answered')))
  AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.customer_trace_number = a.customer_trace_number
    AND b.state NOT IN (${list(NOT_POSTED_STATES)})
    AND NOT EXISTS (SELECT 1 FROM attempts c WHERE c.customer_trace_number = b.customer_trace_number
      AND c.attempt > b.attempt)
    AND (b.state = 'answered' OR NOT EXISTS (SELECT 1 FROM decisions d
      WHERE d.customer_trace_number = b.customer_trace_number AND d.permits_attempt = b.attempt + 1)))`;

/** Returns a subquery for the undecided inquiries of the subquery `within`. `$1` is 0: it considers claims since then. */
export function undecidedSelection(dialect: SqlDialect, within: string): string {
  const isWithin = `AND a.customer_trace_number IN (${within})`;
  const states = [
    `a.state IN (${list(HELD_STATES)})`,
    // Counts as `unknown`, also where that is not written yet.
    `a.state = 'sending' AND a.answer_by <= ${dialect.now}`,
    "a.state = 'answered' AND a.answer_kind <> 'outcome'",
  ];
  return [
    ...states.map(
      (isOpen) => `SELECT a.customer_trace_number FROM attempts a WHERE ${isOpen} ${isWithin} AND ${IS_UNDECIDED}`,
    ),
    `SELECT a.customer_trace_number FROM inquiries i JOIN attempts a ON a.customer_trace_number = i.customer_trace_number
     WHERE ${IS_LATE_TO_JUDGE} ${isWithin}`,
  ].join(' UNION ');
}

/** Returns a subquery for the inquiries of the subquery `within` with late news that no operator has acknowledged. */
export function attentionSelection(within: string): string {
  return `SELECT w.customer_trace_number FROM work_for_people w WHERE w.kind = 'flagged' AND w.closed_at IS NULL
    AND w.reason IN (${list(LATE_NEWS)}) AND w.customer_trace_number IN (${within})`;
}

/** Reads one inquiry, whether or not it needs a person; or returns `null`. */
export async function readInquiry(tx: Transaction, customerTraceNumber: string): Promise<OpenInquiry | null> {
  const { session, dialect } = tx;
  const [view] = await readInquiries(tx, { traceNumbers: '$1', values: [customerTraceNumber] });
  if (!view) return null;
  const undecided = await readUndecided(session, dialect, customerTraceNumber);
  const flags = await session.rows<{ reason: AttentionReason }>(
    `SELECT reason FROM work_for_people WHERE kind = 'flagged' AND closed_at IS NULL AND customer_trace_number = $1
     AND reason IN (${list(LATE_NEWS)}) ORDER BY reason`,
    [customerTraceNumber],
  );
  return {
    ...view,
    ...(undecided ? { undecided: { attempt: undecided.attempt, failureType: undecided.reason } } : {}),
    attention: flags.map(({ reason }) => reason),
  };
}

/** Returns the part of one inquiry that needs a decision, if any. */
export async function readUndecided(
  session: SqlSession,
  dialect: SqlDialect,
  customerTraceNumber: string,
): Promise<{ attempt: number; reason: FailureType } | undefined> {
  const values = [0, customerTraceNumber];
  const [late] = await session.rows<Pick<AttemptRow, 'attempt'>>(
    `SELECT a.attempt FROM attempts a JOIN inquiries i ON i.customer_trace_number = a.customer_trace_number
     WHERE a.customer_trace_number = $2 AND ${IS_LATE_TO_JUDGE}`,
    values,
  );
  if (late) return { attempt: late.attempt, reason: 'AnsweredLate' };
  const [row] = await session.rows<Pick<AttemptRow, 'attempt' | 'state' | 'answer_kind' | 'failure_type'>>(
    `SELECT a.attempt, a.state, a.answer_kind, a.failure_type FROM attempts a
     WHERE a.customer_trace_number IN (${undecidedSelection(dialect, '$2')}) ORDER BY a.attempt DESC LIMIT 1`,
    values,
  );
  return row && { attempt: row.attempt, reason: toReason(row) };
}

/**
 * The reason of an attempt that the query calls undecided: its `sending` is overdue, or its `answered` is no outcome.
 */
function toReason(row: Pick<AttemptRow, 'state' | 'answer_kind' | 'failure_type'>): FailureType {
  if (row.state === 'answered') {
    return row.answer_kind === 'returnCodeUnknown' ? 'ReturnCodeUnknown' : (row.failure_type ?? 'UnexpectedResponse');
  }
  return REASON_OF_STATE[row.state] ?? 'OutcomeUnknown';
}

/** A list of words for `IN`. */
function list(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
