/** Sends a message to a run that is busy: one that hands over to its next run, or has as many messages as Temporal takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { isAtRunLimit, isRunLimit, isTaskFailure } from './error-translation.ts';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 1_000;

/** A run that hands over while messages arrive may fail a few tasks; one that always fails has a bug. */
const MOST_TASK_FAILURES = 6;

/**
 * Sends until the run takes the message, or `patienceMs` are over. It is the same message each time, by its id.
 *
 * @throws what `send` throws
 */
export async function sendPatiently<T>(send: () => Promise<T>, patienceMs: number): Promise<T> {
  const endsAt = performance.now() + patienceMs;
  let taskFailures = 0;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await send();
    } catch (error) {
      const mayPass = isAtRunLimit(error) || (isTaskFailure(error) && ++taskFailures < MOST_TASK_FAILURES);
      if (!mayPass || performance.now() + waitMs >= endsAt) throw error;
      await sleep(waitMs);
    }
  }
}

/** The SDK's own retries, but for what a run's limit refuses: the SDK would repeat it until the deadline. */
export function retriesBelowLimits(): ReturnType<typeof makeGrpcRetryInterceptor> {
  const { retryableDecider, ...options } = defaultGrpcRetryOptions();
  return makeGrpcRetryInterceptor({
    ...options,
    retryableDecider: (attempt, status) => !isRunLimit(status) && retryableDecider(attempt, status),
  });
}
