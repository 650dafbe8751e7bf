/** Waits for a run's query to answer as a test wants it; a wait in vain tells the run's story. */
import { isGrpcCancelledError, isGrpcDeadlineError } from '@temporalio/client';
import { askRun } from '../../src/client/runs/ask-run.ts';
import { storyOf, type WatchedRun } from './run-story.ts';

/** Ends a test that would wait for ever; it is no timing check. Tests of broken builds need not wait as long. */
export const WAIT_LIMIT_MS = Number(process.env.TEST_WAIT_LIMIT_MS ?? 120_000);
/** Longest wait for an event before the run is asked again. */
const LONG_POLL_MS = 2_000;
/** Between two questions to a run that has ended, or is on a server that is asked without long polls. */
const POLL_MS = 200;

const withoutLongPolls = new WeakSet<object>();

/** The time-skipping server hangs up on a client whose long polls come too fast. */
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
  let position: Position | undefined;
  for (;;) {
    const status = await askRun<Status>(handle, query);
    if (isWanted(status)) return status;
    if (performance.now() > endsAt) {
      throw new Error(`waited in vain; ${query} is ${JSON.stringify(status)}\n${await storyOf(handle)}`);
    }
    position = await nextTask(handle, position);
  }
}

/** Of a run's history: after what has been read of it. */
type Position = Uint8Array;

/** Returns when a workflow task has completed, which alone changes what a query answers, or after a while. */
async function nextTask(handle: WatchedRun, position: Position | undefined): Promise<Position | undefined> {
  const endsAt = Date.now() + LONG_POLL_MS;
  const { client, workflowId } = handle;
  if (withoutLongPolls.has(client)) return aWhile();
  let nextPageToken = position;
  for (;;) {
    const request = { namespace: client.options.namespace, execution: { workflowId }, waitNewEvent: true };
    const page = await client
      .withDeadline(endsAt, () =>
        client.workflowService.getWorkflowExecutionHistory({
          ...request,
          ...(nextPageToken ? { nextPageToken } : {}),
        }),
      )
      .catch(withoutNews);
    if (!page) return nextPageToken;
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
    // It has ended, or another run has followed it.
    if (!nextPageToken) return aWhile();
    if (page.history?.events?.some((event) => event.workflowTaskCompletedEventAttributes)) return nextPageToken;
  }
}

function aWhile(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), POLL_MS));
}

/** A long poll without news is no failure. Where its end and the server's answer meet, gRPC says that it was cancelled. */
function withoutNews(error: unknown): undefined {
  if (!isGrpcDeadlineError(error) && !isGrpcCancelledError(error)) throw error;
}
