/** Rows of `inquiries`, `attempts` and `decisions`: how they are read, and what they mean. */

import type { DecisionAction, FailureType } from '../../model/failure-types.ts';
import type { Answer, AttemptState, AttemptView, InquiryDescription } from '../../model/inquiry.ts';
import type { Environment, ProductCode } from '../../model/products.ts';
import type { ReportOutcome } from '../../model/report-outcome.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { type KnownInquiry, latestOf, permitFor, standing } from '../claim.ts';
import { OLDEST_WRITER } from '../database/schema.ts';
import type { SqlDialect, SqlSession, SqlValue } from '../database/sql-session.ts';
import { decisionDifferences } from '../decision-differences.ts';
import type { DecisionRecord, InquiryView } from '../records.ts';
import { reviewOfRow } from './owner-rows.ts';

export interface InquiryRow {
  customer_trace_number: string;
  environment: Environment;
  profile: string;
  customer_id: string;
  workflow_type: string;
  caller_id: string;
  product_code: ProductCode;
  share_id: string | null;
  ordinal: number;
  end_user_code: string | null;
  end_user: string | null;
  permissible_purpose_code: string | null;
  amends: string | null;
  /** A JSON list. */
  applicant_ids: string | null;
  digest: string | null;
  /** Of the canonical form that the digest was made in. */
  digest_version: string | null;
  created_at: number;
  workflow_id: string | null;
  run_id: string | null;
  abandoned_at: number | null;
  late_answer_at: number | null;
  late_consent_at: number | null;
  legal_hold_at: number | null;
  disposed_at: number | null;
}

export interface AttemptRow {
  customer_trace_number: string;
  attempt: number;
  state: AttemptState;
  claimed_at: number;
  answer_by: number;
  resend_from: number | null;
  run_id: string;
  requested_at: number | null;
  http_status: number | null;
  failure_type: FailureType | null;
  retry_after_ms: number | null;
  answer_kind: Answer['kind'] | null;
  outcome: ReportOutcome | null;
  answer: Uint8Array | null;
  accepted_by: string | null;
  accepted_answer: Uint8Array | null;
  late_at: number | null;
  late_state: AttemptState | null;
}

export interface DecisionRow {
  customer_trace_number: string;
  decision_id: string;
  attempt: number;
  action: DecisionAction;
  decided_by: string;
  reason: string;
  provider_said: DecisionRecord['providerSaid'];
  failure_type: FailureType | null;
  decided_at: string;
  permits_attempt: number | null;
  confirms_consumers: number | null;
  proven_by: string | null;
}

/** Of an attempt that was never claimed. */
export interface ClosedRow {
  customer_trace_number: string;
  attempt: number;
  closed_at: number;
  run_id: string;
}

/** Everything about one trace number, at one instant of the database's clock. */
export interface InquiryState {
  known: KnownInquiry;
  inquiry: InquiryRow | null;
  /** Those that were claimed. */
  attempts: AttemptRow[];
  closed: ClosedRow[];
  nowMs: number;
}

/** How many disposals of an inquiry `i` were begun: of its journey, or of its product there. */
export const DISPOSALS_BEGUN = `(SELECT count(*) FROM retention_events e
  WHERE e.caller_id = i.caller_id AND e.kind = 'disposalBegun'
    AND (e.product_code IS NULL OR (e.product_code = i.product_code AND e.recorded_at >= i.created_at)))`;

