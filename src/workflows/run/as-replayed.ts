/**
 * Lets a worker play a run at first as each replay plays it. Core (SDK 1.24) may put other events together for the task at
 * hand: a replay knows in which task an update was accepted. Commands then come in another order, and the run stands still
 * for good (docs/decisions/journeys.md, 44).
 *
 * - A task before, which brought no command, is played together with this one: its events come beside the updates.
 * - After a reset, updates come in their place among the signals; a replay has them after all signals.
 * - For a query that has waited for a worker, core plays what no task has yet, with the clock of the last one.
 *
 * So updates are played last, when all else of the task has come to rest; and no query plays anything.
 */
import type { WorkflowInterceptors, WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { allHandlersFinished, CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import { inBackground } from './around-the-sdk.ts';

type Activation = Parameters<NonNullable<WorkflowInternalsInterceptor['activate']>>[0]['activation'];
type Job = NonNullable<Activation['jobs']>[number];

/** In each round, the SDK looks at all conditions and lets all promises run. No task of the tests needs more than four. */
const ROUNDS_TO_REST = 32;

/** By run id: the workflow bundle preloads this module for all runs of a thread. */
const updatesToCome = new Set<string>();

/** Whether the task at hand brought updates that are not played yet. */
export function areUpdatesToCome(): boolean {
  return updatesToCome.has(workflowInfo().runId);
}

/** Whether every message that the run has was played and answered. */
export function allMessagesAnswered(): boolean {
  return !areUpdatesToCome() && allHandlersFinished();
}

/**
 * Resolves when every message was played and answered, and `isDone`: then the run may end. It waits for all else of the
 * task as well: a replay does not have the updates of the task that were refused, and goes on at the same place.
 */
export async function untilMessagesAnswered(isDone = () => true): Promise<void> {
  const isOver = () => allMessagesAnswered() && isDone();
  do {
    await condition(isOver);
    await untilAtRest();
  } while (!isOver());
}

/** A run that ends takes the updates of its last task, too. */
export async function untilUpdatesAreTaken(): Promise<void> {
  await CancellationScope.nonCancellable(async () => {
    await untilAtRest();
    await condition(() => !areUpdatesToCome());
  });
}

/** Resolves when all else of the task has come to rest, its updates included. */
export async function untilAtRest(): Promise<void> {
  for (let round = 0; round < ROUNDS_TO_REST; round++) {
    let isNext = false;
    await condition(() => {
      const isOver = isNext;
      isNext = true;
      return isOver;
    });
  }
}

function isUpdate({ doUpdate }: Job): boolean {
  return !!doUpdate;
}

/**
 * Tells what core plays for a query from a task: the history has grown, and the clock and the history's size are still
 * those of the last task. The server tells 0 where it does not know the size. By its size alone, a task that brought
 * nothing but a refused update is like the next one: the server forgets it.
 */
class TaskWatch {
  #events = 0;
  #task = '';

  isBetweenTasks({ historyLength, historySizeBytes, timestamp, jobs }: Activation): boolean {
    const events = Number(historyLength ?? 0);
    const bytes = Number(historySizeBytes ?? 0);
    const task = [bytes, timestamp?.seconds, timestamp?.nanos].join();
    const isBetween = bytes > 0 && task === this.#task && events > this.#events && !!jobs?.some(playsAnEvent);
    this.#events = events;
    this.#task = task;
    return isBetween;
  }
}

function playsAnEvent({ queryWorkflow, removeFromCache }: Job): boolean {
  return !queryWorkflow && !removeFromCache;
}

export const interceptors = (): WorkflowInterceptors => {
  const tasks = new TaskWatch();
  return {
    internals: [
      {
        activate: (input, next) => {
          const { activation } = input;
          // This fails the query alone, and the worker forgets the run: the task that comes finds it as it was.
          if (tasks.isBetweenTasks(activation)) {
            throw new Error('the query came between two tasks of the run: ask again');
          }
          const jobs = activation.jobs ?? [];
          // A worker that lost the run in the middle of a task plays it anew.
          if (jobs.some(({ initializeWorkflow }) => initializeWorkflow)) updatesToCome.delete(workflowInfo().runId);
          const updates = jobs.filter(isUpdate);
          if (updates.length === 0 || updates.length === jobs.length) return next(input);
          const { runId } = workflowInfo();
          updatesToCome.add(runId);
          next({ ...input, activation: { ...activation, jobs: jobs.filter((job) => !isUpdate(job)) } });
          inBackground(async () => {
            await CancellationScope.nonCancellable(untilAtRest);
            updatesToCome.delete(runId);
            next({ ...input, activation: { ...activation, jobs: updates } });
          });
        },
      },
    ],
  };
};
