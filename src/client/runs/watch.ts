/** A run's status, each time it changes: driven by the run's own history, so that nothing is polled idly. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { CodecServerError } from '../connection/codec-server-error.ts';
import { isCancelled, isDeadline, isServerAway, translatedError } from '../connection/error-translation.ts';
import { TemporalUnavailableError, WorkerUnavailableError } from '../connection/errors.ts';

type Unavailable = WorkerUnavailableError | TemporalUnavailableError | CodecServerError;

export interface WatchOptions {
  /** Ends the iteration quietly. */
  signal?: AbortSignal;
  /** Called once each time that no worker, no server or no codec server answers; the watch goes on by itself. */
  onUnavailable?: (error: Unavailable) => void;
}

export interface WatchedRun<Status> {
  client: Client;
  handle: WorkflowHandle;
  /** As the command line takes it. */
  ownerId: string;
  status(): Promise<Status>;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/**
 * Yields the status at once and after each change, and ends when the run has closed (or has been succeeded by none,
 * after a reset). A worker or a server that is down is waited for.
 *
 * @throws JourneyNotFoundError
 */
export async function* watchRun<Status extends object>(
  watched: WatchedRun<Status>,
  options: WatchOptions,
): AsyncGenerator<Status> {
  const { signal } = options;
  let known: string | undefined;
  let run = await whenAnswered(watched, options, () => describe(watched));
  while (run) {
    const events = new HistoryEvents(watched, run.runId);
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
    const latest = await whenAnswered(watched, options, () => describe(watched));
    run = latest && latest.runId !== run.runId ? latest : undefined;
  }
}

interface Run {
  runId: string;
  isClosed: boolean;
}

async function describe({ handle, ownerId }: Omit<WatchedRun<object>, 'status'>): Promise<Run> {
  try {
    const { runId, status } = await handle.describe();
    return { runId, isClosed: status.name !== 'RUNNING' };
  } catch (error) {
    throw translatedError(error, ownerId);
  }
}

/** `null` when the run has closed and no worker can answer its query. */
async function statusOrEnd<Status extends object>(
  watched: WatchedRun<Status>,
  options: WatchOptions,
): Promise<Status | null> {
  const status = await whenAnswered(watched, options, async () => {
    try {
      return await watched.status();
    } catch (error) {
      if (error instanceof WorkerUnavailableError && (await describe(watched)).isClosed) return null;
      throw error;
    }
  });
  return status ?? null;
}

/** Tries until it is answered, ever more seldom. `undefined` once the signal is aborted. */
async function whenAnswered<T>(
  { ownerId }: Pick<WatchedRun<object>, 'ownerId'>,
  { signal, onUnavailable }: WatchOptions,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    if (signal?.aborted) return undefined;
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted && isCancelled(error)) return undefined;
      const away = translatedError(error, ownerId);
      if (!isUnavailable(away)) throw away;
      if (waitMs === FIRST_WAIT_MS) onUnavailable?.(away);
    }
    await sleep(waitMs, undefined, signal ? { signal } : {}).catch(() => {});
  }
}

function isUnavailable(error: unknown): error is Unavailable {
  if (error instanceof CodecServerError) return error.mayPass;
  return error instanceof WorkerUnavailableError || error instanceof TemporalUnavailableError;
}

/** Reads a run's history as it grows, by long polls. */
class HistoryEvents {
  readonly #client: Client;
  readonly #execution: { workflowId: string; runId: string };
  #token: Uint8Array | undefined;

  constructor({ client, handle }: WatchedRun<object>, runId: string) {
    this.#client = client;
    this.#execution = { workflowId: handle.workflowId, runId };
  }

  /** Waits until a workflow task has completed, which alone can change the status, or the run has closed. */
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
    const { connection, options } = this.#client;
    const request = {
      namespace: options.namespace,
      execution: this.#execution,
      waitNewEvent: true,
      ...(this.#token ? { nextPageToken: this.#token } : {}),
    };
    const ask = () => connection.workflowService.getWorkflowExecutionHistory(request);
    try {
      return await (signal ? this.#client.withAbortSignal(signal, ask) : ask());
    } catch (error) {
      // A long poll without news is no failure.
      if (isDeadline(error)) return null;
      const isHungUp = isCancelled(error) && !signal?.aborted;
      if (isHungUp || isServerAway(error)) throw new TemporalUnavailableError('it is away or overloaded');
      throw error;
    }
  }
}
