/**
 * The transactions about one inquiry: claims, outcomes, closing look-ups, decisions. They write what the rules decide.
 */

import { isDeepStrictEqual } from 'node:util';
import { omitUndefined } from '../../base/defined.ts';
import { otherContent } from '../../base/differing-paths.ts';
import { utcInstant } from '../../base/instants.ts';
import type { AttemptView, InquiryDescription } from '../../model/inquiry.ts';
import { resendRule } from '../../model/provider-word.ts';
import { resentNumber } from '../../model/trace-number.ts';
import type { LedgerCipher, Sealed } from '../../protection/sealed/sealing.ts';
import { decideClaim } from '../claim.ts';
import { linkConsents } from '../consents/consents.ts';
import { SCHEMA_VERSION } from '../database/schema.ts';
import { Ending, type Transaction, type Unsealed, undone, type Written } from '../database/sql-session.ts';
import { requireSameLedger } from '../database/transactions.ts';
import { LedgerChangedError, LedgerRestoredError, LedgerUnavailableError, RequestDiffersError } from '../errors.ts';
import { drawAttention, endByClaim, endByDecision, flagReport, isHeldBy, openHeld } from '../holds/holds.ts';
import { isPaused } from '../pauses.ts';
import type {
  ClaimRequest,
  ClaimVerdict,
  CloseRequest,
  DecisionRecord,
  DecisionVerdict,
  OutcomeRecord,
  RecordVerdict,
  RequestDigests,
} from '../records.ts';
import { indexReference } from '../reports/report-references.ts';
import type { SealedRefusal } from '../reports/reports.ts';
import { insertBody } from '../reports/sealed-reports.ts';
import { readDoubt, readRestore } from '../restores.ts';
import { readWithdrawal } from '../run-decisions.ts';
import { flagIfRefused, readClaimedShare, recordShare, toObjection } from '../shares/shares.ts';
import { decideClose } from './close.ts';
import { decideDecision } from './decision.ts';
import { acceptProblem, writeDecision } from './decision-writes.ts';
import { type AttemptRow, type InquiryState, latestIsOverdue, openAnswer, readState } from './inquiry-rows.ts';
import { differencesToDecided, latestView, standingView } from './inquiry-views.ts';
import {
  insertAttempt,
  insertClosed,
  insertInquiry,
  lockInquiry,
  markClaimed,
  markUnknown,
  readRepeat,
  writeLate,
  writeOutcome,
} from './inquiry-writes.ts';
import { decideOutcome } from './outcome.ts';
import { comparableDigest } from './request-digests.ts';

/** The inquiry, in the ledger that the run has used before. */
async function ownState(tx: Unsealed, ledgerId: string, customerTraceNumber: string): Promise<InquiryState> {
  const state = await readState(tx, customerTraceNumber);
  requireSameLedger(ledgerId, state.known.ledgerId);
  return state;
}

/**
 * Reads only. `null` where nothing was claimed or abandoned under the trace number. With `digests` it reveals nothing of
 * attempts for another request: it throws `RequestDiffersError`.
 */
export async function lookUp(
  tx: Transaction,
  ledgerId: string,
  customerTraceNumber: string,
  digests?: RequestDigests,
): Promise<AttemptView | null> {
  const state = await ownState(tx, ledgerId, customerTraceNumber);
  if (digests) requireSameRequest(state, digests);
  return latestView(state, tx.cipher);
}