/** Reads it; whoever means to write has locked the row before, so that it stays true until the commit. */
export async function readState(
  session: SqlSession,
  dialect: SqlDialect,
  customerTraceNumber: string,
): Promise<InquiryState> {
  const [row] = await session.rows<
    {
      ledger_id: string;
      oldest_writer: number;
      now: number;
      attempts: number;
      closed: number;
      decisions: number;
      is_disposal_begun: number;
    } & InquiryRow
  >(
    `SELECT i.*, l.ledger_id, (${OLDEST_WRITER}) AS oldest_writer, ${dialect.now} AS now,
       ${DISPOSALS_BEGUN} AS is_disposal_begun,
       (SELECT count(*) FROM attempts WHERE customer_trace_number = $1) AS attempts,
       (SELECT count(*) FROM closed_attempts WHERE customer_trace_number = $1) AS closed,
       (SELECT count(*) FROM decisions WHERE customer_trace_number = $1) AS decisions
     FROM ledger_identity l LEFT JOIN inquiries i ON i.customer_trace_number = $1`,
    [customerTraceNumber],
  );
  if (!row) throw new Error('a ledger without identity');
  const attempts =
    row.attempts === 0
      ? []
      : await session.rows<AttemptRow>('SELECT * FROM attempts WHERE customer_trace_number = $1 ORDER BY attempt', [
          customerTraceNumber,
        ]);
  const decisions =
    row.decisions === 0
      ? []
      : await session.rows<DecisionRow>('SELECT * FROM decisions WHERE customer_trace_number = $1', [
          customerTraceNumber,
        ]);
  const closed =
    row.closed === 0
      ? []
      : await session.rows<ClosedRow>(
          'SELECT * FROM closed_attempts WHERE customer_trace_number = $1 ORDER BY attempt',
          [customerTraceNumber],
        );
  const inquiry = row.customer_trace_number === null ? null : row;
  const isBegun = row.is_disposal_begun > 0 || (await isReviewDisposed(session, inquiry));
  const known = knownOf(row, inquiry, { attempts, closed, decisions });
  const disposal = disposalOf(row, isBegun);
  return { known: disposal ? { ...known, disposal } : known, inquiry, attempts, closed, nowMs: row.now };
}

/** What was disposed of by its review's id is closed for each of the review's rows. */
export async function isReviewDisposed(
  session: SqlSession,
  inquiry: Pick<InquiryRow, 'caller_id'> | null,
): Promise<boolean> {
  const review = inquiry && reviewOfRow(inquiry.caller_id);
  if (!review) return false;
  const rows = await session.rows(
    `SELECT 1 FROM retention_events WHERE caller_id = $1 AND kind = 'disposalBegun' AND product_code IS NULL LIMIT 1`,
    [review],
  );
  return rows.length > 0;
}

/** Begun for the inquiry, or for its journey as a whole before there was such an inquiry. */
function disposalOf({ disposed_at }: InquiryRow, isBegun: boolean): KnownInquiry['disposal'] {
  if (disposed_at !== null) return 'done';
  return isBegun ? 'begun' : undefined;
}

function knownOf(
  ledger: { ledger_id: string; oldest_writer: number; now: number },
  inquiry: InquiryRow | null,
  { attempts, closed, decisions }: { attempts: AttemptRow[]; closed: ClosedRow[]; decisions: DecisionRow[] },
): KnownInquiry {
  return {
    ledgerId: ledger.ledger_id,
    oldestWriter: ledger.oldest_writer,
    digest: inquiry?.digest ?? null,
    abandoned: (inquiry?.abandoned_at ?? null) !== null,
    attempts: [
      ...attempts.map((row) => ({
        attempt: row.attempt,
        state: row.state,
        answerInMs: row.answer_by - ledger.now,
        ...(row.resend_from === null ? {} : { resendInMs: row.resend_from - ledger.now }),
        ...(row.answer_kind === null ? {} : { answerKind: row.answer_kind }),
      })),
      ...closed.map(({ attempt }) => ({ attempt, state: 'notSent' as const, answerInMs: 0, closed: true as const })),
    ].sort(byAttempt),
    decisions: decisions.map((row) => ({
      decisionId: row.decision_id,
      action: row.action,
      attempt: row.attempt,
      ...(row.permits_attempt === null ? {} : { permitsAttempt: row.permits_attempt }),
    })),
  };
}

/**
 * How the inquiry stands: its latest attempt, or that it was abandoned. `null` where nothing was claimed or abandoned.
 * What was abandoned before any claim shows attempt 0. For a run, what was disposed of is as good as abandoned: nothing
 * is ever sent for it, and no answer is left to be told.
 */
