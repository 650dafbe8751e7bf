/**
 * The transactions about one inquiry: claims, outcomes, closing look-ups, decisions. They write what the rules decide.
 */

import { isDeepStrictEqual } from 'node:util';
import { omitUndefined, pick } from '../../base/defined.ts';
import { listApplicantOutcomes } from '../../model/consumer-results.ts';
import { type Answer, type AttemptView, type InquiryDescription, isKnownNotPosted } from '../../model/inquiry.ts';
import { checkProviderStatement, describeResendRule } from '../../model/provider-word.ts';
import { refusePaths } from '../../model/refusals.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import { toResendNumber } from '../../model/trace-number.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { appendToChain, lockHead } from '../audit/audit-chain.ts';
import { decideClaim, findAttempt, findLatest, isOverdue, type KnownInquiry } from '../claim.ts';
import { ifUnset, insertRow, NOW, readRows, updateRows } from '../database/rows.ts';
import { SCHEMA_VERSION } from '../database/schema.ts';
import { Ending, rollBack, type SqlSession, type Transaction, type Written } from '../database/sql-session.ts';
import type { Row } from '../database/tables.ts';
import { requireSameLedger } from '../database/transactions.ts';
import { LedgerChangedError, LedgerRestoredError, RequestDiffersError } from '../errors.ts';
import { closeRows, endByDecision, flagReport, openHeld, openTask } from '../holds/holds.ts';
import { readWithdrawal } from '../orders.ts';
import { toClaimOwners } from '../owners.ts';
import { noteWaiting } from '../pauses.ts';
import type {
  ClaimRequest,
  ClaimVerdict,
  CloseRequest,
  DecisionRecord,
  DecisionVerdict,
  OutcomeRecord,
  RecordVerdict,
} from '../records.ts';
import {
  computeConsumerDigest,
  computeReferenceDigest,
  indexReference,
  insertBodies,
  type NewBodies,
} from '../reports/reports.ts';
import { readDoubt, readRestore } from '../restores.ts';
import { flagIfRefused, readClaimedShare, recordShare } from '../shares/shares.ts';
import {
  ATTEMPT_KEY,
  type AttemptRow,
  compareWithDecided,
  type InquiryState,
  insertInquiry,
  lockInquiry,
  NOT_SENT,
  openAnswer,
  readState,
  sealAnswer,
  selectPauses,
  selectWithdrawals,
  toLatestView,
} from './inquiries.ts';
import { type ClaimedNumber, type DecisionEffect, decideClose, decideDecision, findRepeat } from './rules.ts';

/**
 * Reads only. `null` where nothing was claimed or abandoned under the trace number. With `digest` it reveals nothing of
 * attempts for another request: it throws `RequestDiffersError`.
 */
export async function lookUp(tx: Transaction, ledgerId: string, customerTraceNumber: string, digest?: string) {
  const state = await readState(tx, customerTraceNumber);
  requireSameLedger(ledgerId, state.ledgerId);
  if (digest !== undefined) requireSameRequest(state, digest);
  return toLatestView(state, tx.cipher);
}

