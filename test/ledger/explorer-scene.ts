/** One world of the exploration, the rules that a mutation removes, and how a step reports the next worlds. */
import type { ClaimRule } from '../../src/ledger/claim.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { after, inPhase, MAX_ATTEMPTS, type Step } from './explorer-run.ts';
import type { Budget, End, Execution, Request, World } from './explorer-world.ts';

/** A change of the product that the explorer must detect. */
export interface Mutation {
  rules: readonly ClaimRule[];
  /** A worker that was stopped until after its `sendBy` still sends. */
  sendsLate?: boolean;
  /** A look-up does not compare the digest of the request. */
  looksUpAnybody?: boolean;
  /** The look-up after a lost activity only reads. */
  closesNothing?: boolean;
  /** The look-up also closes an attempt when the previous attempt is missing. */
  closesOverGaps?: boolean;
  /** The look-up about an attempt that is known to have been claimed closes it, too. */
  closesWhereverItLooks?: boolean;
  /** The ledger writes a decision without comparing it with its newest rows. */
  decidesAnyway?: boolean;
}

export type EndName = 'outcome' | 'unexpected' | 'throttled' | 'refused' | 'notEntitled' | 'lost';

/** What can happen in an exploration besides what its budget limits. */
export interface Surroundings {
  /** The ways in which a request can end. */
  ends: readonly EndName[];
  /**
   * What may replace the ledger: one with another id; a backup that lacks an attempt which the run has passed, or
   * waits for (`olderThanAWait`); a backup that lacks only the attempt in flight, which no worker has reported yet.
   */
  swap?: 'foreign' | 'older' | 'olderThanAWait' | 'olderByTheAttemptInFlight';
  /** The ledger detects that a backup lacks attempts before any claim on it. */
  isWatched?: boolean;
  /** The requests that the run may be started again with. Default: for the same or for corrected applicants. */
  startedAgainFor?: readonly Request[];
  /** Workers of two versions run, and a migration may happen at any moment. */
  mixedWorkers?: boolean;
  /** The run's withdrawal is recorded in no ledger, since another ledger answered. */
  withdrawsUnrecorded?: boolean;
  /** A worker may find that the request cannot be built, before it claims anything. */
  refusesInput?: boolean;
  /** A reset may return to before the run stored its ledger's id. Only for a foreign ledger. */
  resetsToTheStart?: boolean;
}

export type Emit = (label: string, world: World, violation?: string) => void;

const WORKERS = 2;

export interface Scene {
  world: World;
  surroundings: Surroundings;
  mutation: Mutation;
  emit: Emit;
}

/**
 * The worlds after a worker has taken the queued attempt, which happens at once. A longer wait would add no new world:
 * an attempt that has only begun may give up without a trace.
 */
export function taken(world: World, { mixedWorkers = false }: Surroundings): World[] {
  const { run, executions, budget } = world;
  if (run.phase.kind !== 'queued' || executions.length >= WORKERS) return [world];
  const take = (attempt: number, left = budget): World[] =>
    mixedWorkers ? [takenBy(attempt, left, false), takenBy(attempt, left, true)] : [takenBy(attempt, left, false)];
  const takenBy = (attempt: number, left: Budget, isOlder: boolean): World => {
    const { of, ledgerId } = run;
    const begun = { phase: 'started', isLate: false, isWanted: true, copy: 0 } as const;
    const execution: Execution = { of, ledgerId, attempt, ...begun, ...(isOlder ? { isOlder } : {}) };
    return {
      ...world,
      budget: left,
      executions: [...executions, execution],
      run: inPhase({ ...run, attempt }, { kind: 'running' }),
    };
  };
  if (budget.miscounts === 0 || run.attempt >= MAX_ATTEMPTS) return take(run.attempt);
  return [...take(run.attempt), ...take(run.attempt + 1, { ...budget, miscounts: budget.miscounts - 1 })];
}

export function spend({ world }: Scene, change: Partial<Budget>): Pick<World, 'budget'> {
  return { budget: { ...world.budget, ...change } };
}

/** Lets the run take a step, and checks that an outcome belongs to the run's own request. */
export function takeStep(scene: Scene, label: string, step: Step, more: Partial<World> = {}, violation?: string): void {
  const { world, emit } = scene;
  const isForeign = step.kind === 'answered' && step.answer.returnCode !== world.run.of;
  const problem = isForeign ? 'gave an outcome to another request' : violation;
  for (const run of after(world.run, step)) emit(label, { ...world, ...more, run }, problem);
}

/** Returns the executions after Temporal has stopped waiting for them. */
export function givenUp(executions: readonly Execution[]): Execution[] {
  return executions.map((execution) => (execution.isWanted ? { ...execution, isWanted: false } : execution));
}

/** Returns the named end of an attempt of this request. Each answer names its request in its return code. */
export function endNamed(name: EndName | 'notSent', of: Request): End {
  switch (name) {
    case 'outcome':
      return { name, state: 'answered', answer: { kind: 'outcome', outcome: 'record', returnCode: of } };
    case 'unexpected': {
      const answer: Answer = { kind: 'unexpectedResponse', problems: [], returnCode: of };
      return { name, state: 'answered', failureType: 'UnexpectedResponse', answer };
    }
    case 'throttled':
      return { name, state: 'notProcessed', failureType: 'Throttled' };
    case 'refused':
      return { name, state: 'refused', failureType: 'RequestRefused' };
    case 'notEntitled':
      return { name, state: 'notEntitled', failureType: 'NotEntitled' };
    case 'lost':
      return { name, state: 'unknown', failureType: 'OutcomeUnknown' };
    case 'notSent':
      return { name, state: 'notSent', failureType: 'GatewayUnreachable' };
  }
}
