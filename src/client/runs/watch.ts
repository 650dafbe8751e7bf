/** Yields a run's status each time it changes: follows its history by long polls, and queries it after each task. */
import type { WorkflowHandle } from '@temporalio/client';
import { type CallOptions, type Calls, createTimeoutError } from '../connection/calls.ts';
import { type CallError, CodecServerError, hasCode, hasStatus, TEMPORAL_AWAY } from '../connection/errors.ts';
import { isOpen } from '../connection/temporal-runs.ts';

/**
 * Follows a run's history by long polls, each from where the one before has ended. The returned function waits until a
 * workflow task has completed, which alone can change the status, or the run has closed. Its `call` makes each long poll,
 * and ends it.
 *
 * @param runId default: the latest run
 * @internal
 */
export function followHistory(
  { client, workflowId }: Pick<WorkflowHandle, 'client' | 'workflowId'>,
  runId: string | null = null,
) {
  const about = { namespace: client.options.namespace, execution: { workflowId, runId }, waitNewEvent: true };
  let nextPageToken: Uint8Array | null = null;
  // A long poll without news is no failure.
  const poll = () =>
    client.workflowService.getWorkflowExecutionHistory({ ...about, nextPageToken }).catch((error: unknown) => {
      if (hasStatus(error, 'deadlineExceeded')) return null;
      throw error;
    });
  return async (call: <T>(ask: () => Promise<T>) => Promise<T>): Promise<{ isClosed: boolean }> => {
    for (;;) {
      const response = await call(poll);
      if (!response) continue;
      nextPageToken = response.nextPageToken ?? null;
      const isClosed = !nextPageToken || nextPageToken.length === 0;
      const events = response.history?.events ?? [];
      if (isClosed || events.some((event) => event.workflowTaskCompletedEventAttributes)) return { isClosed };
    }
  };
}

type Unavailable = CallError | CodecServerError;

/** `signal` ends the iteration quietly. `timeoutMs`: how long each question may take. Default 5,000. */
export interface WatchOptions extends CallOptions {
  /** Called once each time that no worker, no server or no codec server answers; the watch continues by itself. */
  onUnavailable?: (error: Unavailable) => void;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/**
 * Yields the status at once and after each change, and ends when the latest run has closed: it follows the runs
 * that continue as new, and those of a reset. It waits for a worker or a server that is down.
 *
 * @throws CallError
 * @internal
 */
export async function* watchRun<Status extends object>(
  run: { calls: Calls; handle: WorkflowHandle; runKey: string; status: (options: CallOptions) => Promise<Status> },
  options: WatchOptions,
): AsyncGenerator<Status> {
  const { calls, handle, runKey, status } = run;
  const { signal } = options;
  const about = { runKey, late: createTimeoutError };
  const patiently = <T>(ask: () => Promise<T>) => askUntilAnswered(calls, options, ask);
  const describe = async () => {
    const current = await calls.make({ runKey }, options, () => handle.describe());
    return { runId: current.runId, isClosed: !isOpen(current) };
  };
  /** `null` when the run has closed and no worker can answer its query. */
  const askStatus = () =>
    status(options).catch(async (error: unknown) => {
      if (hasCode(error, 'workerUnavailable') && (await describe()).isClosed) return null;
      throw error;
    });
  let known: string | undefined;
  let watchedRunId: string | undefined;
  try {
    for (;;) {
      let { runId, isClosed } = await patiently(describe);
      if (runId === watchedRunId) return;
      watchedRunId = runId;
      const waitForTask = followHistory(handle, runId);
      for (;;) {
        const current = await patiently(askStatus);
        if (signal?.aborted) return;
        const text = JSON.stringify(current);
        if (current !== null && text !== known) yield current;
        known = text;
        if (isClosed || current === null) break;
        ({ isClosed } = await patiently(() => waitForTask((ask) => calls.make(about, { signal }, ask))));
      }
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/** Tries until it is answered, ever more seldom. Throws once the signal is aborted. */
async function askUntilAnswered<T>(calls: Calls, { signal, onUnavailable }: WatchOptions, ask: () => Promise<T>) {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted || !isUnavailable(error)) throw error;
      if (waitMs === FIRST_WAIT_MS) onUnavailable?.(error);
    }
    await calls.pause(waitMs, signal);
  }
}

function isUnavailable(error: unknown): error is Unavailable {
  if (error instanceof CodecServerError) return error.mayPass;
  return hasCode(error, 'workerUnavailable', ...TEMPORAL_AWAY);
}
