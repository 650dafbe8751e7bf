/**
 * Continues a run as new before its history meets a limit of the server. It waits for a moment
 * when the new run can continue everything that is under way (docs/journeys.md, Floods).
 *
 * 1. A run consists of parts. A part is busy unless it says that it is at rest. A part that forgets to say so delays
 *    that and loses nothing.
 * 2. The run leaves only while every part is at rest, no rest is over, and no message handler is open.
 * 3. Once the run leaves, no part continues: the new run finds in the state what the part was waiting for.
 */
import { CancellationScope, condition, isCancellation, workflowInfo } from '@temporalio/workflow';
import { isUndecodable } from '../../model/undecodable.ts';
import { areMessagesAnswered, isHistoryLong, listen, waitUntilAtRest } from './as-replayed.ts';
import { createInvalidInput, toUndecodableFailure } from './failures.ts';

/** Activities in flight that a message may still cancel: a revocation or a withdrawal before the first byte. */
export class InFlightActivities {
  readonly #shouldStop = new Map<CancellationScope, () => boolean>();
  /** Number of signals to the run about the end of a pause. */
  resumptions = 0;

  /** Returns the scope for an activity. It is cancelled once `shouldStop` holds after a message, until `end`. */
  begin(shouldStop: () => boolean): CancellationScope {
    const scope = new CancellationScope({ cancellable: true });
    this.#shouldStop.set(scope, shouldStop);
    return scope;
  }

  end(scope: CancellationScope): void {
    this.#shouldStop.delete(scope);
  }

  /** Every message handler calls it if its message may have revoked a permission. */
  recheck(): void {
    for (const [scope, shouldStop] of this.#shouldStop) if (shouldStop()) scope.cancel();
  }
}

/** The server takes 2 MB for one payload. Encryption adds little, but the state may grow more until then. */
const MAX_STATE_BYTES = 1_000_000;

export function fitsNextRun(state: unknown): boolean {
  return new TextEncoder().encode(JSON.stringify(state)).length <= MAX_STATE_BYTES;
}

export class Continuation {
  readonly #inFlight: InFlightActivities;
  readonly #maxEvents: () => number | undefined;
  readonly #rests = new Set<{ isOver: () => boolean }>();
  #busy = 0;
  #isLeaving = false;
  #fits = () => true;
  /** Whether the state fits, for those who ask in one round: nothing changes it between two predicates. */
  #fitsInRound: boolean | undefined;
  /** Begins to continue as new; absent once it has. */
  #begin: (() => void) | undefined;

  /** @param maxEvents events in a history before the run continues as new; `undefined` until the configuration is known */
  constructor(inFlight: InFlightActivities, maxEvents: () => number | undefined) {
    this.#inFlight = inFlight;
    this.#maxEvents = maxEvents;
  }

  /** Whether the history is so long that the run is to continue as new, as soon as its state fits. */
  get isDue(): boolean {
    return isHistoryLong(this.#maxEvents());
  }

  /** Whether it is about to: no part begins anything that the new run could begin. A state that is too large may never fit. */
  get isNear(): boolean {
    if (!this.isDue) return false;
    if (this.#fitsInRound === undefined) {
      this.#fitsInRound = this.#fits();
      void Promise.resolve().then(() => {
        this.#fitsInRound = undefined;
      });
    }
    return this.#fitsInRound;
  }

  /**
   * Runs a workflow's body to its end, or continues as new.
   *
   * @param state what the next run begins with: plain data
   * @param continueWith throws the SDK's `ContinueAsNew`
   */
  run<T, State>(
    body: () => Promise<T>,
    { state, continueWith }: { state(): State; continueWith(state: State): Promise<never> },
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#fits = () => fitsNextRun(state());
      this.#begin = () => void this.#leave(state).then(continueWith).catch(reject);
      listen({ onGrown: () => this.leaveIfDue() });
      this.part(body).then(resolve, reject);
    });
  }

  /** Called when the history has grown, and when the run has its configuration. */
  leaveIfDue(): void {
    if (!this.isDue) return;
    this.#begin?.();
    this.#begin = undefined;
  }

  /** Runs a part of the run, which is busy until it ends, but for its rests. */
  async part<T>(body: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await body();
    } finally {
      this.#busy--;
    }
  }

  /** Waits as the SDK's `condition` does. The run may continue as new meanwhile: the next run must reach the same wait. */
  wait(isOver: () => boolean): Promise<void>;
  wait(isOver: () => boolean, timeoutMs: number, options: { summary: string }): Promise<boolean>;
  wait(isOver: () => boolean, timeoutMs?: number, options?: { summary: string }): Promise<unknown> {
    const work: Promise<unknown> =
      timeoutMs === undefined ? condition(isOver) : condition(isOver, timeoutMs, options ?? {});
    return this.waitFor(work, isOver);
  }

  /** Waits for work that the next run does again, or for parts that are counted by themselves. */
  async waitFor<T>(work: Promise<T>, isOver = () => false): Promise<T> {
    const rest = { isOver };
    this.#rests.add(rest);
    this.#busy--;
    try {
      return await work;
    } finally {
      this.#rests.delete(rest);
      this.#busy++;
      if (this.#isLeaving) await new Promise<never>(() => {});
    }
  }

  /** Resolves with the state when the run can continue as new; no part continues after that. */
  async #leave<State>(state: () => State): Promise<State> {
    const root = CancellationScope.current();
    try {
      // Calls back attempts that are not on the wire yet: the next run sends them.
      this.#inFlight.recheck();
      for (;;) {
        await condition(() => this.#isQuiet(root) && this.isNear);
        // Lets parts run first whose wait ended in this task, also one after another.
        await waitUntilAtRest(2);
        if (!this.#isQuiet(root)) continue;
        this.#isLeaving = true;
        return state();
      }
    } catch (error) {
      // A cancelled run ends by its own error.
      if (isCancellation(error)) return new Promise<never>(() => {});
      throw error;
    }
  }

  #isQuiet(root: CancellationScope): boolean {
    if (this.#busy > 0 || root.consideredCancelled || !areMessagesAnswered()) return false;
    return [...this.#rests].every(({ isOver }) => !isOver());
  }
}

/** @throws `InvalidInput` where a caller gives a state: only the run before may */
export function refuseForeignState(state: unknown): void {
  if (isUndecodable(state)) throw toUndecodableFailure(state);
  if (state === undefined || workflowInfo().continuedFromExecutionRunId !== undefined) return;
  throw createInvalidInput('a second argument was given; nothing was sent', [
    { path: '', rule: 'must be the only argument' },
  ]);
}