/** Claims the attempt, or returns what forbids it. */
export async function claimAttempt(tx: Transaction, request: ClaimRequest): Promise<Written<ClaimVerdict>> {
  const { customerTraceNumber, runKey, shareId } = request.inquiry;
  const { sharedReference: reportReferenceNumber } = request;
  // These statements are sent together. The lock comes before the reads, in the order of these lines.
  const [isNew, , { permittedRepeat, otherNumber }, state, share, { lost }] = await Promise.all([
    insertInquiry(tx, request.inquiry),
    lockInquiry(tx, customerTraceNumber),
    readRepeat(tx, request.inquiry),
    readState(tx, customerTraceNumber, request.inquiry),
    readClaimedShare(tx, request),
    readRestore(tx, request.highWaterMark),
  ]);
  const known = { ...state, isRestored: lost !== undefined, otherNumber, share };
  const decision = decideClaim(known, { ...request, writer: SCHEMA_VERSION });
  switch (decision.kind) {
    case 'paused':
      await noteWaiting(tx, request.inquiry);
      return decision;
    case 'withdrawn':
      return rollBack({ ...decision, ...(await readWithdrawal(tx, runKey)) });
    case 'notPermitted':
      return rollBack({ ...decision, share });
    case 'latest':
      return new Ending(await settleOverdue(tx, state), {
        kind: 'latest',
        latest: toLatestView(state, tx.cipher) ?? NOT_SENT,
      });
    case 'claim': {
      await settleOverdue(tx, state);
      const { permittedBy } = decision;
      const sentTraceNumber = chooseSentNumber(request, state, permittedBy !== undefined);
      // A claim writes this about its inquiry. The row takes the key that the same inquiry under another number
      // would have: LostRaceError where another number has taken it since it was read.
      const asWhole = {
        digest: ifUnset(request.digest),
        applicantIds: request.applicantIds?.slice() ?? state.inquiry?.applicantIds,
        permittedRepeat: ifUnset(permittedRepeat),
      };
      // The key of the inquiry comes before the counter of attempts, whose lock is the last one.
      const written = Promise.all([
        updateRows(tx, 'inquiries', { customerTraceNumber }, asWhole),
        insertAttempt(tx, request, { permittedBy, sentTraceNumber }),
        isNew || closeRows(tx, 'claimed', { kind: 'held', customerTraceNumber }),
        ...request.consents.map((grant) => {
          const permit = { ...grant, customerTraceNumber, attempt: request.attempt };
          return insertRow(tx, 'attempt_consents', permit, { orKeep: true });
        }),
      ]);
      // A share is written in several steps. Without them the commit is sent together with the writes.
      if (shareId && reportReferenceNumber) {
        await Promise.all([written, recordShare(tx, { runKey, shareId, reportReferenceNumber })]);
      }
      const claimed = written.then(([, row]) => ({
        kind: 'claimed' as const,
        ...pick(row, ['attempt', 'claimedAt', 'sentTraceNumber', 'resendFrom', 'position']),
      }));
      return new Ending(true, claimed);
    }
    default:
      return rollBack(decision);
  }
}

/**
 * The number under which the attempt is sent; `undefined` for the inquiry's own. What follows a resend by itself, since
 * that one was not sent or not processed, keeps the resend's number: under an earlier one something may be posted.
 */
function chooseSentNumber(request: ClaimRequest, { attempts }: InquiryState, isPermitted: boolean) {
  const { resendsUnderNewNumber, inquiry, attempt } = request;
  const before = attempts.findLast(({ closed }) => !closed);
  const isResend = isPermitted && before !== undefined;
  if (resendsUnderNewNumber && isResend) return toResendNumber(inquiry.customerTraceNumber, attempt);
  return before?.sentTraceNumber;
}

export interface OutcomeFacts extends Pick<OutcomeRecord, 'attempt' | 'state'> {
  /** The row holds exactly this as the outcome that came, even where an `accept` has overruled it since. */
  isRepeated: boolean;
}

/**
 * `unknown` may change to anything as long as nothing was built on it; a known outcome never changes. After a decision
 * or a later attempt, news is late: it may reveal a second posting.
 */
export function decideOutcome(known: KnownInquiry, news: OutcomeFacts): RecordVerdict {
  const row = findAttempt(known, news.attempt);
  if (!row || row.closed) return 'missing';
  if (news.isRepeated) return 'already';
  const isOpen = row.state === 'sending' || row.state === 'unknown';
  // A disposal leaves nothing to compare with. A known outcome stays, and only news about an unknown one counts.
  if (known.disposal === 'done') return isOpen && news.state !== 'unknown' ? 'late' : 'already';
  const isLatest = findLatest(known)?.attempt === row.attempt;
  if (isOpen && isLatest && !known.abandoned) return 'recorded';
  // `unknown` adds nothing to a row that has an outcome, or a decision.
  return news.state === 'unknown' ? 'already' : 'late';
}

