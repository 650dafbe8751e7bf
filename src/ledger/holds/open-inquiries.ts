/** Says which inquiries need a decision. The claim's own rules judge that, over everything that the ledger knows of one. */
import type { FailureType } from '../../model/failure-types.ts';
import { LATE_NEWS, REASON_OF_STATE } from '../../model/inquiry.ts';
import { judgesAttempts } from '../audit/audited.ts';
import { effectiveState, findLatest, HELD_STATES, lateToJudge } from '../claim.ts';
import type { SqlDialect, Transaction, Unsealed } from '../database/sql-session.ts';
import { type InquiryState, readState } from '../inquiries/inquiry-rows.ts';
import { readInquiries } from '../inquiries/inquiry-views.ts';
import type { AttentionReason, OpenInquiry } from '../records.ts';

interface Undecided {
  attempt: number;
  reason: FailureType;
}

/** Finds the attempt of the inquiry that needs a decision, and why. */
function findUndecided({ known, attempts, decisions }: InquiryState): Undecided | undefined {
  const latest = findLatest(known);
  if (!latest || known.abandoned) return undefined;
  const late = lateToJudge(known);
  if (late) return { attempt: late.attempt, reason: 'AnsweredLate' };
  const { attempt, answerKind } = latest;
  const state = effectiveState(latest);
  const isDoubtful = state === 'answered' && answerKind !== 'outcome';
  // A decision about an attempt that was not claimed by then, or about another request, has judged none.
  const isJudged = decisions.some(
    (row) =>
      row.attempt === attempt &&
      (row.action === 'amend' || row.permits_attempt !== null) &&
      judgesAttempts(row.failure_type),
  );
  if (isJudged || !(isDoubtful || HELD_STATES.includes(state))) return undefined;
  if (!isDoubtful) return { attempt, reason: REASON_OF_STATE[state] ?? 'OutcomeUnknown' };
  const failureType = attempts.find((row) => row.attempt === attempt)?.failure_type ?? 'UnexpectedResponse';
  return { attempt, reason: answerKind === 'returnCodeUnknown' ? 'ReturnCodeUnknown' : failureType };
}

/** Reads what of one inquiry needs a decision, if anything. */
export async function readUndecided(tx: Unsealed, customerTraceNumber: string): Promise<Undecided | undefined> {
  return findUndecided(await readState(tx, customerTraceNumber));
}

/** Selects the inquiries of the subquery `within` that may need a decision: the rules judge each. */
export function selectDoubtful({ now }: SqlDialect, within: string): string {
  return `SELECT DISTINCT a.customer_trace_number FROM attempts a WHERE a.customer_trace_number IN (${within})
    AND (a.state IN (${list(HELD_STATES)}) OR a.late_state = 'answered' OR (a.state = 'sending' AND a.answer_by <= ${now})
      OR (a.state = 'answered' AND a.answer_kind <> 'outcome'))`;
}

/** An open flag `w` for late news that no operator has acknowledged. */
export const IS_LATE_NEWS = `w.kind = 'flagged' AND w.closed_at IS NULL AND w.reason IN (${list(LATE_NEWS)})`;

/** Reads one inquiry, whether or not it needs a person; or returns `null`. */
export async function readInquiry(tx: Transaction, customerTraceNumber: string): Promise<OpenInquiry | null> {
  const [view] = await readInquiries(tx, { traceNumbers: '$1', values: [customerTraceNumber] });
  if (!view) return null;
  const undecided = await readUndecided(tx, customerTraceNumber);
  const flags = await tx.session.rows<{ reason: AttentionReason }>(
    `SELECT reason FROM work_for_people w WHERE ${IS_LATE_NEWS} AND customer_trace_number = $1 ORDER BY reason`,
    [customerTraceNumber],
  );
  return {
    ...view,
    ...(undecided ? { undecided: { attempt: undecided.attempt, failureType: undecided.reason } } : {}),
    attention: flags.map(({ reason }) => reason),
  };
}

/** A list of words for `IN`. */
function list(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
