/** Inquiries that need a person, and the record that a person has seen what drew attention. */
import { parseInstantMs, utcInstant } from '../../base/instants.ts';
import { FAILURE_TYPES, type FailureType } from '../../model/failure-types.ts';
import {
  ATTEMPT_STATES,
  type AttemptState,
  type AttemptView,
  isKnownNotPosted,
  NOT_POSTED_STATES,
} from '../../model/inquiry.ts';
import { judgesAttempts } from '../audit/audited.ts';
import { HELD_STATES } from '../claim.ts';
import type { SqlDialect, SqlSession, Transaction } from '../database/sql-session.ts';
import type { AttemptRow } from '../inquiries/inquiry-rows.ts';
import { readInquiries } from '../inquiries/inquiry-views.ts';
import type { AttentionReason, InquiryView, OpenInquiriesQuery, OpenInquiry, OpenWork } from '../records.ts';

/** The states that the latest attempt of an undecided inquiry may have. */
const OPEN_STATES: readonly AttemptState[] = [...HELD_STATES, 'answered'];

/** When each kind of late news came, in `inquiries`. */
export const LATE_COLUMNS: Readonly<Record<AttentionReason, string>> = {
  lateAnswer: 'late_answer_at',
  lateConsent: 'late_consent_at',
};

/** Why a person must decide about an attempt that was not answered. */
const REASON_OF_STATE: Readonly<Partial<Record<AttemptState, FailureType>>> = {
  unknown: 'OutcomeUnknown',
  refused: 'RequestRefused',
  notEntitled: 'NotEntitled',
  credentialsRefused: 'CredentialsRefused',
  untrusted: 'GatewayUntrusted',
};

/** When a person last marked the inquiry `i` as seen; the lowest value where it was never seen. */
export const SEEN_AT =
  '(SELECT coalesce(max(s.seen_at), -1) FROM attention_seen s WHERE s.customer_trace_number = i.customer_trace_number)';

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

/** A subquery for the trace numbers; each branch can use an index of its own. `$1` is `since` in milliseconds. */
function selectionOf(dialect: SqlDialect, states: readonly AttemptState[]): string {
  const late = states.includes('unknown') ? [lateBranch()] : [];
  return [...undecidedBranches(dialect, states), ...late, ...attentionBranches()].join(' UNION ');
}

/** A subquery for the undecided inquiries of the subquery `within`. `$1` as above. */
export function undecidedSelection(dialect: SqlDialect, within: string): string {
  const isWithin = `AND a.customer_trace_number IN (${within})`;
  return [...undecidedBranches(dialect, OPEN_STATES, isWithin), lateBranch(isWithin)].join(' UNION ');
}

function lateBranch(within = ''): string {
  return `SELECT a.customer_trace_number FROM inquiries i
    JOIN attempts a ON a.customer_trace_number = i.customer_trace_number
    WHERE i.late_answer_at IS NOT NULL ${within} AND ${IS_LATE_TO_JUDGE}`;
}

/** A subquery like `undecidedSelection`, for late news that has not been seen. */
export function attentionSelection(within: string): string {
  return attentionBranches(`AND i.customer_trace_number IN (${within})`).join(' UNION ');
}

function undecidedBranches(dialect: SqlDialect, states: readonly AttemptState[], within = ''): string[] {
  const wanted = ATTEMPT_STATES.filter((state) => states.includes(state));
  const written = wanted.filter((state) => state !== 'answered' && state !== 'sending').map((state) => `'${state}'`);
  return [
    ...(written.length > 0 ? [`a.state IN (${written.join(', ')})`] : []),
    // Counts as `unknown`, also where that is not written yet.
    ...(wanted.includes('unknown') || wanted.includes('sending')
      ? [`a.state = 'sending' AND a.answer_by <= ${dialect.now}`]
      : []),
    ...(wanted.includes('answered') ? ["a.state = 'answered' AND a.answer_kind <> 'outcome'"] : []),
  ].map(
    (condition) => `SELECT a.customer_trace_number FROM attempts a WHERE ${condition} ${within} AND ${IS_UNDECIDED}`,
  );
}

function attentionBranches(within = ''): string[] {
  return Object.values(LATE_COLUMNS).map(
    (column) =>
      `SELECT i.customer_trace_number FROM inquiries i
       WHERE i.${column} IS NOT NULL ${within} AND i.${column} >= $1 AND i.${column} > ${SEEN_AT}`,
  );
}

/** One inquiry, whether or not it is open; or `null`. */
export async function readInquiry(tx: Transaction, customerTraceNumber: string): Promise<OpenInquiry | null> {
  const [found] = await readInquiries(tx, { traceNumbers: '$1', values: [customerTraceNumber] });
  return found ? withNeeds(found) : null;
}

/**
 * Reads only: inquiries that need a person, oldest first. That is those whose latest attempt is undecided (unknown,
 * refused, or answered without an outcome), even where no run waits for the decision any more. And those with late news.
 * Never one whose answer may still come in time.
 *
 * @throws RangeError where `since` is no instant
 */
export async function readOpenInquiries(
  tx: Transaction,
  { since, states = OPEN_STATES }: OpenInquiriesQuery = {},
): Promise<OpenInquiry[]> {
  const sinceMs = since === undefined ? 0 : parseInstantMs(since);
  if (sinceMs === null) throw new RangeError('since must be an RFC 3339 instant with offset');
  const traceNumbers = selectionOf(tx.dialect, states);
  const views = await readInquiries(tx, { traceNumbers, values: [sinceMs] });
  return views.map(withNeeds);
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
  return row && { attempt: row.attempt, reason: reasonOf(row) };
}

