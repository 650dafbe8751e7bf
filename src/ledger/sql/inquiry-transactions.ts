/**
 * The transactions about one inquiry: claims, outcomes, closing look-ups, decisions. They write what the rules decide.
 */
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../base/defined.ts';
import { otherContent } from '../../base/differing-paths.ts';
import { utcInstant } from '../../base/instants.ts';
import type { AttemptView, InquiryDescription } from '../../model/inquiry.ts';
import { resendRule } from '../../model/provider-word.ts';
import { resentNumber } from '../../model/trace-number.ts';
import type { LedgerCipher, Sealed } from '../../protection/sealed/sealing.ts';
import { decideClaim } from '../claim.ts';
import { decideClose } from '../close.ts';
import { SCHEMA_VERSION } from '../database/schema.ts';
import type { Written } from '../database/sql-session.ts';
import type { Writing } from '../database/writing.ts';
import { type DecisionEffect, decideDecision } from '../decision.ts';
import { LedgerChangedError, LedgerRestoredError, LedgerUnavailableError, RequestDiffersError } from '../errors.ts';
import { decideOutcome } from '../outcome.ts';
import type { SealedRefusal } from '../reading.ts';
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
import { comparableDigest } from '../request-digests.ts';
import { acceptProblem } from '../rows/accept-problem.ts';
import { insertConsents, linkConsents } from '../rows/consent-rows.ts';
import { insertDecision, writeAbandoned, writeAccepted } from '../rows/decision-writes.ts';
import { type AttemptRow, type InquiryState, latestIsOverdue, openAnswer, readState } from '../rows/inquiry-rows.ts';
import { differencesToDecided, standingView } from '../rows/inquiry-views.ts';
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
} from '../rows/inquiry-writes.ts';
import { isPaused } from '../rows/pauses.ts';
import { indexReference } from '../rows/report-references.ts';
import { insertRefusal, insertReport } from '../rows/report-rows.ts';
import { readDoubt, readLost } from '../rows/restores.ts';
import { readWithdrawal } from '../rows/run-decisions.ts';
import { objectionOf, readClaimedShare } from '../rows/shares/claimed-shares.ts';
import { flagIfRefused } from '../rows/shares/refused-postings.ts';
import { insertShare } from '../rows/shares/report-shares.ts';
import { drawAttention, endByClaim, endByDecision, isHeldBy, openHeld } from '../rows/work-for-people.ts';

/** The inquiry, in the ledger that the run has used before. */
export async function ownState(
  reading: Pick<Writing, 'session' | 'dialect'>,
  ledgerId: string,
  customerTraceNumber: string,
): Promise<InquiryState> {
  const state = await stateOf(reading, customerTraceNumber);
  requireSameLedger(ledgerId, state.known.ledgerId);
  return state;
}

function stateOf(
  { session, dialect }: Pick<Writing, 'session' | 'dialect'>,
  customerTraceNumber: string,
  claimedFor?: string,
): Promise<InquiryState> {
  return readState(session, dialect, customerTraceNumber, claimedFor);
}