export function latestView(state: InquiryState, cipher: LedgerCipher): AttemptView | null {
  const { known } = state;
  const latest = latestOf(known);
  const row = latest?.closed ? undefined : state.attempts.at(-1);
  if (state.inquiry && (known.abandoned || known.disposal)) {
    return {
      attempt: latest?.attempt ?? 0,
      state: 'abandoned',
      ...(row ? { claimedAt: instant(row.claimed_at) } : {}),
    };
  }
  const closed = latest?.closed ? state.closed.at(-1) : undefined;
  if (closed) return closedView(closed);
  if (!row) return null;
  const resendStands = permitFor(known, row.attempt + 1) !== undefined;
  return { ...attemptView(row, state.nowMs, cipher), ...(resendStands ? { resendStands } : {}) };
}

/** As `latestView`, where there must be something to show: what was never claimed was not sent. */
export function standingView(state: InquiryState, cipher: LedgerCipher): AttemptView {
  return latestView(state, cipher) ?? { attempt: 0, state: 'notSent' };
}

function closedView({ attempt, closed_at, run_id }: ClosedRow): AttemptView {
  return { attempt, state: 'notSent', closedAt: instant(closed_at), runId: run_id };
}

function byAttempt(one: { attempt: number }, other: { attempt: number }): number {
  return one.attempt - other.attempt;
}

export function attemptView(row: AttemptRow, nowMs: number, cipher: LedgerCipher): AttemptView {
  const answerInMs = row.answer_by - nowMs;
  const state = standing({ attempt: row.attempt, state: row.state, answerInMs });
  const failureType = row.failure_type ?? (state === 'unknown' ? 'OutcomeUnknown' : null);
  const sealed = row.accepted_answer ?? row.answer;
  const column = row.accepted_answer ? 'accepted_answer' : 'answer';
  return {
    attempt: row.attempt,
    state,
    claimedAt: instant(row.claimed_at),
    runId: row.run_id,
    ...(state === 'sending' ? { waitMs: answerInMs } : {}),
    ...(failureType === null || row.accepted_answer ? {} : { failureType }),
    ...(state === 'unknown' && row.resend_from !== null ? { resendFrom: instant(row.resend_from) } : {}),
    ...(row.http_status === null ? {} : { httpStatus: row.http_status }),
    ...(row.retry_after_ms === null ? {} : { retryAfterMs: row.retry_after_ms }),
    ...(sealed ? { answer: openAnswer(cipher, sealed, row, column) } : {}),
  };
}

/** Whether the latest attempt is written as `sending` although its time is over. */
export function latestIsOverdue({ known }: InquiryState): boolean {
  const latest = latestOf(known);
  return latest !== undefined && latest.state === 'sending' && standing(latest) === 'unknown';
}

export function sealAnswer(
  cipher: LedgerCipher,
  answer: Answer | undefined,
  row: { customer_trace_number: string; attempt: number },
  column: string,
): Uint8Array | null {
  return answer ? cipher.sealValue(answer, column, row.customer_trace_number, String(row.attempt)) : null;
}

export function openAnswer(
  cipher: LedgerCipher,
  sealed: Uint8Array,
  row: { customer_trace_number: string; attempt: number },
  column: string,
): Answer {
  return cipher.unsealValue(sealed, column, row.customer_trace_number, String(row.attempt)) as Answer;
}

/** Which inquiries: a subquery for their trace numbers, and its values. */
export interface InquirySelection {
  traceNumbers: string;
  values: readonly SqlValue[];
}

