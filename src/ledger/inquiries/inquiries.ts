/** Inquiries with their attempts and decisions: rows, what the rules judge of them, and what callers see. */
import { utcInstant } from '../../base/instants.ts';
import type { FailureType } from '../../model/failure-types.ts';
import {
  type Answer,
  type AttemptView,
  type InquiryDescription,
  LATE_NEWS,
  type Outcome,
  REASON_OF_STATE,
} from '../../model/inquiry.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { judgesAttempts } from '../audit/audited.ts';
import {
  effectiveAttempt,
  effectiveState,
  findLatest,
  HELD_STATES,
  type KnownInquiry,
  lateToJudge,
  permitFor,
} from '../claim.ts';
import { toFields } from '../database/rows.ts';
import type { SqlDialect, SqlSession, SqlValue, Transaction, Unsealed } from '../database/sql-session.ts';
import type { RawRow as Row } from '../database/tables.ts';
import { isInForce } from '../orders.ts';
import { reviewOfRow } from '../owners.ts';
import type { AttentionReason, DecisionRecord, InquiryView, OpenInquiry } from '../records.ts';
import { decisionDifferences } from './rules.ts';

/** Columns that identify an inquiry and say whom it is for. */
export const DESCRIPTION = [
  'customer_trace_number',
  'environment',
  'profile',
  'customer_id',
  'workflow_type',
  'run_key',
  'product_code',
  'ordinal',
  'share_id',
  'end_user_code',
  'end_user',
  'permissible_purpose_code',
  'amends',
] as const;

export type InquiryRow = Row<'inquiries'>;
export type AttemptRow = Row<'attempts'> & { refusals_kept: number };
export type DecisionRow = Row<'decisions'>;
/** A row of an attempt that was closed before any claim. */
type ClosedRow = Row<'closed_attempts'>;

/** Columns with the content of a decision, except which attempt it permits. */
const DECISION = [
  'decision_id',
  'customer_trace_number',
  'attempt',
  'action',
  'by',
  'reason',
  'provider_said',
  'decided_at',
  'failure_type',
  'confirm_consumer_ids',
  'proven_by',
] as const;

/** Everything about one trace number, at one instant of the database's clock. */
export interface InquiryState {
  known: KnownInquiry;
  inquiry: InquiryRow | null;
  /** The claimed attempts. */
  attempts: AttemptRow[];
  closed: ClosedRow[];
  decisions: DecisionRow[];
  nowMs: number;
}

/** How many bodies of refusals are kept of the attempt of a row with this alias. */
export const countRefusals = (alias: string) => `(SELECT count(*) FROM sealed_bodies b
  WHERE b.customer_trace_number = ${alias}.customer_trace_number AND b.attempt = ${alias}.attempt
    AND b.kind = 'refusal' AND b.late = 0 AND b.body IS NOT NULL) AS refusals_kept`;

const ATTEMPTS = `SELECT a.*, ${countRefusals('a')} FROM attempts a`;

/** The number of begun disposals of the owner of an inquiry `i`. */
export const DISPOSALS_BEGUN =
  "(SELECT count(*) FROM orders o WHERE o.run_key = i.run_key AND o.kind = 'disposalBegun')";

/** The pauses in force of a profile, given as a parameter. */
export const selectPauses = (profile: string) =>
  `SELECT 1 FROM orders p WHERE (p.profile IS NULL OR p.profile = ${profile}) AND ${isInForce('p', 'pauseBegun')}`;

/** The run of an inquiry, and of a review's row also the review: whose withdrawals its claim reads. */
export function ownersOfClaim(runKey: string): [runKey: string, runId: string] {
  return [runKey, reviewOfRow(runKey) ?? runKey];
}

/** The withdrawals of these owners, given as parameters. */
export const selectWithdrawals = (runKey: string, runId: string) =>
  `SELECT 1 FROM run_decisions w WHERE w.action = 'withdraw' AND w.run_key IN (${runKey}, ${runId})`;

interface StateRow extends InquiryRow {
  ledger_id: string;
  oldest_writer: number;
  now: number;
  disposals_begun: number;
  pauses: number;
  withdrawals: number;
}

/**
 * Reads the state. A transaction that will write locks the row before, so that the state stays true until the commit.
 *
 * @param claimedFor run and profile of the inquiry, for a claim: their withdrawals and pauses are read too
 */
