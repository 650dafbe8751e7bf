/** The explorer's ledger: rows in memory, and every verdict from the product's own pure functions. */

import { judgesAttempts } from '../../src/ledger/audit/audited.ts';
import {
  type ClaimRule,
  decideClaim,
  effectiveAttempt,
  effectiveState,
  findLatest,
  findResend,
  HELD_STATES,
  isOverdue,
  lateToJudge,
} from '../../src/ledger/claim.ts';
import { decideOutcome } from '../../src/ledger/inquiries/inquiry-transactions.ts';
import { decideClose, decideDecision, findRepeat } from '../../src/ledger/inquiries/rules.ts';
import type { Answer, AttemptView } from '../../src/model/inquiry.ts';
import {
  CURRENT_WRITER,
  type Decision,
  type End,
  type LedgerCopy,
  NO_ROWS,
  OLDER_WRITER,
  type Request,
  type Row,
} from './explorer-world.ts';

/** A claim, an outcome or a decision with its request, and the ledger id that the caller expects. */
export interface Asker {
  of: Request;
  ledgerId: 'L' | 'F';
  /** Set for a worker of the version before the latest tables. */
  isOlder?: boolean;
}

export type Claimed =
  | { kind: 'claimed'; ledger: LedgerCopy; violation?: string }
  | { kind: 'latest'; ledger: LedgerCopy; view: AttemptView }
  | {
      kind:
        | 'requestDiffers'
        | 'anotherNumber'
        | 'ledgerRestored'
        | 'ledgerChanged'
        | 'writerTooOld'
        | 'paused'
        | 'withdrawn';
    };

/** Returns the rows under the given trace number. */
export function rowsOf(ledger: LedgerCopy, of: Request): LedgerCopy {
  return of === 'C' ? (ledger.beside ?? NO_ROWS) : ledger;
}

function withRows(ledger: LedgerCopy, of: Request, rows: LedgerCopy): LedgerCopy {
  return of === 'C' ? { ...ledger, beside: rows } : rows;
}

function numberOf(of: Request) {
  const name = of === 'C' ? 'C' : 'A';
  return { customerTraceNumber: name, customerId: name, ordinal: 0 };
}

/** Claims as `SqlLedger.claim`; an older worker lacks only the rule that is newer than it. */
export function claim(all: LedgerCopy, asker: Asker, attempt: number, rules: readonly ClaimRule[]): Claimed {
  const ledger = rowsOf(all, asker.of);
  const numbers = (['A', 'C'] as const).flatMap((of) => {
    const { permittedRepeat } = rowsOf(all, of);
    return permittedRepeat === undefined ? [] : [{ ...numberOf(of), permittedRepeat }];
  });
  const { permittedRepeat, otherNumber } = findRepeat(numbers, numberOf(asker.of));
  // None of these rules is about a single trace number.
  const { isPaused = false, isWithdrawn = false } = all;
  const known = { ...ledger, isPaused, isWithdrawn, ...(otherNumber ? { otherNumber } : {}) };
  const writer = asker.isOlder ? OLDER_WRITER : CURRENT_WRITER;
  const ownRules = asker.isOlder ? rules.filter(({ name }) => name !== 'disposedOf') : rules;
  const verdict = decideClaim(known, { ledgerId: asker.ledgerId, writer, digest: asker.of, attempt }, ownRules);
  if (verdict.kind === 'notPermitted') throw new Error('a rule about shares');
  if (verdict.kind !== 'latest' && verdict.kind !== 'claim') return { kind: verdict.kind };
  const settled = settleOverdue(ledger);
  if (verdict.kind === 'latest') {
    return { kind: 'latest', ledger: withRows(all, asker.of, settled), view: toLatestViewOrNotSent(settled) };
  }
  const row: Row = { attempt, state: 'sending', answerInMs: 1, of: asker.of };
  const others = settled.attempts.filter((other) => other.attempt !== attempt);
  const violation = isPaused
    ? 'while inquiries are paused'
    : isWithdrawn
      ? 'although its run was withdrawn'
      : (whyNothingMayBeSent(ledger) ?? (lateToJudge(ledger) && 'although an attempt was answered late'));
  return {
    kind: 'claimed',
    ledger: withRows(all, asker.of, {
      ...settled,
      digest: asker.of,
      permittedRepeat: settled.permittedRepeat ?? permittedRepeat,
      attempts: [...others, row].sort((a, b) => a.attempt - b.attempt),
    }),
    ...(violation ? { violation: `claimed ${violation}` } : {}),
  };
}