/** Reads only and unseals nothing: the oldest of each kind of what `openInquiries` lists, at most `limit` of each. */
export async function readOldestOpen({ session, dialect }: Transaction, limit: number): Promise<OpenWork[]> {
  const undecided = await session.rows<Pick<AttemptRow, 'state' | 'answer_kind' | 'failure_type'> & Dated>(
    `SELECT a.state, a.answer_kind, a.failure_type, a.claimed_at AS since, a.workflow_id FROM attempts a
     WHERE a.customer_trace_number IN (${undecidedBranches(dialect, OPEN_STATES).join(' UNION ')})
       AND NOT EXISTS (SELECT 1 FROM attempts b
         WHERE b.customer_trace_number = a.customer_trace_number AND b.attempt > a.attempt)
     ORDER BY a.claimed_at LIMIT $2`,
    [0, limit],
  );
  const answeredLate = await session.rows<Dated>(
    `SELECT a.claimed_at AS since, a.workflow_id FROM inquiries i
     JOIN attempts a ON a.customer_trace_number = i.customer_trace_number
     WHERE i.late_answer_at IS NOT NULL AND ${IS_LATE_TO_JUDGE} ORDER BY a.claimed_at LIMIT $2`,
    [0, limit],
  );
  const late: OpenWork[] = answeredLate.map((row) => dated('AnsweredLate', row));
  for (const [reason, column] of Object.entries(LATE_COLUMNS) as [AttentionReason, string][]) {
    const rows = await session.rows<Dated>(
      `SELECT i.${column} AS since, i.workflow_id FROM inquiries i
       WHERE i.${column} IS NOT NULL AND i.${column} > ${SEEN_AT} ORDER BY i.${column} LIMIT $1`,
      [limit],
    );
    late.push(...rows.map((row) => dated(reason, row)));
  }
  return [...undecided.map((row) => dated(reasonOf(row), row)), ...late];
}

interface Dated {
  since: number;
  workflow_id: string | null;
}

function dated(reason: OpenWork['reason'], { since, workflow_id }: Dated): OpenWork {
  return { reason, since: utcInstant(since), ...(workflow_id === null ? {} : { workflowId: workflow_id }) };
}

/**
 * The reason of an attempt that the query calls undecided: its `sending` is overdue, or its `answered` is no outcome.
 */
function reasonOf(row: Pick<AttemptRow, 'state' | 'answer_kind' | 'failure_type'>): FailureType {
  if (row.state === 'answered') {
    return row.answer_kind === 'returnCodeUnknown' ? 'ReturnCodeUnknown' : (row.failure_type ?? 'UnexpectedResponse');
  }
  return REASON_OF_STATE[row.state] ?? 'OutcomeUnknown';
}

/** Adds the needs of the inquiry from a person, by the query's rules. */
function withNeeds(view: InquiryView): OpenInquiry {
  const latest = view.attempts.at(-1);
  const undecided = latest && !view.abandonedAt ? (lateIn(view, latest) ?? undecidedIn(view, latest)) : undefined;
  const isUnseen = (at: string | undefined) => at !== undefined && (!view.seenAt || at > view.seenAt);
  const attention: AttentionReason[] = [
    ...(isUnseen(view.lateAnswerAt) ? (['lateAnswer'] as const) : []),
    ...(isUnseen(view.lateConsentAt) ? (['lateConsent'] as const) : []),
  ];
  return { ...view, ...(undecided ? { undecided } : {}), attention };
}

/** Follows the rule of `lateToJudge`. */
function lateIn({ attempts }: InquiryView, latest: AttemptView): OpenInquiry['undecided'] {
  if (attempts.some(({ state }) => state === 'accepted')) return undefined;
  const mayBeFollowed = isKnownNotPosted(latest.state) || (HELD_STATES.includes(latest.state) && latest.resendStands);
  const late = mayBeFollowed ? attempts.findLast(({ answeredLate }) => answeredLate) : undefined;
  return late && { attempt: late.attempt, failureType: 'AnsweredLate' };
}

function undecidedIn(view: InquiryView, latest: InquiryView['attempts'][number]): OpenInquiry['undecided'] {
  return isDecided(view, latest) ? undefined : undecidedOf(latest);
}

/** Follows the query's rule: a resend that permits nothing has judged no attempt. */
function isDecided({ decisions }: InquiryView, { attempt, resendStands }: AttemptView): boolean {
  return (
    resendStands === true ||
    decisions.some(
      (one) => one.attempt === attempt && one.action === 'amend' && judgesAttempts(one.failureType ?? null),
    )
  );
}

function undecidedOf({
  attempt,
  state,
  answer,
  failureType,
}: InquiryView['attempts'][number]): OpenInquiry['undecided'] {
  if (state === 'answered') {
    if (!answer || answer.kind === 'outcome') return undefined;
    return {
      attempt,
      failureType: answer.kind === 'returnCodeUnknown' ? 'ReturnCodeUnknown' : (failureType ?? 'UnexpectedResponse'),
    };
  }
  const reason = REASON_OF_STATE[state];
  return reason === undefined ? undefined : { attempt, failureType: reason };
}

/** A list of words for `IN`. */
function list(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