export async function readState(
  { session, dialect }: Unsealed,
  customerTraceNumber: string,
  claimedFor: { runKey: string; profile: string } = { runKey: '', profile: '' },
): Promise<InquiryState> {
  const readAbout = <Row>(text: string) =>
    session.rows<Row>(`${text} WHERE customer_trace_number = $1 ORDER BY attempt`, [customerTraceNumber]);
  const [[row], attempts, closed, decisions] = await Promise.all([
    session.rows<StateRow>(
      `SELECT i.*, l.ledger_id, l.oldest_writer, ${dialect.now} AS now, ${DISPOSALS_BEGUN} AS disposals_begun,
         (SELECT count(*) FROM (${selectPauses('$4')}) paused) AS pauses,
         (SELECT count(*) FROM (${selectWithdrawals('$2', '$3')}) withdrawn) AS withdrawals
       FROM ledger_identity l LEFT JOIN inquiries i ON i.customer_trace_number = $1`,
      [customerTraceNumber, ...ownersOfClaim(claimedFor.runKey), claimedFor.profile],
    ),
    readAbout<AttemptRow>(ATTEMPTS),
    readAbout<ClosedRow>('SELECT * FROM closed_attempts'),
    readAbout<DecisionRow>('SELECT * FROM decisions'),
  ]);
  if (!row) throw new Error('a ledger without identity');
  const inquiry = row.customer_trace_number === null ? null : row;
  const isBegun = row.disposals_begun > 0 || (await isReviewDisposed(session, inquiry));
  const disposal = row.disposed_at !== null ? 'done' : isBegun ? 'begun' : undefined;
  const known: KnownInquiry = {
    ledgerId: row.ledger_id,
    oldestWriter: row.oldest_writer,
    digest: inquiry?.digest ?? null,
    isPaused: row.pauses > 0,
    isWithdrawn: row.withdrawals > 0,
    abandoned: (inquiry?.abandoned_at ?? null) !== null,
    ...(disposal ? { disposal } : {}),
    attempts: [
      ...attempts.map((attempt) => ({
        attempt: attempt.attempt,
        state: attempt.state,
        answerInMs: attempt.answer_by - row.now,
        ...(attempt.resend_from === null ? {} : { resendInMs: attempt.resend_from - row.now }),
        ...(attempt.answer_kind === null ? {} : { answerKind: attempt.answer_kind }),
        ...(attempt.late_state === 'answered' ? { answeredLate: true as const } : {}),
      })),
      ...closed.map(({ attempt }) => ({ attempt, state: 'notSent' as const, answerInMs: 0, closed: true as const })),
    ].sort(byAttempt),
    decisions: decisions.map((decision) => ({
      decisionId: decision.decision_id,
      action: decision.action,
      attempt: decision.attempt,
      ...(decision.permits_attempt === null ? {} : { permitsAttempt: decision.permits_attempt }),
    })),
  };
  return { known, inquiry, attempts, closed, decisions, nowMs: row.now };
}

/** Whether a whole review was disposed of: that closes each of the review's rows. */
export async function isReviewDisposed(
  session: SqlSession,
  inquiry: Pick<InquiryRow, 'run_key'> | null,
): Promise<boolean> {
  const review = inquiry && reviewOfRow(inquiry.run_key);
  if (!review) return false;
  const rows = await session.rows("SELECT 1 FROM orders WHERE run_key = $1 AND kind = 'disposalBegun' LIMIT 1", [
    review,
  ]);
  return rows.length > 0;
}

export function sealAnswer(
  cipher: LedgerCipher,
  answer: Answer | undefined,
  { customerTraceNumber, attempt }: { customerTraceNumber: string; attempt: number },
  column: string,
): Uint8Array | null {
  return answer ? cipher.sealValue(answer, column, customerTraceNumber, String(attempt)) : null;
}

export function openAnswer(
  cipher: LedgerCipher,
  sealed: Uint8Array,
  row: { customer_trace_number: string; attempt: number },
  column: string,
): Answer {
  return cipher.unsealValue(sealed, column, row.customer_trace_number, String(row.attempt)) as Answer;
}

/** The columns that may hold an answer. */
export const ANSWERS = ['answer', 'accepted_answer', 'late_answer'] as const;

/** Opens the answer of a column, where it holds one that was understood. */
export function openOutcome<Column extends (typeof ANSWERS)[number]>(
  cipher: LedgerCipher,
  row: Pick<AttemptRow, 'customer_trace_number' | 'attempt' | Column>,
  column: Column,
): Outcome | undefined {
  const sealed: Uint8Array | null = row[column];
  const answer = sealed && openAnswer(cipher, sealed, row, column);
  return answer?.kind === 'outcome' ? answer : undefined;
}

export function byAttempt(a: { attempt: number }, b: { attempt: number }): number {
  return a.attempt - b.attempt;
}

// Inquiries in the form that callers see.

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

/** All inquiries of one owner (model/run-key.ts: a `journeyId`, `pull:<pullId>`), oldest first. */
export function readInquiriesOfOwner(tx: Transaction, runKey: string): Promise<InquiryView[]> {
  return readInquiries(tx, 'SELECT customer_trace_number FROM inquiries WHERE run_key = $1', [runKey]);
}

/**
 * The selected inquiries with their attempts and decisions, oldest first.
 *
 * @param traceNumbers a subquery, with its `values`
 */
export async function readInquiries(
  { session, dialect, cipher }: Transaction,
  traceNumbers: string,
  values: readonly SqlValue[],
): Promise<InquiryView[]> {
  const selected = `customer_trace_number IN (${traceNumbers})`;
  const inquiries = await session.rows<InquiryRow & { now: number }>(
    `SELECT i.*, ${dialect.now} AS now FROM inquiries i WHERE i.${selected} ORDER BY i.created_at, i.ordinal, i.customer_trace_number`,
    values,
  );
  if (inquiries.length === 0) return [];
  const readAbout = async <Row extends { customer_trace_number: string }>(text: string, order: string) =>
    Map.groupBy(
      await session.rows<Row>(`${text} WHERE ${selected} ORDER BY ${order}`, values),
      (row) => row.customer_trace_number,
    );
  const [attempts, closed, decisions] = await Promise.all([
    readAbout<AttemptRow>(ATTEMPTS, 'attempt'),
    readAbout<ClosedRow>('SELECT * FROM closed_attempts', 'attempt'),
    readAbout<DecisionRow>('SELECT * FROM decisions', 'recorded_at'),
  ]);
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
export function differencesToDecided(
  { attempts, decisions }: InquiryState,
  sent: DecisionRecord,
  cipher: LedgerCipher,
): string[] {
  const row = decisions.find(({ decision_id }) => decision_id === sent.decisionId);
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

// Inquiries that need a decision. The rules of the claim judge that.

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
  const [view] = await readInquiries(tx, '$1', [customerTraceNumber]);
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