/** Returns why no worker may send any more, regardless of the number of sends; `undefined` if one may. */
export function whyNothingMayBeSent(ledger: LedgerCopy): string | undefined {
  if (ledger.abandoned) return 'after the inquiry was abandoned';
  if (ledger.disposal) return 'after the inquiry was disposed of';
  return ledger.attempts.some(isSettled) ? 'although its outcome stands' : undefined;
}

function isSettled(row: Row): boolean {
  return row.state === 'accepted' || (row.state === 'answered' && row.answerKind === 'outcome');
}

export type Recorded =
  | { kind: 'recorded'; ledger: LedgerCopy; violation?: string }
  /** Thrown when the answering ledger is not the one that was used before. */
  | { kind: 'ledgerChanged' };

/** As `SqlLedger.recordOutcome`; that there is no such row is, for who records, as good as recorded. */
export function recordOutcome(all: LedgerCopy, asker: Asker, attempt: number, end: Omit<End, 'name'>): Recorded {
  const ledger = rowsOf(all, asker.of);
  if (ledger.ledgerId !== asker.ledgerId) return { kind: 'ledgerChanged' };
  const row = ledger.attempts.find((candidate) => candidate.attempt === attempt);
  const isRepeated = row !== undefined && says(row, end);
  const kind = decideOutcome(ledger, { attempt, state: end.state, isRepeated });
  if (kind === 'late' && row && end.state === 'answered') {
    const late = { ...row, answeredLate: true as const };
    return { kind: 'recorded', ledger: withRows(all, asker.of, withRow(ledger, late)) };
  }
  if (kind !== 'recorded' || !row) return { kind: 'recorded', ledger: all };
  const news: Row = {
    ...row,
    state: end.state,
    ...(end.failureType ? { failureType: end.failureType } : {}),
    ...(end.answer ? { answer: end.answer, answerKind: end.answer.kind } : {}),
  };
  const isKnown = row.state !== 'sending' && row.state !== 'unknown';
  return {
    kind: 'recorded',
    ledger: withRows(all, asker.of, withRow(ledger, news)),
    ...(isKnown ? { violation: 'overwrote an outcome that was known' } : {}),
  };
}

function says(row: Row, end: Omit<End, 'name'>): boolean {
  if (end.state === 'answered') return isSameAnswer(row.answer, end.answer);
  return row.state === end.state;
}

function isSameAnswer(one: Answer | undefined, other: Answer | undefined): boolean {
  return one !== undefined && other !== undefined && one.kind === other.kind && one.returnCode === other.returnCode;
}

export type Closed =
  | { kind: 'found'; ledger: LedgerCopy; view: AttemptView }
  | { kind: 'requestDiffers' | 'ledgerChanged' };

/** Closes as `SqlLedger.closeAttempt`. */
export function closeAttempt(all: LedgerCopy, asker: Asker, attempt: number, rules: readonly ClaimRule[]): Closed {
  const ledger = rowsOf(all, asker.of);
  const verdict = decideClose(
    ledger,
    { ledgerId: asker.ledgerId, digest: asker.of, attempt, writer: ledger.oldestWriter },
    rules,
  );
  if (
    verdict.kind === 'anotherNumber' ||
    verdict.kind === 'writerTooOld' ||
    verdict.kind === 'paused' ||
    verdict.kind === 'withdrawn'
  ) {
    throw new Error(`closing: ${verdict.kind}`);
  }
  // The attempt began before the operator accepted the restore.
  if (verdict.kind === 'ledgerRestored') return { kind: 'ledgerChanged' };
  if (verdict.kind === 'requestDiffers' || verdict.kind === 'ledgerChanged') return { kind: verdict.kind };
  if (verdict.kind === 'latest') {
    const settled = settleOverdue(ledger);
    return { kind: 'found', ledger: withRows(all, asker.of, settled), view: toLatestViewOrNotSent(settled) };
  }
  const row: Row = { attempt, state: 'notSent', answerInMs: 0, closed: true, of: asker.of };
  const closed = { ...ledger, digest: asker.of, attempts: [...ledger.attempts, row] };
  return { kind: 'found', ledger: withRows(all, asker.of, closed), view: toLatestViewOrNotSent(closed) };
}