/** The selected inquiries with their attempts and decisions, oldest first. */
export async function readInquiries(
  session: SqlSession,
  dialect: SqlDialect,
  { traceNumbers, values }: InquirySelection,
  cipher: LedgerCipher,
): Promise<InquiryView[]> {
  const selected = `customer_trace_number IN (${traceNumbers})`;
  const inquiries = await session.rows<InquiryRow & { now: number; seen_at: number | null }>(
    `SELECT i.*, ${dialect.now} AS now,
       (SELECT max(s.seen_at) FROM attention_seen s WHERE s.customer_trace_number = i.customer_trace_number) AS seen_at
     FROM inquiries i WHERE i.${selected} ORDER BY i.created_at, i.ordinal, i.customer_trace_number`,
    values,
  );
  if (inquiries.length === 0) return [];
  const allAttempts = await session.rows<AttemptRow>(
    `SELECT * FROM attempts WHERE ${selected} ORDER BY attempt`,
    values,
  );
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
      ...(first ? { firstClaimedAt: instant(first.claimed_at) } : {}),
      ...(row.seen_at === null ? {} : { seenAt: instant(row.seen_at) }),
      attempts: [
        ...own.map((attempt) => ({
          ...attemptView(attempt, row.now, cipher),
          ...(attempt.requested_at === null ? {} : { requestedAt: instant(attempt.requested_at) }),
          ...(attempt.late_at === null ? {} : { lateAnswerAt: instant(attempt.late_at) }),
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
    ...descriptionOf(row),
    createdAt: instant(row.created_at),
    ...(row.applicant_ids === null ? {} : { applicantIds: JSON.parse(row.applicant_ids) as string[] }),
    ...(row.workflow_id === null ? {} : { workflowId: row.workflow_id }),
    ...(row.run_id === null ? {} : { runId: row.run_id }),
    ...(row.abandoned_at === null ? {} : { abandonedAt: instant(row.abandoned_at) }),
    ...(row.late_answer_at === null ? {} : { lateAnswerAt: instant(row.late_answer_at) }),
    ...(row.late_consent_at === null ? {} : { lateConsentAt: instant(row.late_consent_at) }),
    ...(row.legal_hold_at === null ? {} : { legalHoldAt: instant(row.legal_hold_at) }),
    ...(row.disposed_at === null ? {} : { disposedAt: instant(row.disposed_at) }),
  };
}

export function descriptionOf(row: InquiryRow): InquiryDescription {
  return {
    customerTraceNumber: row.customer_trace_number,
    environment: row.environment,
    profile: row.profile,
    customerId: row.customer_id,
    workflowType: row.workflow_type,
    callerId: row.caller_id,
    productCode: row.product_code,
    ordinal: row.ordinal,
    ...(row.share_id === null ? {} : { shareId: row.share_id }),
    ...(row.end_user_code === null ? {} : { endUserCode: row.end_user_code }),
    ...(row.end_user === null ? {} : { endUser: row.end_user }),
    ...(row.permissible_purpose_code === null ? {} : { permissiblePurposeCode: row.permissible_purpose_code }),
    ...(row.amends === null ? {} : { amends: row.amends }),
  };
}

/** Where a decision differs from the one that was written under its id: an id used again for something else. */
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
  // Who wanted a repeat first stands, whoever wants the same one of a later run.
  if (!row || (row.action === 'repeat' && sent.action === 'repeat')) return [];
  return decisionDifferences(decisionView(row, attempts, cipher), sent);
}

/** What was accepted is kept once, with the attempt: decisions are never changed, and this may have to be destroyed. */
function decisionView(row: DecisionRow, attempts: readonly AttemptRow[], cipher: LedgerCipher): DecisionRecord {
  const accepted = attempts.find(({ accepted_by }) => accepted_by === row.decision_id);
  return {
    decisionId: row.decision_id,
    customerTraceNumber: row.customer_trace_number,
    attempt: row.attempt,
    action: row.action,
    by: row.decided_by,
    reason: row.reason,
    providerSaid: row.provider_said,
    decidedAt: row.decided_at,
    ...(row.failure_type === null ? {} : { failureType: row.failure_type }),
    ...(row.confirms_consumers === null ? {} : { confirmConsumerIds: true as const }),
    ...(row.proven_by === null ? {} : { provenBy: row.proven_by }),
    ...(accepted?.accepted_answer
      ? { answer: openAnswer(cipher, accepted.accepted_answer, accepted, 'accepted_answer') }
      : {}),
  };
}

/** RFC 3339 in UTC. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}
