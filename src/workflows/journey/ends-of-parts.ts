/** How the parts of a journey that run beside one another end. Each adds no more promises than it must. */
import { isCancellation } from '@temporalio/workflow';

/**
 * Resolves when all parts have ended: a cancellation is passed on only when the attempts in flight on both sides have
 * landed. Fails at once by a bug, also in the work `beside` them, which may go on for longer.
 */
export function untilEnded(parts: readonly Promise<unknown>[], beside: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = parts.length;
    const ended = () => {
      left--;
      if (left === 0) resolve();
    };
    const failed = (error: unknown) => {
      if (!isCancellation(error)) reject(error);
    };
    for (const part of parts) {
      part.then(ended, (error: unknown) => {
        failed(error);
        ended();
      });
    }
    beside.catch(failed);
  });
}

/** Settles only by failing: where a share's task has failed, its supervisor fails too instead of waiting for it. */
export function failureOf(tasks: readonly Promise<void>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const task of tasks) task.catch(reject);
  });
}