export type LookedUp = { kind: 'found'; view: AttemptView | null } | { kind: 'requestDiffers' | 'ledgerChanged' };

/** Looks up as `SqlLedger.lookUp`. */
export function lookUp(all: LedgerCopy, asker: Asker): LookedUp {
  const ledger = rowsOf(all, asker.of);
  if (ledger.ledgerId !== asker.ledgerId) return { kind: 'ledgerChanged' };
  if (ledger.digest !== null && ledger.digest !== asker.of) return { kind: 'requestDiffers' };
  return { kind: 'found', view: toLatestView(ledger) };
}

export type Decided =
  | { kind: 'recorded'; ledger: LedgerCopy; violation?: string }
  | { kind: 'overtaken'; ledger: LedgerCopy; view: AttemptView }
  | { kind: 'ledgerChanged' };

/** Records as `SqlLedger.recordDecision`. */
export function recordDecision(all: LedgerCopy, asker: Asker, decision: Decision, decidesAnyway = false): Decided {
  const decided = decideRows(rowsOf(all, asker.of), asker, decision, decidesAnyway);
  return decided.kind === 'ledgerChanged' ? decided : { ...decided, ledger: withRows(all, asker.of, decided.ledger) };
}

function decideRows(ledger: LedgerCopy, asker: Asker, decision: Decision, decidesAnyway: boolean): Decided {
  if (ledger.ledgerId !== asker.ledgerId) return { kind: 'ledgerChanged' };
  const effect = decidesAnyway ? anyway(decision) : decideDecision(ledger, decision);
  if (effect.kind === 'repeated') return { kind: 'recorded', ledger };
  const settled = settleOverdue(ledger);
  if (effect.kind === 'overtaken') return { kind: 'overtaken', ledger: settled, view: toLatestViewOrNotSent(settled) };
  const { decisionId, action, attempt, failureType } = decision;
  const written: LedgerCopy = {
    ...settled,
    decisions: [
      ...settled.decisions,
      {
        decisionId,
        action,
        attempt,
        ...(failureType ? { failureType } : {}),
        ...(effect.kind === 'resend' ? { permitsAttempt: effect.attempt } : {}),
      },
    ],
  };
  const lost = violationOf(settled, decision);
  if (effect.kind === 'abandon') return { kind: 'recorded', ledger: { ...written, abandoned: true }, ...lost };
  if (effect.kind !== 'accept') return { kind: 'recorded', ledger: written, ...(action === 'amend' ? lost : {}) };
  const row = written.attempts.find((candidate) => candidate.attempt === attempt);
  if (!row) throw new Error('accept of an attempt that was never made');
  return {
    kind: 'recorded',
    ledger: withRow(written, { ...row, state: 'accepted', accepted: accepted(asker) }),
    ...lost,
  };
}

/** Records a decision as if it need not name the latest attempt. */
function anyway({ action }: Decision): ReturnType<typeof decideDecision> {
  return action === 'abandon' ? { kind: 'abandon' } : { kind: 'keep' };
}

