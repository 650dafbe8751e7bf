/**
 * Walks breadth first through every world that can follow from an untouched inquiry, and checks in each that:
 *
 * - there are no more sends than 1 + decisions;
 * - no request gets the outcome of another;
 * - no worker sends once the inquiry was abandoned or has an outcome;
 * - no known outcome changes;
 * - every run has a way to an outcome or a hold.
 *
 * Every verdict is the product's own: `decideClaim`, `decideOutcome`, `decideDecision`, `stepOf`, the tables of actions.
 */
import { CLAIM_RULES } from '../../src/ledger/claim.ts';
import { writeKey } from './explorer-keys.ts';
import { type Emit, type Mutation, type Scene, type Surroundings, taken } from './explorer-scene.ts';
import {
  attemptTimesOut,
  isDisposedOf,
  isMigrated,
  isPausedOrResumed,
  isReset,
  isStartedAgain,
  isWithdrawn,
  ledgerIsReplaced,
  personDecides,
  timePasses,
} from './explorer-surroundings.ts';
import { workerGoesOn } from './explorer-workers.ts';
import { runGoesOn } from './explorer-workflow.ts';
import { type Budget, firstWorld, type World } from './explorer-world.ts';

export interface Scope extends Surroundings {
  name: string;
  budget: Budget;
}

export interface Counterexample {
  violation: string;
  /** The steps of the shortest counterexample, in order. */
  trace: string[];
}

export interface Exploration {
  states: number;
  /** The number of steps in total. */
  steps: number;
  /** The distance of the furthest state from the first. */
  depth: number;
  counterexample?: Counterexample;
}

const NOTHING_TAKEN_OUT: Mutation = { rules: CLAIM_RULES };

/** Explores the whole scope, or up to the first violation. */
export function explore(scope: Scope, mutation: Mutation = NOTHING_TAKEN_OUT): Exploration {
  const states = new States();
  let found: { violation: string; after: number; label: string } | undefined;
  let frontier: { world: World; index: number }[] = [];
  for (const world of taken(firstWorld(scope.budget), scope)) frontier.push({ world, ...states.add(world, -1, '') });
  let depth = 0;
  for (; frontier.length > 0 && !found; depth++) {
    const next: typeof frontier = [];
    for (const { world, index } of frontier) {
      tellWhatMayHappen({ world, surroundings: scope, mutation, emit: () => {} }, (label, reached, violation) => {
        if (found) return;
        if (violation !== undefined) {
          found = { violation, after: index, label };
          return;
        }
        const state = states.add(reached, index, label);
        if (state.isNew) next.push({ world: reached, ...state });
      });
      if (found) break;
    }
    frontier = next;
  }
  const result: Exploration = { states: states.count, steps: states.steps, depth };
  if (found) {
    const trace = [...states.traceTo(found.after), found.label];
    return { ...result, counterexample: { violation: found.violation, trace } };
  }
  const stuck = states.firstWithoutAWayToRest();
  if (stuck === undefined) return result;
  const violation = 'lost the journey: no way to an outcome or a hold';
  return { ...result, counterexample: { violation, trace: states.traceTo(stuck) } };
}

function tellWhatMayHappen(scene: Scene, emit: Emit): void {
  scene.emit = (label, world, violation) => {
    for (const next of taken(world, scene.surroundings)) emit(label, next, violation);
  };
  for (const execution of scene.world.executions) workerGoesOn(scene, execution);
  runGoesOn(scene);
  attemptTimesOut(scene);
  isReset(scene);
  isStartedAgain(scene);
  isWithdrawn(scene);
  timePasses(scene);
  ledgerIsReplaced(scene);
  personDecides(scene);
  isDisposedOf(scene);
  isMigrated(scene);
  isPausedOrResumed(scene);
}

/** Every visited state, its first predecessor, and all edges. */
class States {
  steps = 0;
  readonly #indexes = new Map<string, number>();
  readonly #parents: number[] = [];
  readonly #labels: string[] = [];
  /** The states in which the run has ended or waits for an operator. */
  readonly #atRest: number[] = [];
  readonly #edges: { from: number[]; to: number[] } = { from: [], to: [] };

  get count(): number {
    return this.#indexes.size;
  }

  add(world: World, parent: number, label: string): { index: number; isNew: boolean } {
    this.steps++;
    const key = writeKey(world);
    const known = this.#indexes.get(key);
    const index = known ?? this.#indexes.size;
    if (known === undefined) {
      this.#indexes.set(key, index);
      this.#parents.push(parent);
      this.#labels.push(label);
      const { kind } = world.run.phase;
      if (kind === 'ended' || kind === 'held') this.#atRest.push(index);
    }
    if (parent >= 0 && parent !== index) {
      this.#edges.from.push(parent);
      this.#edges.to.push(index);
    }
    return { index, isNew: known === undefined };
  }

  traceTo(index: number): string[] {
    const trace: string[] = [];
    for (let at = index; at >= 0; at = this.#parents[at] ?? -1) trace.unshift(this.#labels[at] ?? '');
    return trace.filter((label) => label !== '');
  }

  /** Walks back from every state at rest: a state that it does not visit has no way to rest. */
  firstWithoutAWayToRest(): number | undefined {
    const { from, to } = this.#edges;
    const heads = new Int32Array(this.count).fill(-1);
    const nexts = new Int32Array(to.length);
    to.forEach((state, edge) => {
      nexts[edge] = heads[state] ?? -1;
      heads[state] = edge;
    });
    const hasAWay = new Uint8Array(this.count);
    const todo = [...this.#atRest];
    for (const state of todo) hasAWay[state] = 1;
    for (let state = todo.pop(); state !== undefined; state = todo.pop()) {
      for (let edge = heads[state] ?? -1; edge >= 0; edge = nexts[edge] ?? -1) {
        const before = from[edge] ?? 0;
        if (hasAWay[before]) continue;
        hasAWay[before] = 1;
        todo.push(before);
      }
    }
    const stuck = hasAWay.indexOf(0);
    return stuck < 0 ? undefined : stuck;
  }
}