/** Claims the attempt, or returns what forbids it. */
export async function claimAttempt(tx: Transaction, request: ClaimRequest): Promise<Written<ClaimVerdict>> {
  const { session } = tx;
  const { customerTraceNumber, profile } = request.inquiry;
  // These statements are sent together. The lock comes before the reads, in the order of these lines.
  const [isNew, , { permittedRepeat, otherNumber }, state, share, { lost }] = await Promise.all([
    insertInquiry(tx, request.inquiry),
    lockInquiry(tx, customerTraceNumber),
    readRepeat(session, request.inquiry),
    readState(tx, customerTraceNumber, request.inquiry.runKey),
    readClaimedShare(tx, request),
    readRestore(tx, request.seen),
  ]);
  const digest = comparableDigest(state.inquiry, request.digests);
  const known = {
    ...state.known,
    isRestored: lost !== undefined,
    isPaused: state.pausesInForce > 0 && (await isPaused(session, profile)),
    isWithdrawn: state.isWithdrawn,
    ...omitUndefined({ otherNumber, share }),
  };
  const decision = decideClaim(known, { ...request, digest, writer: SCHEMA_VERSION });
  switch (decision.kind) {
    case 'anotherNumber':
    case 'requestDiffers':
    case 'ledgerRestored':
    case 'ledgerChanged':
    case 'writerTooOld':
    case 'paused':
      return undone(decision);
    case 'withdrawn':
      return undone({ ...decision, ...(await readWithdrawal(session, request.inquiry.runKey)) });
    case 'notPermitted':
      return undone({ ...decision, ...toObjection(share) });
    case 'latest':
      return new Ending(await settleOverdue(tx, state, customerTraceNumber), {
        kind: 'latest',
        latest: standingView(state, tx.cipher),
      });
    case 'claim': {
      await settleOverdue(tx, state, customerTraceNumber);
      const sentTraceNumber = numberToSend(request, state.attempts, decision.permittedBy !== undefined);
      // The key of the inquiry comes before the counter of attempts, whose lock is the last one.
      const written = Promise.all([
        markClaimed(tx, { ...request, permittedRepeat }),
        insertAttempt(tx, request, { permittedBy: decision.permittedBy, sentTraceNumber }),
        linkConsents(tx, { customerTraceNumber, attempt: request.attempt }, request.consents),
        isNew || endByClaim(tx, customerTraceNumber),
      ]);
      // A share writes in several steps. Without them the commit is sent together with the writes.
      await Promise.all([...(request.consents.length > 0 ? [written] : []), insertClaimedShare(tx, request)]);
      const claimed = written.then(([, { claimedAt, position }]) => ({
        kind: 'claimed' as const,
        attempt: request.attempt,
        claimedAt: utcInstant(claimedAt),
        ...omitUndefined({ sentTraceNumber }),
        ...(request.resendAfterMs ? { resendFrom: utcInstant(claimedAt + request.resendAfterMs) } : {}),
        position,
      }));
      return new Ending(true, claimed);
    }
  }
}

/**
 * The number under which the attempt is sent; `undefined` for the inquiry's own. What follows a resend by itself, since
 * that one was not sent or not processed, keeps the resend's number: under an earlier one something may be posted.
 */
function numberToSend(
  { resendsUnderNewNumber, inquiry, attempt }: ClaimRequest,
  before: readonly AttemptRow[],
  isPermitted: boolean,
): string | undefined {
  const isResend = isPermitted && before.length > 0;
  if (resendsUnderNewNumber && isResend) return resentNumber(inquiry.customerTraceNumber, attempt);
  return before.at(-1)?.sent_trace_number ?? undefined;
}