/** @param kept the report of an answer, or the body of a refusal: sealed, for the same transaction */
export async function recordAttempt(tx: Transaction, record: OutcomeRecord, kept: NewBodies) {
  const { customerTraceNumber, attempt, ledgerId } = record;
  const state = await readLockedState(tx, customerTraceNumber);
  requireSameLedger(ledgerId, state.ledgerId);
  const row = state.attempts.find((known) => known.attempt === attempt);
  const isRepeated = row !== undefined && isSameOutcome(row, record, tx.cipher);
  const verdict = decideOutcome(state, { attempt, state: record.state, isRepeated });
  if (verdict === 'missing') return verdict;
  if (verdict !== 'recorded') {
    const isDisposed = state.disposal === 'done';
    const isLate = verdict === 'late';
    if (isLate && row?.lateState !== record.state) {
      // News beside an attempt that was superseded.
      await updateRows(tx, 'attempts', pick(record, ATTEMPT_KEY), {
        lateState: record.state,
        lateNews: toNews(record),
        lateAnswer: isDisposed ? undefined : sealAnswer(tx.cipher, record, 'lateAnswer'),
        lateAt: NOW,
      });
      await openTask(tx, { kind: 'flagged', reason: 'lateAnswer', customerTraceNumber });
      await openHeld(tx, customerTraceNumber);
    }
    if (isLate) {
      await flagIfRefused(tx, pick(record, ATTEMPT_KEY));
      await indexReference(tx, record, { isDisposed });
    }
    // An earlier record came without the report, from a run that had none.
    await insertBodies(tx, record, isDisposed ? {} : kept, isLate || !isRepeated);
    return verdict;
  }
  const written = Promise.all([
    writeOutcome(tx, record),
    indexReference(tx, record),
    insertBodies(tx, record, kept, false),
  ]);
  // Only a share can be refused. Without this step the commit is sent together with the writes.
  if (state.inquiry?.productCode === 'SECONDUSE') {
    await Promise.all([written, flagIfRefused(tx, pick(record, ATTEMPT_KEY))]);
  }
  const outcome = record.answer?.kind === 'outcome' ? record.answer : undefined;
  if (outcome?.flagged) await Promise.all([written, flagReport(tx, outcome.flagged, customerTraceNumber)]);
  const isDoubtful = !isKnownNotPosted(record.state) && !(record.state === 'answered' && outcome);
  const isAnsweredLate = state.attempts.some(({ answeredLate }) => answeredLate);
  if (isDoubtful || isAnsweredLate) await Promise.all([written, openHeld(tx, customerTraceNumber)]);
  return new Ending(
    true,
    written.then(() => verdict),
  );
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
  const state = await readLockedState(tx, customerTraceNumber);
  requireSameRequest(state, request.digest);
  const known = { ...state, ...(await readDoubt(tx, request.begunAt)) };
  const decision = decideClose(known, { ...request, writer: SCHEMA_VERSION });
  switch (decision.kind) {
    case 'ledgerChanged':
      throw new LedgerChangedError(`attempt ${attempt}, or the one before it, may be missing`);
    case 'ledgerRestored':
      throw new LedgerRestoredError('an older copy of the ledger may lack the attempt');
    case 'close': {
      await updateRows(tx, 'inquiries', { customerTraceNumber }, { digest: ifUnset(request.digest) });
      const closed = await insertRow(tx, 'closed_attempts', { customerTraceNumber, attempt, ...run });
      return { attempt, state: 'notSent', closedAt: closed?.closedAt, runId: run.runId };
    }
    default:
      return new Ending(await settleOverdue(tx, state), toLatestView(state, tx.cipher) ?? NOT_SENT);
  }
}

/**
 * Writes a decision before it takes effect; idempotent by (trace number, decisionId). A `resend` of a claimed attempt n
 * permits attempt n+1, once. `accept` makes attempt n `accepted`; `abandon` closes the inquiry. `repeat` records who
 * wanted this inquiry, and permits nothing: the claim decides as always.
 *
 * @param run the one that waits. On a copy that was accepted, its resend over missing attempts closes the last of them
 */
