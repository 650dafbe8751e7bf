/**
 * The rules about decisions and lost attempts, over everything that the ledger knows of one inquiry. Pure;
 * docs/protocol.md, fence 1.
 */
import { findDifferingPaths } from '../../base/differing-paths.ts';
import { FAILURES, type FailureType } from '../../model/failure-types.ts';
import type { AttemptState } from '../../model/inquiry.ts';
import { judgesAttempts } from '../audit/audited.ts';
import {
  CLAIM_RULES,
  type ClaimDecision,
  type ClaimFacts,
  type ClaimRule,
  decideClaim,
  effectiveState,
  findAttempt,
  findLatest,
  findResend,
  findResendToSpend,
  HELD_STATES,
  type KnownAttempt,
  type KnownInquiry,
  lateToJudge,
  wasClaimed,
} from '../claim.ts';
import type { Row } from '../database/tables.ts';
import type { DecisionRecord } from '../records.ts';

// Decides which effect a person’s decision may still have.

export type DecisionFacts = Pick<DecisionRecord, 'decisionId' | 'action' | 'attempt' | 'failureType'>;

export type DecisionEffect =
  /** The ledger has the same decision already: write nothing. */
  | { kind: 'repeated' }
  /** Write it; the inquiry does not change. */
  | { kind: 'keep' }
  /** Write the decision, and that it permits this attempt. */
  | { kind: 'resend'; attempt: number }
  /** Write the decision, and its answer as the outcome of the attempt. */
  | { kind: 'accept' }
  /** Write the decision, and close the inquiry permanently. */
  | { kind: 'abandon' }
  /** The request that would be sent again may still arrive: write nothing. */
  | { kind: 'tooEarly'; resendInMs: number }
  /** Another decision or answer has priority: write nothing. */
  | { kind: 'overtaken' };

const OVERTAKEN: DecisionEffect = { kind: 'overtaken' };

export function decideDecision(known: KnownInquiry, decision: DecisionFacts): DecisionEffect {
  const same = known.decisions.find((candidate) => candidate.decisionId === decision.decisionId);
  if (same) {
    // An id that was used for another decision has not decided this: "recorded" would be false.
    const isRepeated = same.action === decision.action && same.attempt === decision.attempt;
    return isRepeated ? { kind: 'repeated' } : OVERTAKEN;
  }
  if (known.disposal) return OVERTAKEN;
  // The decision records who requested the inquiry before its first attempt, and judges no attempt.
  if (decision.action === 'repeat') return { kind: 'keep' };
  // The row belongs to another request: a decision about ours must neither change it nor return its outcome.
  if (decision.failureType === 'RequestDiffers') return { kind: 'keep' };
  const late = lateToJudge(known);
  if (late && !known.abandoned) return judgeLate(late, decision);
  if (decision.action === 'resend' && permitsNumber(known, decision))
    return { kind: 'resend', attempt: decision.attempt };
  return !known.abandoned && isAboutTheLatest(known, decision) ? judgeEffect(known, decision) : OVERTAKEN;
}

/** An attempt with a late answer was posted. A decision about another attempt would ignore it. */
function judgeLate(late: KnownAttempt, { action, attempt }: DecisionFacts): DecisionEffect {
  if (attempt !== late.attempt || (action !== 'accept' && action !== 'abandon')) return OVERTAKEN;
  return { kind: action };
}

/**
 * Returns whether a resend permits the first attempt under this number, although the inquiry has another. It does so
 * once.
 */
function permitsNumber(known: KnownInquiry, { failureType, attempt }: DecisionFacts): boolean {
  if (failureType !== 'AnotherNumber' || known.abandoned || wasClaimed(known)) return false;
  return attempt === (findLatest(known)?.attempt ?? 0) + 1 && !findResendToSpend(known, attempt);
}

/**
 * Whether the person has judged the latest attempt that the ledger knows, in its present state. Otherwise the decision
 * would pass over an attempt that may have posted: the run looks again, and holds for that attempt.
 */
function isAboutTheLatest(known: KnownInquiry, decision: DecisionFacts): boolean {
  const latest = findLatest(known);
  const next = (latest?.attempt ?? 0) + 1;
  if (latest && decision.attempt < latest.attempt) return false;
  // An outcome exists, or may still come, so the decision has nothing to judge.
  if (latest && (isSettled(latest) || effectiveState(latest) === 'sending')) return false;
  // The ledger lacks an attempt that the run has made. `LedgerChanged` says exactly that, so a decision about it may.
  if (decision.attempt > next) return decision.failureType === 'LedgerChanged';
  if (!latest || !needsJudging(known, latest)) return true;
  if (decision.attempt === next) return decision.failureType === 'LedgerChanged';
  // A resend that judges nothing only means "continue": the claim decides, as always.
  return decision.action === 'resend' || isWhatWasJudged(effectiveState(latest), decision.failureType);
}

/** Whether the attempt still needs an operator's decision. */
function needsJudging(known: KnownInquiry, latest: KnownAttempt): boolean {
  const state = effectiveState(latest);
  const isDoubtful = HELD_STATES.includes(state) || state === 'answered';
  return isDoubtful && !findResend(known, latest.attempt + 1);
}

