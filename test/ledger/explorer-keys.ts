/** One short key for each world of an exploration: worlds with the same key have the same future. */
import type { Answer } from '../../src/model/inquiry.ts';
import type {
  Budget,
  Decision,
  Execution,
  Failure,
  Hold,
  LedgerCopy,
  Phase,
  Request,
  Row,
  Run,
  World,
} from './explorer-world.ts';

/** The key of a part that a world lacks, or that no further step reads. */
const NONE = '-';

export function writeKey(world: World): string {
  const { ledger, run, executions, budget, slack } = world;
  const { beside } = ledger;
  return [
    matters(world, 'A') ? keyOfLedger(ledger) : NONE,
    beside && matters(world, 'C') ? keyOfLedger(beside) : NONE,
    isOver(world) ? NONE : keyOfRun(run) + (budget.resets > 0 ? keyOfPast(run) : ''),
    keyOfExecutions(executions),
    keyOfBudget(budget),
    slack,
    // The claim of the other number reads which repeat this number took.
    `${ledger.permittedRepeat ?? ''}:${beside?.permittedRepeat ?? ''}`,
  ].join('|');
}

/** Returns whether the run does nothing more and cannot be reset: then its identity no longer matters. */
function isOver({ run: { phase }, budget }: World): boolean {
  if (budget.resets > 0 || budget.swaps > 0) return false;
  return phase.kind === 'ended' ? phase.how !== 'withdrawn' : phase.kind === 'held' && budget.decisions === 0;
}

/** Returns whether a step may still read or write the rows under this trace number. */
function matters(world: World, number: 'A' | 'C'): boolean {
  const { run, executions, budget } = world;
  if (budget.restarts > 0 || budget.disposals > 0 || budget.swaps > 0) return true;
  const isUnderIt = ({ of }: { of: Request }) => (of === 'C') === (number === 'C');
  return (isUnderIt(run) && !isOver(world)) || executions.some(isUnderIt);
}

function keyOfRun(run: Run): string {
  return run.of + run.ledgerId + run.attempt + (run.isWithdrawn ? 'w' : '') + keyOfPhase(run.phase);
}

/** The key of the points that a reset could return to. */
function keyOfPast({ scheduled, holds }: Run): string {
  return `;${scheduled.join('')};${holds.map((past) => keyOfHold(past.hold) + keyOfDecision(past.decision)).join(',')}`;
}

function keyOfBudget(budget: Budget): string {
  const { crashes, resets, decisions, timeOuts, restarts, swaps, disposals, miscounts, withdrawals, pauses } = budget;
  return `${crashes}${resets}${decisions}${timeOuts}${restarts}${swaps}${disposals}${miscounts}${withdrawals}${pauses}`;
}

function keyOfLedger(ledger: LedgerCopy): string {
  const {
    ledgerId,
    oldestWriter,
    copy,
    digest,
    abandoned,
    disposal,
    isRestored,
    isPaused,
    isWithdrawn,
    permittedRepeat = '',
  } = ledger;
  const marks = `${abandoned ? 'x' : ''}${disposal ? 'd' : ''}${isRestored ? 'r' : ''}${isPaused ? 'p' : ''}${isWithdrawn ? 'w' : ''}`;
  let key = `${ledgerId}${oldestWriter}${copy}${digest ?? '-'}${marks}${permittedRepeat}`;
  for (const row of ledger.attempts) key += `,${readRowKey(row)}`;
  for (const decision of ledger.decisions) key += `;${keyOfKnownDecision(decision)}`;
  return key;
}

/** Names that the product does not distinguish share one key. */
const ALIKE: Readonly<Record<string, string>> = {
  // Neither posted anything and both are retried; the sends that are still allowed are counted separately.
  notSent: 'notProcessed',
  GatewayUnreachable: 'Throttled',
  throttled: 'notProcessed',
  // Both failed before a claim, and both are retried.
  ActivityFailed: 'LedgerUnavailable',
};

function alike(name: string): string {
  return ALIKE[name] ?? name;
}

function readRowKey(row: Row): string {
  const { attempt, state, answerInMs, of, answer, accepted, closed, answeredLate } = row;
  const time = state === 'sending' ? answerInMs : '';
  return `${attempt}${closed ? 'closed' : alike(state)}${answeredLate ? 'late' : ''}${time}${of}${keyOfAnswer(answer)}${keyOfAnswer(accepted)}`;
}

function keyOfAnswer(answer: Answer | undefined): string {
  return answer ? answer.kind.charAt(0) + (answer.returnCode ?? '') : '-';
}

function keyOfKnownDecision({
  decisionId,
  action,
  attempt,
  permitsAttempt,
  failureType,
}: LedgerCopy['decisions'][number]) {
  // The rules read of an amendment only whether it was about the attempt.
  const reason = action === 'amend' ? failureType : '';
  return `${decisionId}${action}${attempt}${permitsAttempt ?? ''}${reason}`;
}

function keyOfDecision(decision: Decision | undefined): string {
  return decision ? `${decision.decisionId}${decision.action}${decision.attempt}` : '';
}

function keyOfHold({ failure, judged, next }: Hold): string {
  return `${keyOfFailure(failure)}${judged}${next}`;
}

function keyOfFailure({ failureType, attempt, claimed }: Failure): string {
  return `${alike(failureType)}${attempt}${claimed ? 'c' : ''}`;
}

/** The two workers are interchangeable, so the key ignores their order. */
function keyOfExecutions([one, other]: readonly Execution[]): string {
  const first = one ? keyOfExecution(one) : '';
  const second = other ? keyOfExecution(other) : '';
  return first < second ? first + second : second + first;
}

/** The worker's version affects a claim, and its lateness affects a send. */
function keyOfExecution(execution: Execution): string {
  const { of, ledgerId, attempt, phase, isLate, isWanted, isOlder, copy, end } = execution;
  const marks = `${isLate && phase === 'claimed' ? 'l' : ''}${isWanted ? 'w' : ''}${isOlder && phase === 'started' ? 'o' : ''}`;
  return `${of}${ledgerId}${attempt}${phase}${marks}${copy}${end ? alike(end.name) : ''}`;
}

function keyOfPhase(phase: Phase): string {
  switch (phase.kind) {
    case 'waiting':
      return `w${phase.attempt}`;
    case 'recording':
      return phase.step.kind === 'answered'
        ? `r${phase.step.attempt}${keyOfAnswer(phase.step.answer)}`
        : `r${keyOfFailure(phase.step.failure)}`;
    case 'asking':
      return `a${keyOfFailure(phase.failure)}`;
    case 'held':
      return `h${keyOfHold(phase.hold)}`;
    case 'deciding':
      return `d${keyOfHold(phase.hold)}${keyOfDecision(phase.decision)}`;
    case 'ended':
      return `e${phase.how}`;
    default:
      return phase.kind;
  }
}
