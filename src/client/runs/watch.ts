/** A run's status, each time it changes: driven by the run's own history, so that nothing is polled idly. */
import type { WorkflowHandle } from '@temporalio/client';
import type { CallOptions, Calls } from '../connection/calls.ts';
import {
  CodecServerError,
  hasStatus,
  isServerAway,
  serverAway,
  TemporalUnavailableError,
  WorkerUnavailableError,
} from '../connection/errors.ts';

// A run's history as it grows.

interface HistoryOptions {
  /** Default: the latest run. */
  runId?: string;
  /** Makes each long poll, and ends it. Default: the signal alone ends it. */
  call?: <T>(ask: () => Promise<T>) => Promise<T>;
}

/**
 * Reads a run's history by long polls, each from where the one before has ended.
 *
 * @internal
 */
export class HistoryEvents {
  readonly #client: WorkflowHandle['client'];
  readonly #execution: { workflowId: string; runId: string | null };
  readonly #call: HistoryOptions['call'];
  #token: Uint8Array | undefined;

  constructor({ client, workflowId }: Pick<WorkflowHandle, 'client' | 'workflowId'>, options: HistoryOptions = {}) {
    const { runId, call } = options;
    this.#client = client;
    this.#execution = { workflowId, runId: runId ?? null };
    this.#call = call;
  }

  /**
   * Waits until a workflow task has completed, which alone can change the status, or the run has closed.
   *
   * @throws TemporalUnavailableError; the SDK's error of a cancelled call where the signal is aborted
   */
  async next(signal: AbortSignal | undefined): Promise<{ isClosed: boolean }> {
    for (;;) {
      const response = await this.#poll(signal);
      if (!response) continue;
      this.#token = response.nextPageToken ?? undefined;
      const isClosed = !this.#token || this.#token.length === 0;
      const events = response.history?.events ?? [];
      if (isClosed || events.some((event) => event.workflowTaskCompletedEventAttributes)) return { isClosed };
    }
  }

  async #poll(signal: AbortSignal | undefined) {
    const { options, workflowService } = this.#client;
    const request = {
      namespace: options.namespace,
      execution: this.#execution,
      waitNewEvent: true,
      nextPageToken: this.#token ?? null,
    };
    const ask = async () => {
      try {
        return await workflowService.getWorkflowExecutionHistory(request);
      } catch (error) {
        // A long poll without news is no failure.
        if (hasStatus(error, 'deadlineExceeded')) return null;
        if ((hasStatus(error, 'cancelled') && !signal?.aborted) || isServerAway(error)) throw serverAway(error);
        throw error;
      }
    };
    if (this.#call) return this.#call(ask);
    return signal ? this.#client.withAbortSignal(signal, ask) : ask();
  }
}

type Unavailable = WorkerUnavailableError | TemporalUnavailableError | CodecServerError;

export interface WatchOptions {
  /** Ends the iteration quietly. */
  signal?: AbortSignal | undefined;
  /** How long each question may take, in milliseconds, before `onUnavailable` is called. Default 5,000. */
  timeoutMs?: number | undefined;
  /** Called once each time that no worker, no server or no codec server answers; the watch continues by itself. */
  onUnavailable?: (error: Unavailable) => void;
}

/** @internal */
export interface WatchedRun<Status> {
  calls: Calls;
  handle: WorkflowHandle;
  runKey: string;
  status(options: CallOptions): Promise<Status>;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/**
 * Yields the status at once and after each change, and ends when the run has closed (or has been succeeded by none,
 * after a reset). A worker or a server that is down is waited for.
 *
 * @throws JourneyNotFoundError; ClientClosedError
 * @internal
 */
export async function* watchRun<Status extends object>(
  watched: WatchedRun<Status>,
  options: WatchOptions,
): AsyncGenerator<Status> {
  const { signal } = options;
  let known: string | undefined;
  let run = await whenAnswered(watched, options, () => describe(watched, options));
  while (run) {
    const events = new HistoryEvents(watched.handle, {
      runId: run.runId,
      call: (ask) => watched.calls.make({ runKey: watched.runKey }, { signal }, ask),
    });
    let isClosed = run.isClosed;
    for (;;) {
      const status = await statusOrEnd(watched, options);
      if (signal?.aborted) return;
      if (status !== null) {
        const text = JSON.stringify(status);
        if (text !== known) yield status;
        known = text;
      }
      if (isClosed || status === null) break;
      const next = await whenAnswered(watched, options, () => events.next(signal));
      if (next === undefined) return;
      isClosed = next.isClosed;
    }
    const latest = await whenAnswered(watched, options, () => describe(watched, options));
    run = latest && latest.runId !== run.runId ? latest : undefined;
  }
}

interface Run {
  runId: string;
  isClosed: boolean;
}

async function describe(
  { handle, runKey, calls }: Omit<WatchedRun<object>, 'status'>,
  options: WatchOptions,
): Promise<Run> {
  const { runId, status } = await calls.make({ runKey }, toCallOptions(options), () => handle.describe());
  return { runId, isClosed: status.name !== 'RUNNING' };
}

function toCallOptions({ signal, timeoutMs }: WatchOptions): CallOptions {
  return { signal, timeoutMs };
}

/** `null` when the run has closed and no worker can answer its query. */
async function statusOrEnd<Status extends object>(
  watched: WatchedRun<Status>,
  options: WatchOptions,
): Promise<Status | null> {
  const status = await whenAnswered(watched, options, async () => {
    try {
      return await watched.status(toCallOptions(options));
    } catch (error) {
      if (error instanceof WorkerUnavailableError && (await describe(watched, options)).isClosed) return null;
      throw error;
    }
  });
  return status ?? null;
}

/** Tries until it is answered, ever more seldom. `undefined` once the signal is aborted. */
async function whenAnswered<T>(
  { calls }: Pick<WatchedRun<object>, 'calls'>,
  { signal, onUnavailable }: WatchOptions,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    if (signal?.aborted) return undefined;
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted) return undefined;
      if (!isUnavailable(error)) throw error;
      if (waitMs === FIRST_WAIT_MS) onUnavailable?.(error);
    }
    await calls.pause(waitMs, signal).catch((error) => {
      if (!signal?.aborted) throw error;
    });
  }
}

function isUnavailable(error: unknown): error is Unavailable {
  if (error instanceof CodecServerError) return error.mayPass;
  return error instanceof WorkerUnavailableError || error instanceof TemporalUnavailableError;
}
