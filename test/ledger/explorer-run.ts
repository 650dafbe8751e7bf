/** What the run does next: the retry loop of `src/workflows/inquiry/inquiry-protocol.ts`, with the real `toStep` under it. */
import { FAILURES, type HoldAction } from '../../src/model/failure-types.ts';
import type { Answer, AttemptView } from '../../src/model/inquiry.ts';
import { type AttemptStep, mayHaveMissedAnAttempt, toStep } from '../../src/workflows/inquiry/attempt.ts';
import type { Failure, Hold, Phase, Run } from './explorer-world.ts';

/** Bounds the exploration: the highest number of attempts of one run. */
export const MAX_ATTEMPTS = 3;

export type Step =
  | Extract<AttemptStep, { kind: 'answered' | 'failed' | 'wait' | 'closed' | 'abandoned' }>
  /** The claim was refused, so the run ends as withdrawn. */
  | { kind: 'withdrawn' };

/** Returns the run's step for a row of the ledger. */
export function stepOfView(view: AttemptView): Step {
  return ofARow(toStep(view));
}

export function ofARow(step: AttemptStep): Step {
  if (step.kind === 'stop' || step.kind === 'noSlot' || step.kind === 'notPermitted') {
    throw new Error(`a row that means ${step.kind}`);
  }
  return step;
}

/** Returns every run that may follow the step: with another attempt, or without further retries. */
export function after(run: Run, step: Step): Run[] {
  switch (step.kind) {
    case 'wait':
      return [inPhase(run, { kind: 'waiting', attempt: step.attempt })];
    case 'closed':
      return afterClosing({ ...run, attempt: step.attempt + 1 });
    case 'abandoned':
      return [inPhase(run, { kind: 'ended', how: 'abandoned' })];
    case 'withdrawn':
      return [withdrawn(run)];
    case 'answered':
      return step.recorded ? afterAnswer(run, step.attempt, step.answer) : [inPhase(run, recording(step))];
    case 'failed':
      return step.recorded ? afterFailure(run, step.failure, step.resendStands) : [inPhase(run, recording(step))];
  }
}

function recording(step: Extract<Step, { kind: 'answered' | 'failed' }>): Phase {
  return step.kind === 'answered'
    ? { kind: 'recording', step: { kind: 'answered', attempt: step.attempt, answer: step.answer } }
    : { kind: 'recording', step: { kind: 'failed', failure: step.failure } };
}

/** Models `#answered`, once the answer is recorded. */
export function afterAnswer(run: Run, attempt: number, answer: Answer): Run[] {
  if (answer.kind === 'outcome') return [inPhase(run, { kind: 'ended', how: 'answered' })];
  const failureType = answer.kind === 'returnCodeUnknown' ? 'ReturnCodeUnknown' : 'UnexpectedResponse';
  return afterFailure(run, { failureType, attempt, claimed: true });
}

/** Models `#failed`, once the failure is recorded. */
export function afterFailure(run: Run, failure: Failure, resendStands?: true): Run[] {
  const next = failure.claimed ? failure.attempt + 1 : run.attempt;
  const moved = { ...run, attempt: next };
  if (run.isWithdrawn && (resendStands || isRetried(failure))) return [withdrawn(moved)];
  if (resendStands) return [queue(moved)];
  // A pause of any length never becomes a hold.
  if (failure.failureType === 'Paused') return [queue(moved)];
  const held = beforeHold(moved, failure);
  return isRetried(failure) && next <= MAX_ATTEMPTS ? [queue(moved), held] : [held];
}

/** Models `#closed`: the next attempt follows, or activities are lost for so long that the run gives up. */
function afterClosing(run: Run): Run[] {
  if (run.isWithdrawn) return [withdrawn(run)];
  return afterFailure(run, { failureType: 'ActivityFailed', attempt: run.attempt, claimed: false });
}

function withdrawn(run: Run): Run {
  return inPhase(run, { kind: 'ended', how: 'withdrawn' });
}

function beforeHold(run: Run, failure: Failure): Run {
  return mayHaveMissedAnAttempt(failure) ? inPhase(run, { kind: 'asking', failure }) : hold(run, failure);
}

export function hold(run: Run, failure: Failure): Run {
  const held: Hold = { failure, judged: failure.claimed ? failure.attempt : run.attempt, next: run.attempt };
  const past = run.holds.filter((other) => !isSame(other.hold, held));
  return { ...inPhase(run, { kind: 'held', hold: held }), holds: [...past, { hold: held }] };
}

function isSame(one: Hold, other: Hold): boolean {
  return (
    one.judged === other.judged && one.next === other.next && one.failure.failureType === other.failure.failureType
  );
}

/** Schedules the run's current attempt. */
export function queue(run: Run): Run {
  if (run.attempt > MAX_ATTEMPTS) return inPhase(run, { kind: 'ended', how: 'beyondTheBound' });
  const scheduled = run.scheduled.includes(run.attempt) ? run.scheduled : [...run.scheduled, run.attempt];
  return { ...inPhase(run, { kind: 'queued' }), scheduled };
}

export function inPhase(run: Run, phase: Phase): Run {
  return { ...run, phase };
}

export function toFailedStep(failureType: Failure['failureType'], attempt: number): Step {
  return { kind: 'failed', recorded: true, failure: { failureType, attempt, claimed: false } };
}

export function allowedActions({ failure }: Hold): readonly HoldAction[] {
  return FAILURES[failure.failureType].actions;
}

function isRetried({ failureType, claimed }: Failure): boolean {
  if (failureType === 'ActivityFailed') return !claimed;
  return FAILURES[failureType].retry?.if === 'always';
}