export async function decide(
  tx: Transaction,
  inquiry: InquiryDescription,
  decision: DecisionRecord,
  run?: CloseRequest['run'],
): Promise<Written<DecisionVerdict>> {
  const { customerTraceNumber } = inquiry;
  if (decision.customerTraceNumber !== customerTraceNumber) throw new Error('a decision about another inquiry');
  await insertInquiry(tx, inquiry);
  const state = await readLockedState(tx, customerTraceNumber);
  const differing = refusePaths('/decisionId was used', compareWithDecided(state, decision, tx.cipher));
  if (differing) return rollBack({ kind: 'refused', ...differing });
  const effect = decideDecision(state, decision);
  if (effect.kind === 'repeated') {
    // A run that was reset holds once more, and takes the same decision again.
    await endByDecision(tx, decision, 'decided');
    return { kind: 'recorded' };
  }
  const settled = await settleOverdue(tx, state);
  if (effect.kind === 'overtaken') {
    const isEnded = await endByDecision(tx, decision, 'overtaken');
    return new Ending(settled || isEnded, { kind: 'overtaken', latest: toLatestView(state, tx.cipher) ?? NOT_SENT });
  }
  const reason =
    effect.kind === 'tooEarly'
      ? describeResendRule(state.attempts.find((row) => row.attempt === decision.attempt)?.resendFrom ?? '')
      : await acceptProblem(tx, inquiry, decision);
  if (reason) return new Ending(settled, { kind: 'refused', cause: 'notNow', reason });
  await writeDecision(tx, decision, effect);
  const missing = decision.attempt - 1;
  const isOverGap = decision.action === 'resend' && (findLatest(state)?.attempt ?? 0) < missing;
  if (run && isOverGap && (await readRows(tx, 'orders', { kind: 'restoreAccepted' }, 'LIMIT 1')).length > 0) {
    await insertRow(tx, 'closed_attempts', { customerTraceNumber, attempt: missing, ...run });
  }
  await endByDecision(tx, decision, 'decided');
  return { kind: 'recorded' };
}

async function readLockedState(tx: Transaction, customerTraceNumber: string): Promise<InquiryState> {
  const [, state] = await Promise.all([lockInquiry(tx, customerTraceNumber), readState(tx, customerTraceNumber)]);
  return state;
}

/** @throws RequestDiffersError */
function requireSameRequest(known: InquiryState, digest: string): void {
  if (known.digest === null || known.digest === digest) return;
  throw new RequestDiffersError('another request was made under this trace number');
}

async function settleOverdue(tx: Transaction, { attempts }: InquiryState): Promise<boolean> {
  const latest = attempts.at(-1);
  if (!latest || !isOverdue(latest)) return false;
  const overdue = { ...pick(latest, ATTEMPT_KEY), state: 'sending' } as const;
  await updateRows(tx, 'attempts', overdue, { state: 'unknown', failureType: 'OutcomeUnknown' });
  await flagIfRefused(tx, pick(latest, ATTEMPT_KEY));
  await openHeld(tx, latest.customerTraceNumber);
  return true;
}

/**
 * Whether the row already holds this news, compared by substance. A run that repeats what its activity could not record
 * does not know every detail. An unknown detail does not make another outcome.
 */
function isSameOutcome(row: AttemptRow, record: OutcomeRecord, cipher: LedgerCipher): boolean {
  if (record.state === 'answered') {
    if (!row.answer || !record.answer) return row.state === 'answered' && !record.answer;
    // The comparison uses JSON, in which an undefined field is an absent field.
    const told = JSON.parse(JSON.stringify(record.answer));
    return isDeepStrictEqual(openAnswer(cipher, row, 'answer'), told);
  }
  if (row.state !== record.state) return false;
  if (record.state !== 'unknown') return true;
  const agrees = (theirs: unknown, ours: unknown) => theirs === undefined || theirs === ours;
  return agrees(record.httpStatus, row.httpStatus) && agrees(record.failureType, row.failureType);
}

/** Writes a decision, and what it makes of its inquiry. */
async function writeDecision(tx: Transaction, decision: DecisionRecord, effect: DecisionEffect): Promise<void> {
  await appendToChain(tx, async (insert) => {
    await insert('decisions', { ...decision, permitsAttempt: effect.kind === 'resend' ? effect.attempt : undefined });
  });
  if (effect.kind === 'abandon') {
    const { customerTraceNumber } = decision;
    await updateRows(tx, 'inquiries', { customerTraceNumber }, { abandonedAt: NOW });
  }
  if (effect.kind !== 'accept') return;
  if (!decision.answer) throw new Error('accept without an answer');
  // An answer that came stays beside the accepted one.
  await updateRows(tx, 'attempts', pick(decision, ATTEMPT_KEY), {
    state: 'accepted',
    acceptedBy: decision.decisionId,
    acceptedAnswer: sealAnswer(tx.cipher, decision, 'acceptedAnswer'),
    ...pick(toReadable(decision.answer), ['outcome', 'applicantOutcomes']),
  });
  await indexReference(tx, decision);
}

