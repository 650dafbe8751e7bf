/** Inquiries with their attempts and decisions: rows, what the rules judge of them, and what callers see. */
import { pick } from '../../base/defined.ts';
import {
  type Answer,
  type AttemptView,
  type InquiryDescription,
  type Outcome,
  REASON_OF_STATE,
} from '../../model/inquiry.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { judgesAttempts } from '../audit/audited.ts';
import {
  effectiveAttempt,
  effectiveState,
  findLatest,
  findResend,
  HELD_STATES,
  type KnownAttempt,
  type KnownInquiry,
  lateToJudge,
} from '../claim.ts';
import { hasMembers, insertRow, isIn, type Members, readRows, toMemberName } from '../database/rows.ts';
import type { SqlDialect, SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import { listColumns, type Row } from '../database/tables.ts';
import { isInForce } from '../orders.ts';
import { toClaimOwners, toOwner } from '../owners.ts';
import type { DecisionRecord, InquiryView, OpenInquiry, ReportOrigin } from '../records.ts';
import { findDecisionDifferences } from './rules.ts';

/** The members that identify an inquiry and say whom it is for. No later transaction changes them. */
const DESCRIPTION = listColumns('inquiries', ({ isStamp, isState }) => !isStamp && !isState).map(
  toMemberName,
) as (keyof InquiryDescription)[];

export const ATTEMPT_KEY = ['customerTraceNumber', 'attempt'] as const;

export type InquiryRow = Row<'inquiries'>;
export type DecisionRow = Row<'decisions'>;
/** An attempt, also in the terms of the claim's rules. One that was closed before any claim lacks most members. */
export type AttemptRow = KnownAttempt &
  ReportOrigin &
  Partial<Row<'attempts'> & Row<'closed_attempts'>> & { refusalKept?: true };

/** All records of one trace number, in the form that the rules of the claim take. */
export interface InquiryState extends KnownInquiry {
  inquiry: InquiryRow | undefined;
  attempts: readonly AttemptRow[];
  decisions: readonly DecisionRow[];
}

/** Whether the body of a refusal is kept of the attempt of a row with this alias. */
export const selectRefusalKept = (alias: string) => `CASE WHEN EXISTS (SELECT 1 FROM sealed_bodies b
  WHERE b.customer_trace_number = ${alias}.customer_trace_number AND b.attempt = ${alias}.attempt
    AND b.kind = 'refusal' AND b.late = 0 AND b.body IS NOT NULL) THEN 1 END AS refusal_kept`;

/** Selects the members of an attempt `a` that the claim's rules need beside its columns. */
export const selectDerived = ({ now }: SqlDialect) => `a.answer_by - ${now} AS answer_in_ms,
    a.resend_from - ${now} AS resend_in_ms, CASE WHEN a.late_state = 'answered' THEN 1 END AS answered_late,
    ${selectRefusalKept('a')}`;

const CLOSED = "SELECT c.*, 'notSent' AS state, 0 AS answer_in_ms, 1 AS closed FROM closed_attempts c";

/** Returns whether a disposal of this run was begun, or of the review that it is a row of: that closes the fence for good. */
export async function isDisposalBegun(session: SqlSession, runKey: string): Promise<boolean> {
  const begun = { runKey: isIn(toClaimOwners(runKey)), kind: 'disposalBegun' } as const;
  return (await readRows(session, 'orders', begun, 'LIMIT 1')).length > 0;
}

/** The pauses in force of a profile, given as a parameter. */
export const selectPauses = (profile: string) =>
  `SELECT 1 FROM orders p WHERE (p.profile IS NULL OR p.profile = ${profile}) AND ${isInForce('p', 'pauseBegun')}`;

/** The withdrawals of these owners, given as parameters. */
export const selectWithdrawals = (runKey: string, runId: string) =>
  `SELECT 1 FROM orders w WHERE w.kind = 'withdraw' AND w.run_key IN (${runKey}, ${runId})`;

type StateRow = Partial<InquiryRow> &
  Pick<Row<'ledger_identity'>, 'ledgerId' | 'oldestWriter'> &
  Record<'disposalsBegun' | 'pauses' | 'withdrawals', number>;

/**
 * Reads the state. A transaction that will write locks the row before, so that the state stays true until the commit.
 *
 * @param claimedFor run and profile of the inquiry, for a claim: their withdrawals and pauses are read too
 */
export async function readState(
  tx: SqlSession,
  customerTraceNumber: string,
  claimedFor: { runKey: string; profile: string } = { runKey: '', profile: '' },
): Promise<InquiryState> {
  const [[row], about] = await Promise.all([
    tx.read<StateRow>(
      `SELECT i.*, l.ledger_id, l.oldest_writer,
         (SELECT count(*) FROM orders o WHERE o.run_key = i.run_key AND o.kind = 'disposalBegun') AS disposals_begun,
         (SELECT count(*) FROM (${selectPauses('$4')}) paused) AS pauses,
         (SELECT count(*) FROM (${selectWithdrawals('$2', '$3')}) withdrawn) AS withdrawals
       FROM ledger_identity l LEFT JOIN inquiries i ON i.customer_trace_number = $1`,
      [customerTraceNumber, ...toClaimOwners(claimedFor.runKey), claimedFor.profile],
    ),
    readAttemptsAndDecisions(tx, '$1', [customerTraceNumber]),
  ]);
  if (!row) throw new Error('a ledger without identity');
  const { ledgerId, oldestWriter, disposalsBegun, pauses, withdrawals, ...found } = row;
  const inquiry = found.customerTraceNumber === undefined ? undefined : (found as InquiryRow);
  const isOfReview = inquiry !== undefined && toOwner(inquiry.runKey) !== inquiry.runKey;
  const isBegun = disposalsBegun > 0 || (isOfReview && (await isDisposalBegun(tx, inquiry.runKey)));
  return {
    ledgerId,
    oldestWriter,
    digest: found.digest ?? null,
    isPaused: pauses > 0,
    isWithdrawn: withdrawals > 0,
    abandoned: found.abandonedAt !== undefined,
    disposal: found.disposedAt ? 'done' : isBegun ? 'begun' : undefined,
    inquiry,
    ...about,
  };
}

/** Reads the attempts, in their order, and the decisions of the inquiries that the subquery `selected` names. */
async function readAttemptsAndDecisions(session: SqlSession, selected: string, values: readonly SqlValue[]) {
  const read = <Row>(text: string, order: string) =>
    session.read<Row>(`${text} WHERE customer_trace_number IN (${selected}) ORDER BY ${order}`, values);
  const [claimed, closed, decisions] = await Promise.all([
    read<AttemptRow>(`SELECT a.*, ${selectDerived(session.dialect)} FROM attempts a`, 'attempt'),
    read<AttemptRow>(CLOSED, 'attempt'),
    read<DecisionRow>('SELECT * FROM decisions', 'recorded_at'),
  ]);
  return { attempts: [...claimed, ...closed].sort((a, b) => a.attempt - b.attempt), decisions };
}

/** Makes the inquiry's row where it is missing, and returns whether it did. A claim adds what it says of it. */
export async function insertInquiry(session: SqlSession, inquiry: InquiryDescription): Promise<boolean> {
  return (await insertRow(session, 'inquiries', pick(inquiry, DESCRIPTION), { orKeep: true })) !== undefined;
}

/** Keeps every other writer of this inquiry out until the transaction ends. Where each transaction does so for all, nothing is asked. */
export async function lockInquiry(session: SqlSession, customerTraceNumber: string): Promise<void> {
  if (session.dialect.forUpdate === '') return;
  const lock = `SELECT 1 FROM inquiries WHERE customer_trace_number = $1 ${session.dialect.forUpdate}`;
  await session.rows(lock, [customerTraceNumber]);
}

/** The members that may hold an answer. */
export const ANSWERS = ['answer', 'acceptedAnswer', 'lateAnswer'] as const;
type AnswerName = (typeof ANSWERS)[number];

export function sealAnswer(cipher: LedgerCipher, record: ReportOrigin & { answer?: Answer }, name: AnswerName) {
  const { answer, customerTraceNumber, attempt } = record;
  return answer && cipher.sealValue(answer, name, customerTraceNumber, String(attempt));
}

export function openAnswer(cipher: LedgerCipher, row: ReportOrigin & Pick<AttemptRow, AnswerName>, name: AnswerName) {
  const sealed = row[name];
  return sealed && (cipher.unsealValue(sealed, name, row.customerTraceNumber, String(row.attempt)) as Answer);
}

/** Opens an answer, where it was understood. */
export function openOutcome(...sealed: Parameters<typeof openAnswer>): Outcome | undefined {
  const answer = openAnswer(...sealed);
  return answer?.kind === 'outcome' ? answer : undefined;
}

// Inquiries in the form that callers see.

/**
 * The state of the inquiry: its latest attempt, or that it was abandoned. `null` where nothing was claimed or
 * abandoned. An inquiry that was abandoned before any claim shows attempt 0. A run sees a disposed inquiry as
 * abandoned: nothing is ever sent for it, and no answer is left.
 */
export function toLatestView(state: InquiryState, cipher: LedgerCipher): AttemptView | null {
  const latest = findLatest(state);
  const row = effectiveAttempt(state) as AttemptRow | undefined;
  if (state.inquiry && (state.abandoned || state.disposal)) {
    return { attempt: latest?.attempt ?? 0, state: 'abandoned', claimedAt: row?.claimedAt };
  }
  if (!row || !latest) return null;
  if (row.closed) return toAttemptView(row, cipher);
  const isEarlier = latest.attempt > row.attempt ? { latest: latest.attempt } : {};
  // The attempt was posted, and an operator must name its outcome, since a late answer is not the outcome.
  if (lateToJudge(state)) {
    const late = { state: 'unknown', failureType: 'AnsweredLate' } as const;
    return { ...pick(row, ['attempt', 'claimedAt', 'runId']), ...late, ...isEarlier };
  }
  const resendStands = !row.acceptedAnswer && findResend(state, row.attempt + 1) ? true : undefined;
  return { ...toAttemptView(row, cipher), ...isEarlier, resendStands };
}

/** The state of an inquiry that must have one, although nothing was claimed. */
export const NOT_SENT: AttemptView = { attempt: 0, state: 'notSent' };

function toAttemptView(row: AttemptRow, cipher: LedgerCipher): AttemptView {
  const { acceptedAnswer, answerInMs, resendFrom } = row;
  const state = effectiveState(row);
  const failureType = row.failureType ?? (state === 'unknown' ? 'OutcomeUnknown' : undefined);
  return {
    ...pick(row, ['attempt', 'runId', 'sentTraceNumber', 'httpStatus', 'retryAfterMs', 'claimedAt', 'refusalKept']),
    closedAt: row.closedAt,
    state,
    waitMs: state === 'sending' ? answerInMs : undefined,
    failureType: acceptedAnswer ? undefined : failureType,
    resendFrom: state === 'unknown' ? resendFrom : undefined,
    answer: openAnswer(cipher, row, acceptedAnswer ? 'acceptedAnswer' : 'answer'),
  };
}

/** The inquiries that have these members, with their attempts and decisions, oldest first. */
export async function readInquiries(tx: Transaction, members: Members<InquiryRow>): Promise<InquiryView[]> {
  const { sql, values } = hasMembers(members);
  const [inquiries, about] = await Promise.all([
    readRows(tx, 'inquiries', members, 'ORDER BY created_at, ordinal, customer_trace_number'),
    readAttemptsAndDecisions(tx, `SELECT customer_trace_number FROM inquiries WHERE ${sql}`, values),
  ]);
  const toTrace = ({ customerTraceNumber }: { customerTraceNumber: string }) => customerTraceNumber;
  const attemptsOf = Map.groupBy(about.attempts, toTrace);
  const decisionsOf = Map.groupBy(about.decisions, toTrace);
  return inquiries.map((inquiry) => {
    const attempts = attemptsOf.get(inquiry.customerTraceNumber) ?? [];
    const decisions = decisionsOf.get(inquiry.customerTraceNumber) ?? [];
    return toInquiryView(inquiry, { attempts, decisions }, tx.cipher);
  });
}

function toInquiryView(
  { digest: _, ...inquiry }: InquiryRow,
  { attempts, decisions }: Pick<InquiryState, 'attempts' | 'decisions'>,
  cipher: LedgerCipher,
): InquiryView {
  return {
    ...inquiry,
    attempts: attempts.map((row) => ({
      ...toAttemptView(row, cipher),
      ...pick(row, ['requestedAt', 'answeredLate']),
      lateAnswerAt: row.lateAt,
    })),
    decisions: decisions.map((decision) => toDecisionView(decision, attempts, cipher)),
  };
}

/** Returns the paths at which a decision differs from the recorded one with the same id. */
export function compareWithDecided({ attempts, decisions }: InquiryState, sent: DecisionRecord, cipher: LedgerCipher) {
  const row = decisions.find(({ decisionId }) => decisionId === sent.decisionId);
  // The first requester of a repeat counts, even if a later run names another one.
  if (!row || (row.action === 'repeat' && sent.action === 'repeat')) return [];
  return findDecisionDifferences(toDecisionView(row, attempts, cipher), sent);
}

/**
 * An accepted answer is stored once, with the attempt: decisions are never changed, and the answer may have to be
 * destroyed.
 */
function toDecisionView(row: DecisionRow, attempts: InquiryState['attempts'], cipher: LedgerCipher): DecisionRecord {
  const { permitsAttempt: _permits, recordedAt: _recordedAt, ...decision } = row;
  const accepted = attempts.find(({ acceptedBy }) => acceptedBy === decision.decisionId);
  const answer = accepted && openAnswer(cipher, accepted, 'acceptedAnswer');
  return { ...decision, answer };
}

// Inquiries that need a decision. The rules of the claim judge that.

/** Finds the attempt of the inquiry that needs a decision, and why. */
function findUndecided(state: InquiryState): OpenInquiry['undecided'] {
  const latest = findLatest(state) as AttemptRow | undefined;
  if (!latest || state.abandoned) return undefined;
  const late = lateToJudge(state);
  if (late) return { attempt: late.attempt, failureType: 'AnsweredLate' };
  if (latest.closed) return undefined;
  const { attempt, answerKind, failureType = 'UnexpectedResponse' } = latest;
  const effective = effectiveState(latest);
  const isDoubtful = effective === 'answered' && answerKind !== 'outcome';
  // A decision about an attempt that was not claimed by then, or about another request, has judged none.
  const isJudged = state.decisions.some(
    (decision) =>
      decision.attempt === attempt &&
      (decision.action === 'amend' || decision.permitsAttempt !== undefined) &&
      judgesAttempts(decision.failureType),
  );
  if (isJudged || !(isDoubtful || HELD_STATES.includes(effective))) return undefined;
  if (!isDoubtful) return { attempt, failureType: REASON_OF_STATE[effective] ?? 'OutcomeUnknown' };
  return { attempt, failureType: answerKind === 'returnCodeUnknown' ? 'ReturnCodeUnknown' : failureType };
}

/** Reads what of one inquiry needs a decision, if anything. */
export async function readUndecided(tx: SqlSession, customerTraceNumber: string): Promise<OpenInquiry['undecided']> {
  return findUndecided(await readState(tx, customerTraceNumber));
}

/** Selects the inquiries of the subquery `within` that may need a decision: the rules judge each. */
export function selectDoubtful({ now }: SqlDialect, within: string): string {
  return `SELECT DISTINCT a.customer_trace_number FROM attempts a WHERE a.customer_trace_number IN (${within})
    AND (a.state IN (${listWords(HELD_STATES)}) OR a.late_state = 'answered' OR (a.state = 'sending' AND a.answer_by <= ${now})
      OR (a.state = 'answered' AND coalesce(a.answer_kind, '') <> 'outcome'))`;
}

/** Reads one inquiry, whether or not it needs a person; or returns `null`. */
export async function readInquiry(tx: Transaction, customerTraceNumber: string): Promise<OpenInquiry | null> {
  const state = await readState(tx, customerTraceNumber);
  return state.inquiry ? { ...toInquiryView(state.inquiry, state, tx.cipher), undecided: findUndecided(state) } : null;
}

/** A list of words for `IN`. */
export function listWords(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
