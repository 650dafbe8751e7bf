/** Waits until a run's query has a wanted answer. The error of a time-out has the run's story. */
import { isGrpcCancelledError } from '@temporalio/client';
import { askRun } from '../../src/client/connection/run-messages.ts';
import { followHistory } from '../../src/client/runs/watch.ts';
import { storyOf, type WatchedRun } from './run-story.ts';

/** Ends a test that would wait for ever, and checks no timing. Tests of broken builds wait less. */
export const WAIT_LIMIT_MS = Number(process.env.TEST_WAIT_LIMIT_MS ?? 120_000);
/** The longest wait for an event before the run is queried again. */
const LONG_POLL_MS = 2_000;
/** The delay between queries of a run that has ended, or that is on a server without long polls. */
const POLL_MS = 200;

const withoutLongPolls = new WeakSet<object>();

/** The time-skipping server disconnects a client whose long polls come too fast. */
export function avoidLongPolls(client: WatchedRun['client']): void {
  withoutLongPolls.add(client);
}

export interface UntilOptions {
  /** Default: `status`. */
  query?: string;
  limitMs?: number;
}

/**
 * Asks again when the run's history has grown: a query costs worker and server a task, about 15 ms of CPU.
 *
 * @throws Error with the last answer, the run's history, its ledger's rows and the last log lines
 */
export async function untilQuery<Status>(
  handle: WatchedRun,
  isWanted: (status: Status) => boolean,
  { query = 'status', limitMs = WAIT_LIMIT_MS }: UntilOptions = {},
): Promise<Status> {
  const endsAt = performance.now() + limitMs;
  let waitForTask: Follower | undefined;
  for (;;) {
    const status = await askRun<Status>(handle, query);
    if (isWanted(status)) return status;
    if (performance.now() > endsAt) {
      throw new Error(`waited in vain; ${query} is ${JSON.stringify(status)}\n${await storyOf(handle)}`);
    }
    waitForTask = await nextTask(handle, waitForTask);
  }
}

type Follower = ReturnType<typeof followHistory>;

/** Returns when the run's history has grown, or after a delay. The history of an ended run does not grow. */
async function nextTask(handle: WatchedRun, known: Follower | undefined): Promise<Follower | undefined> {
  if (withoutLongPolls.has(handle.client)) return aWhile();
  const waitForTask = known ?? followHistory(handle);
  try {
    const { isClosed } = await waitForTask((ask) =>
      handle.client.withAbortSignal(AbortSignal.timeout(LONG_POLL_MS), ask),
    );
    // Another run may follow this one.
    return isClosed ? await aWhile() : waitForTask;
  } catch (error) {
    if (!isGrpcCancelledError(error)) throw error;
    return waitForTask;
  }
}

function aWhile(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), POLL_MS));
}
