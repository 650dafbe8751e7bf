/**
 * Whether a run may end in this workflow task.
 *
 * The SDK delivers the end of a local activity by itself. Messages of the same task may follow in a further activation. A
 * run that ended in between would never hear them. Where their handlers schedule anything, the server refuses the task
 * each time: nothing may follow a run's end. What a timer brings comes with all messages of its task.
 */
import { CancellationScope, sleep } from '@temporalio/workflow';

const TIMER_MS = 1;

/** The run's own: the SDK evaluates this module for each run. */
let messagesMayFollow = false;

/** Runs a local activity: from its end on, messages may follow in the same task. */
export async function inThisTask<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } finally {
    messagesMayFollow = true;
  }
}

/** Notes that a regular activity has ended: its end came with all messages of its task. */
export function noteNewTask(): void {
  messagesMayFollow = false;
}

/** Waits for a task of its own. Messages may have come with it: what had to hold before must be looked at again. */
export async function nextTask(summary: string): Promise<void> {
  await sleep(TIMER_MS, { summary });
  messagesMayFollow = false;
}

/** Waits until `isDone`, in a task in which no further messages come. No cancellation stops it. */
export async function doneInOwnTask(isDone: () => Promise<void>): Promise<void> {
  await CancellationScope.nonCancellable(async () => {
    await isDone();
    while (messagesMayFollow) {
      await nextTask('messages that came in the run’s last task');
      await isDone();
    }
  });
}
