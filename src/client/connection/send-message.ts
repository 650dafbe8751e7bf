/** Sends a message to a run that is busy: one that hands over to its next run, or has as many messages as Temporal takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAtRunLimit, isTaskFailure } from './error-translation.ts';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 1_000;

/** A run that hands over while messages arrive may fail a few tasks; one that always fails has a bug. */
const MOST_TASK_FAILURES = 6;

/**
 * Sends until the run takes the message, `patienceMs` are over or the signal is aborted. It is the same message each
 * time, by its id.
 *
 * @throws what `send` throws
 */
export async function sendPatiently<T>(send: () => Promise<T>, patienceMs: number, signal: AbortSignal): Promise<T> {
  const endsAt = performance.now() + patienceMs;
  let taskFailures = 0;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await send();
    } catch (error) {
      const mayPass = isAtRunLimit(error) || (isTaskFailure(error) && ++taskFailures < MOST_TASK_FAILURES);
      if (!mayPass || performance.now() + waitMs >= endsAt) throw error;
      await sleep(waitMs, undefined, { signal });
    }
  }
}
