/** Inquiries, attempts and decisions in the form that callers see. */

import { utcInstant } from '../../base/instants.ts';
import type { AttemptView, InquiryDescription } from '../../model/inquiry.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { effectiveAttempt, effectiveState, findLatest, lateToJudge, permitFor } from '../claim.ts';
import { toFields } from '../database/rows.ts';
import type { SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import type { DecisionRecord, InquiryView } from '../records.ts';
import { decisionDifferences } from './decision.ts';
import {
  ATTEMPTS,
  type AttemptRow,
  byAttempt,
  type ClosedRow,
  DECISION,
  DESCRIPTION,
  type DecisionRow,
  type InquiryRow,
  type InquiryState,
  openAnswer,
} from './inquiry-rows.ts';

/**
 * The state of the inquiry: its latest attempt, or that it was abandoned. `null` where nothing was claimed or
 * abandoned. An inquiry that was abandoned before any claim shows attempt 0. A run sees a disposed inquiry as
 * abandoned: nothing is ever sent for it, and no answer is left.
 */
export function latestView(state: InquiryState, cipher: LedgerCipher): AttemptView | null {
  const { known } = state;
  const latest = findLatest(known);
  const effective = effectiveAttempt(known);
  const row = state.attempts.find(({ attempt }) => attempt === effective?.attempt);
  if (state.inquiry && (known.abandoned || known.disposal)) {
    return {
      attempt: latest?.attempt ?? 0,
      state: 'abandoned',
      ...(row ? toFields(row, ['claimed_at']) : {}),
    };
  }
  if (effective?.closed) return closedView(state.closed.at(-1) as ClosedRow);
  if (!row || !latest) return null;
  const isEarlier = latest.attempt > row.attempt ? { latest: latest.attempt } : {};
  if (lateToJudge(known)) return { ...lateView(row), ...isEarlier };
  if (row.accepted_answer) return { ...attemptView(row, state.nowMs, cipher), ...isEarlier };
  const resendStands = permitFor(known, row.attempt + 1) !== undefined;
  return { ...attemptView(row, state.nowMs, cipher), ...(resendStands ? { resendStands } : {}) };
}

/** Like `latestView`, for an inquiry that must have a state: an unclaimed one was not sent. */
export function standingView(state: InquiryState, cipher: LedgerCipher): AttemptView {
  return latestView(state, cipher) ?? { attempt: 0, state: 'notSent' };
}

function closedView(row: ClosedRow): AttemptView {
  return { ...toFields(row, ['attempt', 'closed_at', 'run_id']), state: 'notSent' };
}

/** The attempt was posted, and a person must name its outcome: its answer is not the outcome. */
function lateView(row: AttemptRow): AttemptView {
  return { ...toFields(row, ['attempt', 'claimed_at', 'run_id']), state: 'unknown', failureType: 'AnsweredLate' };
}

function attemptView(row: AttemptRow, nowMs: number, cipher: LedgerCipher): AttemptView {
  const answerInMs = row.answer_by - nowMs;
  const state = effectiveState({ attempt: row.attempt, state: row.state, answerInMs });
  const failureType = row.failure_type ?? (state === 'unknown' ? 'OutcomeUnknown' : null);
  const sealed = row.accepted_answer ?? row.answer;
  const column = row.accepted_answer ? 'accepted_answer' : 'answer';
  return {
    ...toFields(row, ['attempt', 'run_id', 'sent_trace_number', 'http_status', 'retry_after_ms', 'claimed_at']),
    state,
    ...(state === 'sending' ? { waitMs: answerInMs } : {}),
    ...(failureType === null || row.accepted_answer ? {} : { failureType }),
    ...(state === 'unknown' && row.resend_from !== null ? { resendFrom: utcInstant(row.resend_from) } : {}),
    ...(row.refusals_kept > 0 ? { refusalKept: true as const } : {}),
    ...(sealed ? { answer: openAnswer(cipher, sealed, row, column) } : {}),
  };
}

/** A selection of inquiries: a subquery for their trace numbers, and its values. */
interface InquirySelection {
  traceNumbers: string;
  values: readonly SqlValue[];
}

/** All inquiries of one owner (model/run-key.ts: a `journeyId`, `pull:<pullId>`), oldest first. */
export function readInquiriesOfOwner(tx: Transaction, runKey: string): Promise<InquiryView[]> {
  const traceNumbers = 'SELECT customer_trace_number FROM inquiries WHERE run_key = $1';
  return readInquiries(tx, { traceNumbers, values: [runKey] });
}

/** The selected inquiries with their attempts and decisions, oldest first. */
export async function readInquiries(
  { session, dialect, cipher }: Transaction,
  { traceNumbers, values }: InquirySelection,
): Promise<InquiryView[]> {
  const selected = `customer_trace_number IN (${traceNumbers})`;
  const inquiries = await session.rows<InquiryRow & { now: number }>(
    `SELECT i.*, ${dialect.now} AS now FROM inquiries i WHERE i.${selected} ORDER BY i.created_at, i.ordinal, i.customer_trace_number`,
    values,
  );
  if (inquiries.length === 0) return [];
  const allAttempts = await session.rows<AttemptRow>(`${ATTEMPTS} WHERE ${selected} ORDER BY attempt`, values);
  const allDecisions = await session.rows<DecisionRow>(
    `SELECT * FROM decisions WHERE ${selected} ORDER BY recorded_at`,
    values,
  );
  const allClosed = await session.rows<ClosedRow>(
    `SELECT * FROM closed_attempts WHERE ${selected} ORDER BY attempt`,
    values,
  );
  const closed = Map.groupBy(allClosed, (row) => row.customer_trace_number);
  const attempts = Map.groupBy(allAttempts, (row) => row.customer_trace_number);
  const decisions = Map.groupBy(allDecisions, (row) => row.customer_trace_number);
  return inquiries.map((row) => {
    const own = attempts.get(row.customer_trace_number) ?? [];
    const decided = decisions.get(row.customer_trace_number) ?? [];
    const [first] = own;
    const resendStands = decided.some(({ permits_attempt }) => permits_attempt === (own.at(-1)?.attempt ?? 0) + 1);
    return {
      ...inquiryView(row),
      ...(first ? { firstClaimedAt: utcInstant(first.claimed_at) } : {}),
      attempts: [
        ...own.map((attempt) => ({
          ...attemptView(attempt, row.now, cipher),
          ...toFields(attempt, ['requested_at']),
          ...(attempt.late_at === null ? {} : { lateAnswerAt: utcInstant(attempt.late_at) }),
          ...(attempt.late_state === 'answered' ? { answeredLate: true as const } : {}),
          ...(resendStands && attempt === own.at(-1) ? { resendStands } : {}),
        })),
        ...(closed.get(row.customer_trace_number) ?? []).map(closedView),
      ].sort(byAttempt),
      decisions: decided.map((decision) => decisionView(decision, own, cipher)),
    };
  });
}

function inquiryView(row: InquiryRow): InquiryDescription & Omit<InquiryView, 'attempts' | 'decisions'> {
  return {
    ...toFields(row, [...DESCRIPTION, 'created_at']),
    ...toFields(row, ['applicant_ids', 'workflow_id', 'run_id', 'abandoned_at', 'disposed_at']),
  };
}

/** The paths where a decision differs from the one that was written under its id: the id was used for two decisions. */
export async function differencesToDecided(
  session: SqlSession,
  { known, attempts }: InquiryState,
  sent: DecisionRecord,
  cipher: LedgerCipher,
): Promise<string[]> {
  if (!known.decisions.some(({ decisionId }) => decisionId === sent.decisionId)) return [];
  const [row] = await session.rows<DecisionRow>(
    'SELECT * FROM decisions WHERE customer_trace_number = $1 AND decision_id = $2',
    [sent.customerTraceNumber, sent.decisionId],
  );
  // The first requester of a repeat counts, even if a later run names another one.
  if (!row || (row.action === 'repeat' && sent.action === 'repeat')) return [];
  return decisionDifferences(decisionView(row, attempts, cipher), sent);
}

/**
 * An accepted answer is stored once, with the attempt: decisions are never changed, and the answer may have to be
 * destroyed.
 */
function decisionView(row: DecisionRow, attempts: readonly AttemptRow[], cipher: LedgerCipher): DecisionRecord {
  const accepted = attempts.find(({ accepted_by }) => accepted_by === row.decision_id);
  return {
    ...toFields(row, DECISION),
    ...(accepted?.accepted_answer
      ? { answer: openAnswer(cipher, accepted.accepted_answer, accepted, 'accepted_answer') }
      : {}),
  };
}