function judgeEffect(known: KnownInquiry, { action, attempt, failureType }: DecisionFacts): DecisionEffect {
  if (action === 'abandon') return { kind: 'abandon' };
  if (action === 'amend') return { kind: 'keep' };
  const judged = findAttempt(known, attempt);
  // The hold came before the attempt was claimed: a resend only means "continue".
  if (action === 'resend' && (!judged || !judgesAttempts(failureType))) return { kind: 'keep' };
  if (!judged) return OVERTAKEN;
  const state = effectiveState(judged);
  if (action === 'accept') return state === 'unknown' || state === 'answered' ? { kind: 'accept' } : OVERTAKEN;
  // One resend for each attempt: the first wins, spent or not. An answered attempt was posted, and is never sent again.
  if (state === 'answered' || findResend(known, attempt + 1)) return OVERTAKEN;
  if (!isWhatWasJudged(state, failureType)) return { kind: 'keep' };
  const { resendInMs = 0 } = judged;
  if (state === 'unknown' && resendInMs > 0) return { kind: 'tooEarly', resendInMs };
  return { kind: 'resend', attempt: attempt + 1 };
}

/**
 * `CredentialsRefused` also holds unclaimed attempts: a run that was reset or started again can meet it before it
 * learns of an earlier attempt. A resend then has judged the credentials, and not that attempt's outcome. After
 * `OutcomeUnknown` the person has asked the provider: that judges everything that has become known since.
 */
function isWhatWasJudged(state: AttemptState, failureType: FailureType | undefined): boolean {
  if (failureType === undefined || failureType === 'OutcomeUnknown') return true;
  return FAILURES[failureType].state === state;
}

function isSettled(attempt: KnownAttempt): boolean {
  return attempt.state === 'accepted' || (attempt.state === 'answered' && attempt.answerKind === 'outcome');
}

// The differences between a decision and the one recorded under its id.

/** Paths in the message that brings a decision. An accepted answer that was disposed of is not compared any more. */
export function findDecisionDifferences(kept: DecisionRecord, sent: DecisionRecord): string[] {
  const isWhole = kept.answer !== undefined || kept.action !== 'accept';
  return findDifferingPaths(toContent(kept, isWhole), toContent(sent, isWhole));
}

function toContent({ attempt, action, by, reason, providerSaid, answer }: DecisionRecord, withAnswer: boolean): object {
  const outcome = withAnswer && answer?.kind === 'outcome' ? answer : undefined;
  return { attempt, action, by, reason, providerSaid, outcome: outcome?.outcome, reference: outcome?.reference };
}

// Decides about an attempt whose activity was lost. A look-up that finds no claim of it closes it, so that a worker without contact
// can no longer claim it. Not on an older copy, which may lack the claim.

/** `close`: write that it was not sent. */
type CloseDecision = { kind: 'close' } | Exclude<ClaimDecision, { kind: 'claim' }>;

/**
 * The rules that keep an attempt from being closed: those about the attempts themselves, and about the writer. An
 * attempt that cannot be claimed needs no closing. A closed attempt after a gap, or after an undecided attempt, would
 * let the next one be claimed. All other reasons against a claim may end, so they do not prevent closing.
 */
const CLOSE_RULES: readonly string[] = [
  'olderWriter',
  'anotherLedger',
  'anotherRequest',
  'abandoned',
  'disposedOf',
  'previousMissing',
  'madeAlready',
  'inFlight',
  'settled',
  'needsDecision',
  'answeredLate',
];

/**
 * @param known with `mayLackAttempt` an operator has accepted an older copy since the attempt began: a missing attempt may
 * have been sent
 * @param rules tests leave out single ones to show what each prevents
 */
export function decideClose(
  known: KnownInquiry & { mayLackAttempt?: boolean },
  attempt: ClaimFacts,
  rules: readonly ClaimRule[] = CLAIM_RULES,
): CloseDecision {
  const verdict = decideClaim(
    known,
    attempt,
    rules.filter(({ name }) => CLOSE_RULES.includes(name)),
  );
  if (verdict.kind !== 'claim') return verdict;
  // A missing attempt proves nothing here. Once the copy is accepted, a person must decide.
  if (known.isRestored) return { kind: 'ledgerRestored' };
  if (known.mayLackAttempt) return { kind: 'ledgerChanged' };
  return { kind: 'close' };
}

// The numbers that one inquiry has under several customers. Pure.

/**
 * A trace number of a stage, pull, share or row under which something was claimed. `permittedRepeat`: 0 for the first
 * customer; each further one that a decision permits has the next number.
 */
export type ClaimedNumber = Required<
  Pick<Row<'inquiries'>, 'customerTraceNumber' | 'customerId' | 'ordinal' | 'permittedRepeat'>
>;

/**
 * The `permittedRepeat` that a customer's numbers of one stage take. Also the number that another customer already has.
 * Two inquiries that differ only in their customer would take the same key: the second needs a decision.
 */
export function findRepeat(numbers: readonly ClaimedNumber[], inquiry: Omit<ClaimedNumber, 'permittedRepeat'>) {
  const { customerTraceNumber, customerId, ordinal } = inquiry;
  const others = numbers.filter((known) => known.customerTraceNumber !== customerTraceNumber);
  const taken = others.findLast((known) => known.ordinal === ordinal);
  const own = numbers.find((known) => known.customerId === customerId);
  if (own && taken?.permittedRepeat !== own.permittedRepeat) return { permittedRepeat: own.permittedRepeat };
  const other = taken ?? others.at(-1);
  const next = Math.max(-1, ...others.map((known) => known.permittedRepeat)) + 1;
  return { permittedRepeat: next, ...(other ? { otherNumber: other.customerTraceNumber } : {}) };
}