/** @param kept the report of an answer, or the body of a refusal: sealed, for the same transaction */
export async function recordAttempt(
  tx: Transaction,
  record: OutcomeRecord,
  kept: Kept,
): Promise<Written<RecordVerdict>> {
  const { customerTraceNumber, attempt } = record;
  const [, state] = await Promise.all([
    lockInquiry(tx, customerTraceNumber),
    ownState(tx, record.ledgerId, customerTraceNumber),
  ]);
  const row = state.attempts.find((candidate) => candidate.attempt === attempt);
  const isRepeated = row !== undefined && says(row, record, tx.cipher);
  const { kind } = decideOutcome(state.known, { attempt, state: record.state, isRepeated });
  const isDisposed = state.known.disposal === 'done';
  switch (kind) {
    case 'missing':
      return 'missing';
    case 'already':
      // An earlier record came without the report, from a run that had none.
      await keepBodies(tx, record, isDisposed ? {} : kept, !isRepeated);
      return 'already';
    case 'late':
      if (row?.late_state !== record.state) {
        await writeLate(tx, record, !isDisposed);
        await drawAttention(tx, 'lateAnswer', customerTraceNumber);
        await openHeld(tx, customerTraceNumber);
      }
      await flagIfRefused(tx, record);
      await indexReference(tx, record, { isDisposed });
      await keepBodies(tx, record, isDisposed ? {} : kept, true);
      return 'late';
    case 'record': {
      const written = Promise.all([
        writeOutcome(tx, record),
        indexReference(tx, record),
        keepBodies(tx, record, kept, false),
      ]);
      // Only a share can be refused. Without this step the commit is sent together with the writes.
      if (state.inquiry?.product_code === 'SECONDUSE') {
        await Promise.all([written, flagIfRefused(tx, record)]);
      }
      if (record.answer?.kind === 'outcome' && record.answer.flagged) {
        await Promise.all([written, flagReport(tx, record.answer.flagged, customerTraceNumber)]);
      }
      const isAnsweredLate = state.known.attempts.some(({ answeredLate }) => answeredLate);
      if (isHeldBy(record) || isAnsweredLate) await Promise.all([written, openHeld(tx, customerTraceNumber)]);
      return new Ending(
        true,
        written.then(() => 'recorded' as const),
      );
    }
  }
}

/**
 * Looks up like `lookUp`, for an attempt that no activity works on any more, as far as its run knows. If it could still
 * be claimed, writes it as closed, so that a late claim loses: its view is `notSent` with `closedAt`. After a gap it
 * writes nothing and throws `LedgerChangedError`.
 */
export async function lookUpAndClose(tx: Transaction, request: CloseRequest): Promise<Written<AttemptView>> {
  const { inquiry, attempt, run } = request;
  const { customerTraceNumber } = inquiry;
  await insertInquiry(tx, inquiry);
  await lockInquiry(tx, customerTraceNumber);
  const state = await ownState(tx, request.ledgerId, customerTraceNumber);
  requireSameRequest(state, request.digests);
  const digest = comparableDigest(state.inquiry, request.digests);
  const known = { ...state.known, ...(await readDoubt(tx.session, request.begunAt)) };
  const decision = decideClose(known, { ...request, digest, writer: SCHEMA_VERSION });
  switch (decision.kind) {
    case 'ledgerChanged':
      throw new LedgerChangedError(`attempt ${attempt}, or the one before it, may be missing`);
    case 'ledgerRestored':
      throw new LedgerRestoredError('an older copy of the ledger may lack the attempt');
    case 'writerTooOld':
      throw new LedgerUnavailableError('the ledger takes no writer as old as this one');
    case 'close': {
      const closedAt = utcInstant(await insertClosed(tx, request, decision.permittedBy));
      return { attempt, state: 'notSent', closedAt, runId: run.runId };
    }
    default:
      return new Ending(await settleOverdue(tx, state, customerTraceNumber), standingView(state, tx.cipher));
  }
}

/**
 * Writes a decision before it takes effect; idempotent by (trace number, decisionId). A `resend` of a claimed attempt n
 * permits attempt n+1, once. `accept` makes attempt n `accepted`; `abandon` closes the inquiry. `repeat` records who
 * wanted this inquiry, and permits nothing: the claim decides as always.
 */
