/** The recent pollers of a task queue, as the server remembers them. */
import type { NativeConnection } from '@temporalio/worker';
import { millisecondsOf } from '../base/timestamps.ts';

/** A long poll takes a minute. The server remembers a poller for five minutes after its last poll. */
const RECENT_MS = 2 * 60_000;

type QueueDescription = Awaited<ReturnType<NativeConnection['workflowService']['describeTaskQueue']>>;

/** The pollers of the last two minutes. Our clock decides, with room for the server's to differ. */
export function recentPollers({ pollers }: Pick<QueueDescription, 'pollers'>): QueueDescription['pollers'] {
  return (pollers ?? []).filter(({ lastAccessTime }) => (millisecondsOf(lastAccessTime) ?? 0) > Date.now() - RECENT_MS);
}