/** Claims the attempt, or returns what forbids it. */
export async function claimAttempt(writing: Writing, request: ClaimRequest): Promise<Written<ClaimVerdict>> {
  const { session } = writing;
  const { customerTraceNumber, profile } = request.inquiry;
  // All in one go. The lock comes before what is read, in the order of these lines.
  const [isNew, , { permittedRepeat, otherNumber }, state, share, lost] = await Promise.all([
    insertInquiry(writing, request.inquiry),
    lockInquiry(writing, customerTraceNumber),
    readRepeat(session, request.inquiry),
    stateOf(writing, customerTraceNumber, request.inquiry.ownerId),
    readClaimedShare(writing, request),
    readLost(session, request.seen),
  ]);
  const digest = comparableDigest(state.inquiry, request.digests);
  const known = {
    ...state.known,
    isRestored: lost !== undefined,
    isPaused: state.pausesInForce > 0 && (await isPaused(session, profile)),
    isWithdrawn: state.isWithdrawn,
    ...defined({ otherNumber, share }),
  };
  const decision = decideClaim(known, { ...request, digest, writer: SCHEMA_VERSION });
  switch (decision.kind) {
    case 'anotherNumber':
    case 'requestDiffers':
    case 'ledgerRestored':
    case 'ledgerChanged':
    case 'writerTooOld':
    case 'paused':
      return { keep: false, value: decision };
    case 'withdrawn':
      return { keep: false, value: { ...decision, ...(await readWithdrawal(session, request.inquiry.ownerId)) } };
    case 'notPermitted':
      return { keep: false, value: { ...decision, ...objectionOf(share) } };
    case 'latest':
      return {
        keep: await settleOverdue(writing, state, customerTraceNumber),
        value: { kind: 'latest', latest: standingView(state, writing.cipher) },
      };
    case 'claim': {
      await settleOverdue(writing, state, customerTraceNumber);
      const sentTraceNumber = numberToSend(request, state.attempts, decision.permittedBy !== undefined);
      // The key of the inquiry comes before the counter of attempts, whose lock is the last one.
      const written = Promise.all([
        markClaimed(writing, { ...request, permittedRepeat }),
        insertAttempt(writing, request, { permittedBy: decision.permittedBy, sentTraceNumber }),
        linkConsents(writing, { customerTraceNumber, attempt: request.attempt }, request.consents),
        isNew || endByClaim(writing, customerTraceNumber),
      ]);
      // What a share writes takes several steps. Without them the commit goes along with what is written.
      await Promise.all([
        ...(request.consents.length > 0 ? [written, insertConsents(writing, request.consents)] : []),
        insertClaimedShare(writing, request),
      ]);
      const claimed = written.then(([, { claimedAt, position }]) => ({
        kind: 'claimed' as const,
        attempt: request.attempt,
        claimedAt: utcInstant(claimedAt),
        ...defined({ sentTraceNumber }),
        ...(request.resendAfterMs ? { resendFrom: utcInstant(claimedAt + request.resendAfterMs) } : {}),
        position,
      }));
      return { keep: true, value: claimed };
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
  writing: Writing,
  record: OutcomeRecord,
  kept: Kept,
): Promise<Written<RecordVerdict>> {
  const { customerTraceNumber, attempt } = record;
  const [, state] = await Promise.all([
    lockInquiry(writing, customerTraceNumber),
    ownState(writing, record.ledgerId, customerTraceNumber),
  ]);
  const row = state.attempts.find((candidate) => candidate.attempt === attempt);
  const isRepeated = row !== undefined && says(row, record, writing.cipher);
  const { kind } = decideOutcome(state.known, { attempt, state: record.state, isRepeated });
  const isDisposed = state.known.disposal === 'done';
  switch (kind) {
    case 'missing':
      return { keep: false, value: 'missing' };
    case 'already':
      // An earlier record came without the report, from a run that had none.
      return {
        keep: await keepBodies(writing, record, isDisposed ? {} : kept, !isRepeated),
        value: 'already',
      };
    case 'late':
      if (row?.late_state !== record.state) {
        await writeLate(writing, record, !isDisposed);
        await drawAttention(writing, 'lateAnswer', customerTraceNumber);
        await openHeld(writing, customerTraceNumber);
      }
      await flagIfRefused(writing, record);
      await indexReference(writing, record, { isDisposed });
      await keepBodies(writing, record, isDisposed ? {} : kept, true);
      return { keep: true, value: 'late' };
    case 'record': {
      const written = Promise.all([
        writeOutcome(writing, record),
        indexReference(writing, record),
        keepBodies(writing, record, kept, false),
      ]);
      // Only what is shared can be refused. Without this step the commit goes along with what is written.
      if (state.inquiry?.product_code === 'SECONDUSE') {
        await Promise.all([written, flagIfRefused(writing, record)]);
      }
      const isAnsweredLate = state.known.attempts.some(({ answeredLate }) => answeredLate);
      if (isHeldBy(record) || isAnsweredLate) await Promise.all([written, openHeld(writing, customerTraceNumber)]);
      return { keep: true, value: written.then(() => 'recorded' as const) };
    }
  }
}

/** Returns the inquiry's state. Where the attempt was never claimed, no program can claim it from then on. */
export async function lookUpAndClose(writing: Writing, request: CloseRequest): Promise<Written<AttemptView>> {
  const { inquiry, attempt, run } = request;
  const { customerTraceNumber } = inquiry;
  await insertInquiry(writing, inquiry);
  await lockInquiry(writing, customerTraceNumber);
  const state = await ownState(writing, request.ledgerId, customerTraceNumber);
  requireSameRequest(state, request.digests);
  const digest = comparableDigest(state.inquiry, request.digests);
  const known = { ...state.known, ...(await readDoubt(writing.session, request.begunAt)) };
  const decision = decideClose(known, { ...request, digest, writer: SCHEMA_VERSION });
  switch (decision.kind) {
    case 'ledgerChanged':
      throw new LedgerChangedError(`attempt ${attempt}, or the one before it, may be missing`);
    case 'ledgerRestored':
      throw new LedgerRestoredError('an older copy of the ledger may lack the attempt');
    case 'writerTooOld':
      throw new LedgerUnavailableError('the ledger takes no writer as old as this one');
    case 'close': {
      const closedAt = utcInstant(await insertClosed(writing, request, decision.permittedBy));
      return { keep: true, value: { attempt, state: 'notSent', closedAt, runId: run.runId } };
    }
    default:
      return {
        keep: await settleOverdue(writing, state, customerTraceNumber),
        value: standingView(state, writing.cipher),
      };
  }
}

/** Writes the decision and its changes, or returns why it does not count. */
export async function decide(
  writing: Writing,
  ledgerId: string,
  inquiry: InquiryDescription,
  decision: DecisionRecord,
): Promise<Written<DecisionVerdict>> {
  const { customerTraceNumber } = inquiry;
  await insertInquiry(writing, inquiry);
  await lockInquiry(writing, customerTraceNumber);
  const state = await ownState(writing, ledgerId, customerTraceNumber);
  const differing = await differencesToDecided(writing.session, state, decision, writing.cipher);
  if (differing.length > 0) {
    return { keep: false, value: { kind: 'refused', reason: otherContent('/decisionId was used', differing) } };
  }
  const effect = decideDecision(state.known, decision);
  if (effect.kind === 'repeated') {
    // A run that was reset holds once more, and takes the same decision again.
    const isEnded = await endByDecision(writing, decision, 'decided');
    return { keep: isEnded, value: { kind: 'recorded' } };
  }
  const settled = await settleOverdue(writing, state, customerTraceNumber);
  if (effect.kind === 'overtaken') {
    const isEnded = await endByDecision(writing, decision, 'overtaken');
    return {
      keep: settled || isEnded,
      value: { kind: 'overtaken', latest: standingView(state, writing.cipher) },
    };
  }
  const reason =
    effect.kind === 'tooEarly'
      ? resendRule(utcInstant(state.nowMs + effect.resendInMs))
      : await acceptProblem(writing, inquiry, decision);
  if (reason) return { keep: settled, value: { kind: 'refused', reason } };
  await insertDecision(writing, decision, effect.kind === 'permit' ? effect.attempt : undefined);
  await applyDecision(writing, decision, effect);
  await endByDecision(writing, decision, 'decided');
  return { keep: true, value: { kind: 'recorded' } };
}

/** @throws LedgerChangedError */
export function requireSameLedger(asked: string, found: string): void {
  if (asked !== found) throw new LedgerChangedError(`asked for ledger ${asked}, but this is ledger ${found}`);
}

/** @throws RequestDiffersError */
export function requireSameRequest({ known, inquiry }: InquiryState, digests: RequestDigests): void {
  if (known.digest === null || known.digest === comparableDigest(inquiry, digests)) return;
  throw new RequestDiffersError('another request was made under this trace number');
}

async function settleOverdue(writing: Writing, state: InquiryState, customerTraceNumber: string): Promise<boolean> {
  if (!latestIsOverdue(state)) return false;
  await markUnknown(writing, customerTraceNumber);
  await flagIfRefused(writing, { customerTraceNumber, attempt: state.attempts.at(-1)?.attempt ?? 0 });
  await openHeld(writing, customerTraceNumber);
  return true;
}

async function applyDecision(writing: Writing, decision: DecisionRecord, effect: DecisionEffect): Promise<void> {
  if (effect.kind === 'abandon') await writeAbandoned(writing, decision.customerTraceNumber);
  if (effect.kind !== 'accept') return;
  if (!decision.answer) throw new Error('accept without an answer');
  await writeAccepted(writing, decision, decision.answer);
  await indexReference(writing, decision);
}

async function insertClaimedShare(writing: Writing, { inquiry, sharedReference }: ClaimRequest): Promise<void> {
  const { ownerId, shareId } = inquiry;
  if (sharedReference === undefined || shareId === undefined) return;
  await insertShare(writing, { ownerId, shareId, reportReferenceNumber: sharedReference });
}

interface Kept {
  report?: Sealed | undefined;
  refusal?: SealedRefusal | undefined;
}

async function keepBodies(
  writing: Writing,
  record: OutcomeRecord,
  { report, refusal }: Kept,
  late: boolean,
): Promise<boolean> {
  await Promise.all([
    report && insertReport(writing, record, report, late),
    refusal && insertRefusal(writing, record, refusal, late),
  ]);
  return report !== undefined || refusal !== undefined;
}

/**
 * Whether the row already holds this news, compared by substance. A run that repeats what its activity could not record
 * does not know every detail. An unknown detail does not make another outcome.
 */
function says(row: AttemptRow, record: OutcomeRecord, cipher: LedgerCipher): boolean {
  if (record.state === 'answered') {
    if (!row.answer || !record.answer) return row.state === 'answered' && !record.answer;
    // As JSON, in which an undefined field is an absent field.
    const told = JSON.parse(JSON.stringify(record.answer));
    return isDeepStrictEqual(openAnswer(cipher, row.answer, row, 'answer'), told);
  }
  if (row.state !== record.state) return false;
  if (record.state !== 'unknown') return true;
  const agrees = (theirs: unknown, ours: unknown) => theirs === undefined || theirs === ours;
  return agrees(record.httpStatus, row.http_status) && agrees(record.failureType, row.failure_type);
}
