/** How far Temporal's clock is ahead of ours. No call returns the time, but the server records the time of a poll. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Connection } from '@temporalio/client';
import { millisecondsOf } from '../../base/timestamps.ts';

const ACTIVITY = 2;
/** A poll that may not wait this long is refused by the server. */
const POLL_DEADLINE_MS = 5_000;
const LOOK_EVERY_MS = 50;
const MAX_LOOKS = 40;

/**
 * Polls a queue that nothing is ever put on, and reads when the server says that it was polled.
 *
 * @returns milliseconds, or `null` where the server does not say
 */
export async function serverClock({ connection, options }: Client, taskQueue: string): Promise<number | null> {
  const own = connection as Connection;
  const { namespace } = options;
  // Polls of others are remembered for minutes.
  const identity = `credit-journey doctor ${randomUUID()}`;
  const queue = { name: `${taskQueue}-doctor` };
  const poll = new AbortController();
  const askedAtMs = Date.now();
  const polled = own
    .withDeadline(Date.now() + POLL_DEADLINE_MS, () =>
      own.withAbortSignal(poll.signal, () =>
        own.workflowService.pollActivityTaskQueue({ namespace, taskQueue: queue, identity }),
      ),
    )
    // It ends without a task, or is given up.
    .catch(() => {});
  try {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      await delay(LOOK_EVERY_MS);
      const { pollers } = await own.workflowService.describeTaskQueue({
        namespace,
        taskQueue: queue,
        taskQueueType: ACTIVITY,
      });
      const mine = pollers?.find((poller) => poller.identity === identity);
      const polledAtMs = millisecondsOf(mine?.lastAccessTime);
      if (polledAtMs !== null) return polledAtMs - (askedAtMs + LOOK_EVERY_MS / 2);
    }
    return null;
  } finally {
    poll.abort();
    await polled;
  }
}