function violationOf(ledger: LedgerCopy, { action, attempt, failureType }: Decision): { violation?: string } {
  // A decision about this request does not change the row of another request.
  if (failureType === 'RequestDiffers') return {};
  if (ledger.attempts.some(isSettled)) return { violation: `let ${action} overrule an outcome that had come` };
  const latest = findLatest(ledger) as Row | undefined;
  // After a gap, the hold says that attempts are missing.
  if (!latest || !isUndecided(ledger, latest) || (failureType === 'LedgerChanged' && attempt > latest.attempt))
    return {};
  const hasJudged = attempt === latest.attempt && judgesAttempts(failureType);
  return hasJudged ? {} : { violation: `let ${action} pass over an attempt that nobody had judged` };
}

/** The outcome that an operator states about this request; like every answer here it names its request. */
export function accepted({ of }: Pick<Asker, 'of'>): Answer {
  return { kind: 'outcome', outcome: 'record', returnCode: of };
}

/** Disposes as `disposal.ts`: no sealed content and no digest is left. Returns `null` if the disposal is refused. */
export function disposeOf(ledger: LedgerCopy): LedgerCopy | null {
  const latest = findLatest(ledger);
  if (ledger.disposal || ledger.attempts.length === 0 || (lateToJudge(ledger) && !ledger.abandoned)) return null;
  if (latest && effectiveState(latest) === 'sending') return null;
  if (latest && isUndecided(ledger, latest as Row)) return null;
  const attempts = ledger.attempts.map(({ answer: _, accepted: __, ...row }) => row);
  return { ...ledger, disposal: 'done', digest: null, attempts };
}

/** Decides as `open-inquiries.ts`. */
function isUndecided(ledger: LedgerCopy, row: Row): boolean {
  if (ledger.abandoned || findResend(ledger, row.attempt + 1)) return false;
  const judges = ({ action, attempt, failureType }: LedgerCopy['decisions'][number]) =>
    action === 'amend' && attempt === row.attempt && judgesAttempts(failureType);
  if (ledger.decisions.some(judges)) return false;
  if (row.state === 'answered') return row.answerKind !== 'outcome';
  return HELD_STATES.includes(effectiveState(row));
}

/** Lets time pass until an answer to the attempt can no longer come in time. */
export function timeIsOver(ledger: LedgerCopy, row: Row): LedgerCopy {
  return withRows(ledger, row.of, withRow(rowsOf(ledger, row.of), { ...row, answerInMs: 0 }));
}

function withRow(ledger: LedgerCopy, row: Row): LedgerCopy {
  return { ...ledger, attempts: ledger.attempts.map((other) => (other.attempt === row.attempt ? row : other)) };
}

function settleOverdue(ledger: LedgerCopy): LedgerCopy {
  const latest = findLatest(ledger);
  if (!latest || !isOverdue(latest)) return ledger;
  return withRow(ledger, { ...(latest as Row), state: 'unknown', failureType: 'OutcomeUnknown' });
}

function toLatestView(ledger: LedgerCopy): AttemptView | null {
  const latest = ledger.attempts.at(-1);
  if (ledger.abandoned || ledger.disposal) return { attempt: latest?.attempt ?? 0, state: 'abandoned' };
  const row = effectiveAttempt(ledger) as Row | undefined;
  if (!row || !latest) return null;
  const earlier = latest.attempt > row.attempt ? { latest: latest.attempt } : {};
  if (lateToJudge(ledger)) return { attempt: row.attempt, state: 'unknown', failureType: 'AnsweredLate', ...earlier };
  if (row.closed) return { attempt: row.attempt, state: 'notSent', closedAt: '' };
  const state = effectiveState(row);
  const answer = row.accepted ?? row.answer;
  const failureType = row.failureType ?? (state === 'unknown' ? 'OutcomeUnknown' : undefined);
  return {
    attempt: row.attempt,
    ...earlier,
    state,
    claimedAt: '',
    ...(state === 'sending' ? { waitMs: row.answerInMs } : {}),
    ...(failureType && !row.accepted ? { failureType } : {}),
    ...(answer ? { answer } : {}),
    ...(findResend(ledger, row.attempt + 1) ? { resendStands: true } : {}),
  };
}

function toLatestViewOrNotSent(ledger: LedgerCopy): AttemptView {
  return toLatestView(ledger) ?? { attempt: 0, state: 'notSent' };
}
