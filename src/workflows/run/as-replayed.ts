/**
 * Lets a worker play a run at first as each replay plays it. Core (SDK 1.24) may group events in other tasks, since
 * only a replay knows in which task an update was accepted. Commands then have another order, and the run is stuck for
 * good (docs/decisions/journeys.md, 44).
 *
 * - A task before, which brought no command, is played together with this one: its events come beside the updates.
 * - After a reset, updates come in their place among the signals; a replay has them after all signals.
 * - For a query that has waited for a worker, core plays events that no task has yet, with the clock of the last one.
 *
 * So updates are played last, once the rest of the task has settled, and no query plays anything.
 */
import type { WorkflowInterceptors, WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import { runInBackground } from './around-the-sdk.ts';

type Activation = Parameters<NonNullable<WorkflowInternalsInterceptor['activate']>>[0]['activation'];
type Job = NonNullable<Activation['jobs']>[number];

/** The SDK (1.24) keeps this for each run, and exports it to none but its own packages. */
interface Activator {
  blockedConditions: ReadonlyMap<number, unknown>;
  nextSeqs: { readonly condition: number };
  /**
   * Another array after each reset, at the same place in every replay: core gives the run a new seed then.
   * `test/hazards/work-rows-slow.test.ts` holds that on a real server.
   */
  randomnessSeed: unknown;
}

/** This module keeps these figures of each run. */
interface Played {
  /** Whether the task at hand brought updates that are not played yet. */
  hasUpdatesToCome: boolean;
  /** Events played so far, by estimate, and the size of the history that has them. */
  events: number;
  bytes: number;
  /** The size of the history at the task at hand. */
  bytesByNow: number;
  onReset?: () => void;
  onGrown?: () => void;
  /** The waits of `waitUntilAtRest`: their conditions say nothing about the rest of the task. */
  rests: { made: number; blocked: number; ended: number };
}

/**
 * The bundle preloads this module for all runs of a thread. Each time that a worker plays a run from its start, the run
 * has another activator.
 */
const playedByRun = new WeakMap<Activator, Played>();

function getActivator(): Activator {
  return (globalThis as unknown as { __TEMPORAL_ACTIVATOR__: Activator }).__TEMPORAL_ACTIVATOR__;
}

function getPlayed(): Played {
  const activator = getActivator();
  const known = playedByRun.get(activator);
  // Predicates of waits call this in each round of each task.
  if (known) return known;
  const rests = { made: 0, blocked: 0, ended: 0 };
  const played = { hasUpdatesToCome: false, events: 0, bytes: 0, bytesByNow: 0, rests };
  playedByRun.set(activator, played);
  return played;
}

/** Whether every message that the run has was played and answered. */
export function areMessagesAnswered(): boolean {
  return !getPlayed().hasUpdatesToCome && allHandlersFinished();
}

/**
 * Resolves when every message was played and answered and `isDone` holds, so that the run may end. It also waits for
 * the rest of the task: a replay lacks the task's refused updates, and must continue at the same place.
 */
export async function waitUntilMessagesAnswered(isDone = () => true): Promise<void> {
  await waitUntilRestWhere(() => areMessagesAnswered() && isDone());
}

/** Resolves at rest, once every update of the task was played. A run that ends takes those of its last task, too. */
export async function waitUntilUpdatesTaken(): Promise<void> {
  await CancellationScope.nonCancellable(() => waitUntilRestWhere(() => !getPlayed().hasUpdatesToCome));
}

/** Rests begin only where the condition holds: two that alternate would keep each other, and the thread, for ever. */
async function waitUntilRestWhere(isSo: () => boolean): Promise<void> {
  do {
    if (!isSo()) await condition(isSo);
    await waitUntilAtRest();
  } while (!isSo());
}

/**
 * Resolves when the rest of the task has settled, its updates included. In each round, the SDK looks at all conditions
 * and lets all promises run. After a round that resolved and made no condition, the run does nothing more in the task.
 *
 * @param quietRounds of two waits, the one with more rounds ends after the other and what follows it
 */
export async function waitUntilAtRest(quietRounds = 1): Promise<void> {
  const activator = getActivator();
  const { rests } = getPlayed();
  const conditions = () => {
    const made = activator.nextSeqs.condition - rests.made;
    return [made, activator.blockedConditions.size - rests.blocked, rests.ended].join();
  };
  let before = conditions();
  for (let quiet = 0; quiet < quietRounds; ) {
    await waitUntilNextRound(rests);
    const now = conditions();
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
  rests.ended++;
}

function waitUntilNextRound(rests: Played['rests']): Promise<void> {
  let isNext = false;
  rests.made++;
  rests.blocked++;
  return condition(() => {
    if (isNext) rests.blocked--;
    const isOver = isNext;
    isNext = true;
    return isOver;
  });
}

/**
 * Detects that core plays events for a query between two tasks: the history has grown, and the clock and the history's
 * size are still those of the last task. The server reports 0 if it does not know the size. By its size alone, a task
 * that brought nothing but a refused update is like the next one: the server forgets it.
 */
function createTaskWatch(): (activation: Activation) => boolean {
  let last = { events: 0, task: '' };
  return ({ historyLength, historySizeBytes, timestamp, jobs }) => {
    const events = Number(historyLength ?? 0);
    const bytes = Number(historySizeBytes ?? 0);
    const task = [bytes, timestamp?.seconds, timestamp?.nanos].join();
    const playsAnEvent = !!jobs?.some(({ queryWorkflow, removeFromCache }) => !queryWorkflow && !removeFromCache);
    const isBetween = bytes > 0 && task === last.task && events > last.events && playsAnEvent;
    last = { events, task };
    return isBetween;
  };
}

// Measures how much of its history a run has played. The SDK's figures (`workflowInfo().historyLength` and others) also
// change in a workflow task that has only a refused update. No replay has that task. These figures change only with
// events in the history (docs/decisions/journeys.md, 54).

/** The server ends a run at 51,200 events, and by default suggests at 4,096 to continue as new. */
const DEFAULT_MAX_EVENTS = 3_000;

/** The server ends a run at 50 MB; it suggests so at 4 MB. A worker that lacks the run reads it all. */
const MAX_BYTES = 4 * 1024 * 1024;

/** An estimate of the events behind one job: its own, those of its command, and a share of its workflow task. */
const EVENTS_OF_JOB = { activity: 4, timer: 3, other: 2 } as const;
const EVENTS_OF_UPDATE = 4;

/** Whether the history is so long that the run should continue in a new one. */
export function isHistoryLong(maxEvents: number = DEFAULT_MAX_EVENTS): boolean {
  const { events, bytes } = getPlayed();
  return events >= maxEvents || bytes >= MAX_BYTES;
}

/**
 * @param listeners `onGrown`: called whenever the history has grown. `onReset`: called in the first task after an
 *   operator's reset, and again in each replay of it. The run has forgotten the later events, and the ledger has not
 */
export function listen(listeners: Pick<Played, 'onGrown' | 'onReset'>): void {
  Object.assign(getPlayed(), listeners);
}

function notePlayed(events: number): void {
  const played = getPlayed();
  played.events += events;
  played.bytes = Math.max(played.bytes, played.bytesByNow);
}

/** The events behind a job; none for one that leaves no event. An update counts once it is accepted. */
function countEvents(job: Job): number {
  if (job.doUpdate || job.queryWorkflow || job.removeFromCache || job.notifyHasPatch || job.updateRandomSeed) return 0;
  if (job.resolveActivity) return EVENTS_OF_JOB.activity;
  return job.fireTimer ? EVENTS_OF_JOB.timer : EVENTS_OF_JOB.other;
}

// The SDK (1.24) throws for a signal with a reserved name if a default signal handler is set (`handleUnknownSignals`).
// The signal is in the history, so every later workflow task of the run fails as well. Each is renamed before the SDK
// sees it, so that the run refuses it like any unknown signal. The SDK itself rejects such updates and queries.

/** `TEMPORAL_RESERVED_PREFIX` of the SDK, which exports it to none but its own packages. */
const RESERVED_PREFIX = '__temporal_';

/** A name that no run has a handler for. */
const UNKNOWN_NAME = 'unknown';

function renameReserved(jobs: readonly Job[]): void {
  for (const { signalWorkflow } of jobs) {
    if (signalWorkflow?.signalName?.startsWith(RESERVED_PREFIX)) signalWorkflow.signalName = UNKNOWN_NAME;
  }
}

export const interceptors = (): WorkflowInterceptors => {
  const isBetweenTasks = createTaskWatch();
  let seed = getActivator().randomnessSeed;

  const activate: NonNullable<WorkflowInternalsInterceptor['activate']> = (input, next) => {
    const { activation } = input;
    const jobs = activation.jobs ?? [];
    const played = getPlayed();
    renameReserved(jobs);
    // Fails the query alone. The worker forgets the run, so that the next task finds it unchanged.
    if (isBetweenTasks(activation)) throw new Error('the query came between two tasks of the run: ask again');
    const play = (some: Job[]) => {
      played.bytesByNow = Number(activation.historySizeBytes ?? 0);
      const events = some.reduce((sum, job) => sum + countEvents(job), 0);
      if (events > 0) notePlayed(events);
      next({ ...input, activation: { ...activation, jobs: some } });
      played.onGrown?.();
      const seedByNow = getActivator().randomnessSeed;
      // A run that is reset to its first task listens from now on.
      if (seedByNow === seed || !played.onReset) return;
      seed = seedByNow;
      played.onReset();
    };
    const [updates, others] = [jobs.filter(({ doUpdate }) => doUpdate), jobs.filter(({ doUpdate }) => !doUpdate)];
    if (updates.length === 0 || others.length === 0) return play(jobs);
    played.hasUpdatesToCome = true;
    play(others);
    runInBackground(async () => {
      await CancellationScope.nonCancellable(waitUntilAtRest);
      // After each update the SDK looks at all conditions, also after one that is refused, which no replay has.
      play(updates);
      played.hasUpdatesToCome = false;
    });
  };

  return {
    internals: [{ activate }],
    inbound: [
      {
        // Called for accepted updates alone. Not `async`: a promise more would delay the handler in some tasks.
        handleUpdate: (input, next) => {
          notePlayed(EVENTS_OF_UPDATE);
          getPlayed().onGrown?.();
          return next(input);
        },
      },
    ],
  };
};