// Checks a decision within the transaction that writes it, so that no inquiry gets another inquiry's report.

/** Returns why the decision is refused, as a path and a rule without the value; or `null`. */
async function acceptProblem(tx: Transaction, inquiry: InquiryDescription, decision: DecisionRecord) {
  const { action, answer, providerSaid } = decision;
  if (action === 'repeat') return null;
  const { outcome, reference } = answer?.kind === 'outcome' ? answer : {};
  // Without the reason of the hold, only the rules that hold for every reason apply.
  const { failureType = 'UnexpectedResponse', confirmConsumerIds } = decision;
  const problem = checkProviderStatement(
    { failureType, productCode: inquiry.productCode },
    { action, outcome, providerSaid },
  );
  if (problem || !reference) return problem;
  // Two people who accept one number for two inquiries wait for each other here, and the second reads the first.
  await lockHead(tx);
  if (await isAnothersNumber(tx, inquiry, reference.reportReferenceNumber)) {
    return '/reference/reportReferenceNumber must be the reference of this inquiry: in the ledger it belongs to another one';
  }
  if (confirmConsumerIds) return null;
  const unknown = await findForeignConsumer(tx, inquiry, reference);
  if (unknown === null) return null;
  return (
    `/reference/applicants/${unknown}/consumerId must be confirmed by confirmConsumerIds: the ledger has it only ` +
    'from inquiries about other applicants'
  );
}

/**
 * Whether another inquiry in the ledger has the number. A share's confirmation may repeat the number of the shared
 * report.
 */
async function isAnothersNumber(tx: Transaction, inquiry: InquiryDescription, reportReferenceNumber: string) {
  const { customerTraceNumber, runKey, shareId } = inquiry;
  const digest = computeReferenceDigest(tx.cipher, reportReferenceNumber);
  const rows = await tx.rows(
    `SELECT 1 FROM report_references r JOIN inquiries i ON i.customer_trace_number = r.customer_trace_number
     WHERE r.reference_digest = $1 AND r.customer_trace_number <> $2
       AND NOT EXISTS (SELECT 1 FROM report_shares s WHERE s.reference_digest = $1
         AND ((s.run_key = i.run_key AND s.share_id = i.share_id) OR (s.run_key = $3 AND s.share_id = $4)))
     LIMIT 1`,
    [digest, customerTraceNumber, runKey, shareId ?? null],
  );
  return rows.length > 0;
}

/**
 * The first applicant of the reference whose `consumerId` the ledger knows only from elsewhere; `null` where there is
 * none. Elsewhere means neither an inquiry about this applicant of this run, nor the report that a share is of. One
 * person may rightly have one `consumerId` in several reports, and the ledger stores nothing that identifies persons:
 * so a person is asked.
 */
async function findForeignConsumer(tx: Transaction, inquiry: InquiryDescription, { applicants }: ReportReference) {
  const { runKey, shareId } = inquiry;
  for (const [index, { applicantId, consumerId }] of applicants.entries()) {
    const foreign = await tx.rows(
      `SELECT count(*) FROM report_consumers c JOIN inquiries i ON i.customer_trace_number = c.customer_trace_number
       WHERE c.consumer_digest = $1
       HAVING max(CASE WHEN c.applicant_id = $2 AND (i.run_key = $3 OR EXISTS (
           SELECT 1 FROM report_shares s JOIN report_references r ON r.reference_digest = s.reference_digest
           WHERE s.run_key = $3 AND s.share_id = $4 AND r.customer_trace_number = c.customer_trace_number))
         THEN 1 ELSE 0 END) = 0`,
      [computeConsumerDigest(tx.cipher, consumerId), applicantId, runKey, shareId ?? null],
    );
    if (foreign.length > 0) return index;
  }
  return null;
}

// The statements that change `inquiries` and `attempts`, and the columns that they fill.

