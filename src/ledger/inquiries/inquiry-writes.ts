/** The statements that change `inquiries` and `attempts`, each part of a transaction, and the columns that they fill. */

import { omitUndefined, pick } from '../../base/defined.ts';
import { listApplicantOutcomes } from '../../messages/pull/consumer-results.ts';
import type { Answer, InquiryDescription, Outcome } from '../../model/inquiry.ts';
import type { ApplicantOutcome } from '../../model/report-outcome.ts';
import { type Expression, insertRow, NOW, updateRows } from '../database/rows.ts';
import type { SqlSession, SqlValue, Transaction } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import type { ClaimRequest, CloseRequest, OutcomeRecord } from '../records.ts';
import {
  ATTEMPT_KEY,
  DESCRIPTION,
  type InquiryRow,
  sealAnswer,
  selectPauses,
  selectWithdrawals,
  toClaimOwners,
} from './inquiries.ts';

/** The repeat that the claim of this inquiry takes, and the number that another customer already has. */
export async function readRepeat(
  session: SqlSession,
  inquiry: InquiryDescription,
): Promise<ReturnType<typeof findRepeat>> {
  const numbers = await session.read<ClaimedNumber>(
    `SELECT customer_trace_number, customer_id, ordinal, permitted_repeat FROM inquiries
     WHERE run_key = $1 AND product_code = $2 AND environment = $3 AND workflow_type = $4
       AND coalesce(share_id, '') = $5 AND permitted_repeat IS NOT NULL
     ORDER BY permitted_repeat, ordinal`,
    [inquiry.runKey, inquiry.productCode, inquiry.environment, inquiry.workflowType, inquiry.shareId ?? ''],
  );
  return findRepeat(numbers, inquiry);
}

/** Makes the inquiry's row where it is missing, and returns whether it did. `markClaimed` adds what a claim says of it. */
export async function insertInquiry({ session }: Transaction, inquiry: InquiryDescription): Promise<boolean> {
  return (await insertRow(session, 'inquiries', pick(inquiry, DESCRIPTION), { orKeep: true })) !== undefined;
}

/** Keeps every other writer of this inquiry out until the transaction ends. Where each transaction does so for all, nothing is asked. */
export async function lockInquiry({ session, dialect }: Transaction, customerTraceNumber: string): Promise<void> {
  if (dialect.forUpdate === '') return;
  await session.rows(`SELECT 1 FROM inquiries WHERE customer_trace_number = $1 ${dialect.forUpdate}`, [
    customerTraceNumber,
  ]);
}

/**
 * The claim itself: INSERT or lose. Returns the row. Issues all of its statements at once.
 *
 * The transaction holds the counter's lock until its commit, so attempts are committed in the order of their places: a
 * copy that has one attempt has all before it. A claim takes this lock last.
 *
 * @throws LostRaceError also where a pause of the profile, or a withdrawal of the run, came first
 */
export async function insertAttempt(
  { session, dialect }: Transaction,
  { inquiry, attempt, run, sendByMs, answerWithinMs, resendAfterMs = 0 }: ClaimRequest,
  spent: { permittedBy: string | undefined; sentTraceNumber: string | undefined },
): Promise<Row<'attempts'>> {
  const { customerTraceNumber } = inquiry;
  const fields = { customerTraceNumber, attempt, state: 'sending', ...run, ...spent } as const;
  const [owner, runOwner] = toClaimOwners(inquiry.runKey);
  const after = (ms: number) => `${dialect.now} + ${roundMs(ms)}`;
  const [, row] = await Promise.all([
    session.rows('UPDATE attempt_counter SET last_position = last_position + 1'),
    insertRow(session, 'attempts', fields, {
      // This statement reads the clock itself, after the wait for every lock: no claim looks older than it is.
      sql: (place) => ({
        position: '(SELECT last_position FROM attempt_counter)',
        // A pause takes the counter's lock too, and so does a withdrawal: one that came since the rules were asked is
        // seen here, and the column takes no NULL.
        claimed_at: `CASE WHEN EXISTS (${selectPauses(place(inquiry.profile))}) OR EXISTS (${selectWithdrawals(place(owner), place(runOwner))}) THEN NULL ELSE ${dialect.now} END`,
        send_by: after(sendByMs),
        answer_by: after(answerWithinMs),
        ...(resendAfterMs > 0 ? { resend_from: after(resendAfterMs) } : {}),
      }),
    }),
  ]);
  return row as Row<'attempts'>;
}

