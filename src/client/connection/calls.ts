/** Calls to Temporal and the codec server: each ends by its answer, its time, the caller's signal or the client's end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { finishWithin } from '../../base/within.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { CallError, CodecServerError, isLate, translateCallError } from './errors.ts';

/** The options that every call takes beside its content. */
export interface CallOptions {
  /** Ends the call: its code is `aborted`. A message that was sent may still arrive. */
  signal?: AbortSignal | undefined;
  /**
   * Time limit of the whole call, in milliseconds. Then the call throws `timedOut` if the server is unreachable, and
   * otherwise mostly `workerUnavailable` (`result`: `resultNotReady`). Default 5,000 for questions to a run, 30,000 for starts and messages, and
   * none for `result`.
   */
  timeoutMs?: number | undefined;
}

/** Options of a message beside its content. */
export interface MessageOptions extends CallOptions {
  /**
   * The id of the message. A caller that repeats an unanswered message sends the same id; a corrected message needs
   * another. Default: a new random id for each call.
   */
  messageId?: string | undefined;
}

/** Default of starts and messages: they wait for the server, and messages for a worker. */
export const MESSAGE_TIMEOUT_MS = 30_000;

/** The error of a call that is late although it waits for the server alone, never for a worker. */
export const createTimeoutError = () => new CallError('timedOut');

interface Call {
  /** The run key of the call, for errors. */
  runKey: string;
  /** The default time limit of a call whose options give none. If absent, there is no limit. */
  defaultMs?: number;
  /** Makes the error of a call that is late while Temporal answers others. Default: `workerUnavailable`. */
  late?: () => Error;
}

/** The longest delay of a Node timer. */
const LONGEST_MS = 2_147_483_647;
/** Before a time-out the client probes the server, for this long or for half of a shorter limit. */
const PROBE_MS = 2_000;
/** If a call ends as late by more than this before our deadline, the server's own time limit ended it. */
const EARLY_MS = 100;
/** Limits how long `close` waits until the SDK has ended cancelled calls. */
const LONGEST_CLOSE_MS = 1_000;

/**
 * The calls of one client.
 *
 * @internal
 */
export class Calls {
  readonly #client: Client;
  readonly #codecServer: { readonly isAsking: boolean } | undefined;
  readonly #open = new Map<(error: Error) => void, Promise<unknown>>();
  #isClosed = false;

  constructor(client: Client, codecServer?: { readonly isAsking: boolean }) {
    this.#client = client;
    this.#codecServer = codecServer;
  }

  /**
   * Does the work, and translates its errors.
   *
   * @param work gets a signal that is aborted when the call ends before the work does
   * @throws CallError; InvalidInputError for a `timeoutMs` that is none; what the work throws
   */
  async make<T>(call: Call, options: CallOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { runKey, defaultMs } = call;
    const { signal, timeoutMs = defaultMs } = options;
    if (this.#isClosed) throw new CallError('closed');
    if (signal?.aborted) throw new CallError('aborted', { cause: signal.reason });
    const rule = 'must be a number of milliseconds from 1 to 2147483647';
    if (timeoutMs !== undefined && !(timeoutMs >= 1 && timeoutMs <= LONGEST_MS)) {
      throw new InvalidInputError([{ path: '/timeoutMs', rule }]);
    }
    const ending = new AbortController();
    const ended = Promise.withResolvers<never>();
    const end = (error: Error) => {
      ended.reject(error);
      ending.abort(error);
    };
    const onAbort = () => end(new CallError('aborted', { cause: signal?.reason }));
    signal?.addEventListener('abort', onAbort, { once: true });
    const deadline = timeoutMs === undefined ? undefined : this.#startClock(call, timeoutMs, ending.signal, end);
    const runCancellable = () => this.#client.withAbortSignal(ending.signal, () => work(ending.signal));
    const working = deadline === undefined ? runCancellable() : this.#client.withDeadline(deadline, runCancellable);
    this.#open.set(end, working);
    try {
      return await Promise.race([working, ended.promise]);
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason;
      const isOver = isLate(error);
      // Our own deadline has passed: the timer finds the error.
      if (isOver && deadline !== undefined && Date.now() >= deadline - EARLY_MS) return await ended.promise;
      if (isOver && call.late) throw call.late();
      throw translateCallError(error, runKey);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#open.delete(end);
      // Ends the clock, and its probe, which only tells a late worker from a late server.
      ending.abort();
    }
  }

  /** Waits; rejects once the client closes or the signal is aborted. */
  async pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await this.make({ runKey: '' }, { signal }, (ended) => sleep(ms, undefined, { signal: ended }));
  }

  /** Ends all calls that are under way with the code `closed`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#open];
    for (const [end] of open) end(new CallError('closed'));
    // A call that ends after its connection was closed would throw where no caller can catch it.
    const all = Promise.allSettled(open.map(([, working]) => working));
    await finishWithin<unknown>(all, LONGEST_CLOSE_MS, undefined);
  }

  /** Ends the call when its time is over, unless the signal is aborted first. Returns the deadline. */
  #startClock(
    { runKey, late = () => new CallError('workerUnavailable', { runKey }) }: Call,
    timeoutMs: number,
    signal: AbortSignal,
    end: (error: Error) => void,
  ): number {
    const client = this.#client;
    const deadline = Date.now() + timeoutMs;
    let isServerThere = false;
    const probe = async () => {
      await sleep(timeoutMs - Math.min(PROBE_MS, timeoutMs / 2), undefined, { signal });
      const ask = () => client.workflowService.getSystemInfo({});
      await client.withAbortSignal(signal, () => client.withDeadline(deadline, ask));
      isServerThere = true;
    };
    const expire = async () => {
      await sleep(timeoutMs, undefined, { signal });
      if (this.#codecServer?.isAsking) end(new CodecServerError('unreachable'));
      else end(isServerThere ? late() : createTimeoutError());
    };
    for (const started of [probe(), expire()]) started.catch(() => undefined);
    return deadline;
  }
}

/** The options of one call after another, which share one time. */
export function shareTimeout({ timeoutMs, signal }: CallOptions): () => CallOptions {
  const startedAt = performance.now();
  return () => ({
    signal,
    timeoutMs: timeoutMs && Math.max(1, timeoutMs - (performance.now() - startedAt)),
  });
}