/** The repeat that the claim of this inquiry takes, and the number that another customer already has. */
async function readRepeat(session: SqlSession, inquiry: InquiryDescription): Promise<ReturnType<typeof findRepeat>> {
  const numbers = await session.read<ClaimedNumber>(
    `SELECT customer_trace_number, customer_id, ordinal, permitted_repeat FROM inquiries
     WHERE run_key = $1 AND product_code = $2 AND environment = $3 AND workflow_type = $4
       AND coalesce(share_id, '') = $5 AND permitted_repeat IS NOT NULL
     ORDER BY permitted_repeat, ordinal`,
    [inquiry.runKey, inquiry.productCode, inquiry.environment, inquiry.workflowType, inquiry.shareId ?? ''],
  );
  return findRepeat(numbers, inquiry);
}

/**
 * The claim itself: INSERT or lose. Returns the row. Issues all of its statements at once.
 *
 * The transaction holds the counter's lock until its commit, so attempts are committed in the order of their places: a
 * copy that has one attempt has all before it. A claim takes this lock last.
 *
 * @throws LostRaceError also where a pause of the profile, or a withdrawal of the run, came first
 */
async function insertAttempt(
  session: SqlSession,
  { inquiry, attempt, run, answerWithinMs, resendAfterMs = 0 }: ClaimRequest,
  spent: { permittedBy: string | undefined; sentTraceNumber: string | undefined },
): Promise<Row<'attempts'>> {
  const { customerTraceNumber } = inquiry;
  const fields = { customerTraceNumber, attempt, state: 'sending', ...run, ...spent } as const;
  const [owner, runOwner] = toClaimOwners(inquiry.runKey);
  const [, row] = await Promise.all([
    session.rows('UPDATE attempt_counter SET last_position = last_position + 1'),
    insertRow(session, 'attempts', fields, {
      // This statement reads the clock itself, after the wait for every lock: no claim looks older than it is.
      sql: (place) => {
        // A value: with the number in its text, each claim's statement would be another one, which SQLite keeps prepared.
        const after = (ms: number) => `${session.dialect.now} + ${place(ms)}`;
        return {
          position: '(SELECT last_position FROM attempt_counter)',
          // A pause takes the counter's lock too, and so does a withdrawal: one that came since the rules were asked is
          // seen here, and the column takes no NULL.
          claimed_at: `CASE WHEN EXISTS (${selectPauses(place(inquiry.profile))}) OR EXISTS (${selectWithdrawals(place(owner), place(runOwner))}) THEN NULL ELSE ${session.dialect.now} END`,
          answer_by: after(answerWithinMs),
          ...(resendAfterMs > 0 ? { resend_from: after(resendAfterMs) } : {}),
        };
      },
    }),
  ]);
  return row as Row<'attempts'>;
}

/** Writes news as the attempt's outcome. Status and request stay unchanged if the news lacks them. */
async function writeOutcome(tx: Transaction, record: OutcomeRecord): Promise<void> {
  const { httpStatus, requestedAt, ...news } = toNews(record);
  await updateRows(tx, 'attempts', pick(record, ATTEMPT_KEY), {
    state: record.state,
    ...news,
    ...omitUndefined({ httpStatus, requestedAt }),
    retryAfterMs: record.retryAfterMs,
    answerKind: record.answer?.kind,
    answer: sealAnswer(tx.cipher, record, 'answer'),
    recordedAt: NOW,
  });
}

function toNews({ failureType, httpStatus, requestedAt, answer }: OutcomeRecord) {
  return { failureType, httpStatus, requestedAt, ...toReadable(answer) };
}

/**
 * The part of an answer that is readable without a key. A code that is in no table, or of an answer that is not trusted,
 * is unchecked text: it stays in the sealed answer.
 */
function toReadable(answer: Answer | undefined) {
  const known = answer?.kind === 'outcome' ? answer : undefined;
  const named = (known?.applicants ?? known?.reference?.applicants ?? []).map(({ applicantId }) => applicantId);
  return {
    outcome: known?.outcome,
    returnCode: known?.returnCode,
    returnReasonCode: known?.returnReasonCode,
    applicantOutcomes: known && named.length > 0 ? listApplicantOutcomes(known, named) : undefined,
  };
}