/** Records that the attempt can no longer be claimed. Returns the time of that record. */
export async function insertClosed(
  { session }: Transaction,
  { inquiry: { customerTraceNumber }, attempt, digest, run }: CloseRequest,
  permittedBy: string | undefined,
): Promise<string | undefined> {
  await updateRows(session, 'inquiries', { customerTraceNumber }, { digest: orKeep('digest', digest) });
  const row = await insertRow(session, 'closed_attempts', { customerTraceNumber, attempt, ...run, permittedBy });
  return row?.closedAt;
}

/**
 * Adds what a claim says about the inquiry as a whole. The row takes the key that the same inquiry under another number
 * would have.
 *
 * @throws LostRaceError where another number has taken the key since it was read
 */
export async function markClaimed(
  { session }: Transaction,
  { inquiry: { customerTraceNumber }, run, digest, applicantIds }: ClaimRequest,
  known: InquiryRow | undefined,
  permittedRepeat: number,
): Promise<void> {
  const claimed = {
    workflowId: run.workflowId,
    runId: run.runId,
    digest: orKeep('digest', digest),
    applicantIds: applicantIds ? [...applicantIds] : known?.applicantIds,
    permittedRepeat: orKeep('permitted_repeat', permittedRepeat),
  };
  await updateRows(session, 'inquiries', { customerTraceNumber }, claimed);
}

/** A later claim keeps the value that the first claim wrote. */
function orKeep(column: string, value: SqlValue): Expression {
  return (_now, place) => `coalesce(${column}, ${place(value)})`;
}

/** Writes news as the attempt's outcome. Status and request stay unchanged if the news lacks them. */
export async function writeOutcome(tx: Transaction, record: OutcomeRecord): Promise<void> {
  const { httpStatus, requestedAt, ...news } = toLateOutcome(record);
  await updateRows(tx.session, 'attempts', pick(record, ATTEMPT_KEY), {
    ...news,
    ...omitUndefined({ httpStatus, requestedAt }),
    retryAfterMs: record.retryAfterMs,
    answerKind: record.answer?.kind,
    answer: sealAnswer(tx.cipher, record.answer, record, 'answer'),
    recordedAt: NOW,
  });
}

/** Writes news beside an attempt that was superseded; `withAnswer` is false where the inquiry was disposed of. */
export async function writeLate(tx: Transaction, record: OutcomeRecord, withAnswer: boolean): Promise<void> {
  const news = Object.entries(toLateOutcome(record));
  const late = news.map(([name, value]) => [`late${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, value]);
  const lateAnswer = sealAnswer(tx.cipher, withAnswer ? record.answer : undefined, record, 'lateAnswer');
  await updateRows(tx.session, 'attempts', pick(record, ATTEMPT_KEY), {
    ...Object.fromEntries(late),
    lateAnswer,
    lateAt: NOW,
  });
}

function toLateOutcome({ state, failureType, httpStatus, requestedAt, answer }: OutcomeRecord) {
  return { state, failureType, httpStatus, requestedAt, ...toReadable(answer) };
}

/** Becomes part of a statement: only a whole number of milliseconds is permitted. */
function roundMs(ms: number): number {
  if (!Number.isFinite(ms) || ms < 0) throw new RangeError('must be a span of time in milliseconds');
  return Math.ceil(ms);
}

/**
 * The part of an answer that is readable without a key. A code that is in no table, or of an answer that is not trusted,
 * is unchecked text: it stays in the sealed answer.
 */
export function toReadable(answer: Answer | undefined) {
  const known = answer?.kind === 'outcome' ? answer : undefined;
  const applicants = known && toApplicantOutcomes(known);
  return {
    outcome: known?.outcome,
    returnCode: known?.returnCode,
    returnReasonCode: known?.returnReasonCode,
    applicantOutcomes: applicants && applicants.length > 0 ? applicants : undefined,
  };
}

function toApplicantOutcomes(answer: Outcome): ApplicantOutcome[] | undefined {
  const { applicants, reference } = answer;
  if (!applicants) return reference?.applicants.map(({ applicantId }) => ({ applicantId, outcome: 'record' }));
  return listApplicantOutcomes(
    answer,
    applicants.map(({ applicantId }) => applicantId),
  );
}

// The numbers that one inquiry has under several customers. Pure.

/**
 * A trace number of a stage, pull, share or row under which something was claimed. `permittedRepeat`: 0 for the first
 * customer; each further one that a decision permits has the next number.
 */
type ClaimedNumber = Required<
  Pick<Row<'inquiries'>, 'customerTraceNumber' | 'customerId' | 'ordinal' | 'permittedRepeat'>
>;

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