export async function decide(
  tx: Transaction,
  ledgerId: string,
  inquiry: InquiryDescription,
  decision: DecisionRecord,
): Promise<Written<DecisionVerdict>> {
  const { customerTraceNumber } = inquiry;
  if (decision.customerTraceNumber !== customerTraceNumber) throw new Error('a decision about another inquiry');
  await insertInquiry(tx, inquiry);
  await lockInquiry(tx, customerTraceNumber);
  const state = await ownState(tx, ledgerId, customerTraceNumber);
  const differing = await differencesToDecided(tx.session, state, decision, tx.cipher);
  if (differing.length > 0) {
    return undone({ kind: 'refused', cause: 'differs', reason: otherContent('/decisionId was used', differing) });
  }
  const effect = decideDecision(state.known, decision);
  if (effect.kind === 'repeated') {
    // A run that was reset holds once more, and takes the same decision again.
    await endByDecision(tx, decision, 'decided');
    return { kind: 'recorded' };
  }
  const settled = await settleOverdue(tx, state, customerTraceNumber);
  if (effect.kind === 'overtaken') {
    const isEnded = await endByDecision(tx, decision, 'overtaken');
    return new Ending(settled || isEnded, { kind: 'overtaken', latest: standingView(state, tx.cipher) });
  }
  const reason =
    effect.kind === 'tooEarly'
      ? resendRule(utcInstant(state.nowMs + effect.resendInMs))
      : await acceptProblem(tx, inquiry, decision);
  if (reason) return new Ending(settled, { kind: 'refused', cause: 'notNow', reason });
  await writeDecision(tx, decision, effect);
  await endByDecision(tx, decision, 'decided');
  return { kind: 'recorded' };
}

/** @throws RequestDiffersError */
function requireSameRequest({ known, inquiry }: InquiryState, digests: RequestDigests): void {
  if (known.digest === null || known.digest === comparableDigest(inquiry, digests)) return;
  throw new RequestDiffersError('another request was made under this trace number');
}

async function settleOverdue(tx: Transaction, state: InquiryState, customerTraceNumber: string): Promise<boolean> {
  if (!latestIsOverdue(state)) return false;
  await markUnknown(tx, customerTraceNumber);
  await flagIfRefused(tx, { customerTraceNumber, attempt: state.attempts.at(-1)?.attempt ?? 0 });
  await openHeld(tx, customerTraceNumber);
  return true;
}

async function insertClaimedShare(tx: Transaction, { inquiry, sharedReference }: ClaimRequest): Promise<void> {
  const { runKey, shareId } = inquiry;
  if (sharedReference === undefined || shareId === undefined) return;
  await recordShare(tx, { runKey, shareId, reportReferenceNumber: sharedReference });
}

interface Kept {
  report?: Sealed | undefined;
  refusal?: SealedRefusal | undefined;
}

async function keepBodies(
  tx: Transaction,
  record: OutcomeRecord,
  { report, refusal }: Kept,
  isLate: boolean,
): Promise<void> {
  await Promise.all([
    report && insertBody(tx, { kind: 'report', of: record, isLate, sealed: report }),
    refusal && insertBody(tx, { kind: 'refusal', of: record, isLate, httpStatus: record.httpStatus, ...refusal }),
  ]);
}

/**
 * Whether the row already holds this news, compared by substance. A run that repeats what its activity could not record
 * does not know every detail. An unknown detail does not make another outcome.
 */
function says(row: AttemptRow, record: OutcomeRecord, cipher: LedgerCipher): boolean {
  if (record.state === 'answered') {
    if (!row.answer || !record.answer) return row.state === 'answered' && !record.answer;
    // The comparison uses JSON, in which an undefined field is an absent field.
    const told = JSON.parse(JSON.stringify(record.answer));
    return isDeepStrictEqual(openAnswer(cipher, row.answer, row, 'answer'), told);
  }
  if (row.state !== record.state) return false;
  if (record.state !== 'unknown') return true;
  const agrees = (theirs: unknown, ours: unknown) => theirs === undefined || theirs === ours;
  return agrees(record.httpStatus, row.http_status) && agrees(record.failureType, row.failure_type);
}
