/**
 * One HTTP request and its answer over one undici dispatcher. Also undici's own report on whether a byte of the request
 * was written. docs/protocol.md, fence 3.
 *
 * This file relies on undici 8 (HTTP/1, `lib/dispatcher/client-h1.js`) as follows:
 * 1. `writeH1` calls the handler's `onRequestStart` and then, in the same synchronous run, writes headers and body.
 *   Until that call, no byte of this request has left. Where the handler aborts inside it, no byte ever leaves.
 * 2. Before that, a request waits for a free connection in the queues of pool and client. No time-out of undici
 *   covers this wait: `sendBy` does.
 * 3. `onRequestStart` could come a second time if undici ever put a written request back in its queue. It does so for
 *   refused HTTP/2 streams (off here). The second call is aborted, for any cause.
 * 4. Errors reach `onResponseError` both before and after the first byte, with the same codes: they prove nothing.
 *
 * A request that is abandoned after the first byte has its connection reset: connections.ts.
 */
import type { Dispatcher } from 'undici';
import { isTlsRefusal } from '../base/error-code.ts';

interface ExchangeOptions {
  dispatcher: Dispatcher;
  url: URL;
  headers: Record<string, string>;
  body: string;
  /** `performance.now()` after which no first byte may be written. */
  sendBy: number;
  /** `Date.now()` after which no first byte may be written either: the other clock stops while a machine is suspended. */
  sendByEpochMs?: number | undefined;
  /** Milliseconds from the first byte to the end of the answer. undici's own time-outs restart with each chunk. */
  answerWithinMs: number;
  /** The exchange obeys the signal until the first byte, and ignores it afterwards. */
  signal?: AbortSignal | undefined;
}

type ResponseHeaders = Record<string, string | string[] | undefined>;

export type ExchangeOutcome =
  /**
   * The answer's head arrived. `complete`: so did its whole body. `startIsReported`: undici had reported that it began to write.
   */
  | {
      kind: 'answered';
      startIsReported: boolean;
      startedAt: string;
      status: number;
      headers: ResponseHeaders;
      body: Buffer;
      complete: boolean;
    }
  /** undici began to write, and no answer's head came. */
  | { kind: 'lost'; startedAt: string }
  /** undici never began to write. `tls`: the two sides could not agree on a trusted connection. */
  | { kind: 'notBegun'; reason: 'late' | 'tls' | 'connection' };

/** Rejects only with `signal.reason`, untouched, when the signal fired before the first byte. */
export function exchange(options: ExchangeOptions): Promise<ExchangeOutcome> {
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(options, resolve, reject);
    if (handler.settled) return;
    options.dispatcher.dispatch(
      {
        origin: options.url.origin,
        path: options.url.pathname + options.url.search,
        method: 'POST',
        headers: options.headers,
        body: options.body,
        idempotent: false,
      },
      handler,
    );
  });
}

/** The longest delay that `setTimeout` takes. */
const MAX_TIMER_MS = 2_147_483_647;

/** Internal: it only makes undici let go of the request and its connection. */
class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  settled = false;
  readonly #options: ExchangeOptions;
  readonly #resolve: (outcome: ExchangeOutcome) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #onAbort: () => void;
  readonly #dispatchedAt = new Date().toISOString();
  #timer: NodeJS.Timeout | undefined;
  #startedAt: string | undefined;
  #head: { status: number; headers: ResponseHeaders } | undefined;
  readonly #chunks: Buffer[] = [];

  constructor(
    options: ExchangeOptions,
    resolve: (outcome: ExchangeOutcome) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal, sendBy } = options;
    this.#onAbort = () => this.#settle(() => this.#reject(signal?.reason));
    if (signal?.aborted) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    const waitMs = Math.min(Math.max(sendBy - performance.now(), 0), MAX_TIMER_MS);
    this.#timer = setTimeout(() => this.#finish({ kind: 'notBegun', reason: 'late' }), waitMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#startedAt === undefined && !this.settled && this.#isInTime()) {
      this.#startedAt = new Date().toISOString();
      this.#options.signal?.removeEventListener('abort', this.#onAbort);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => controller.abort(new AbandonedError()), this.#options.answerWithinMs);
      return;
    }
    // The request is late, abandoned, or a second call. Aborting here keeps undici from writing.
    if (this.#startedAt === undefined) this.#finish({ kind: 'notBegun', reason: 'late' });
    controller.abort(new AbandonedError());
  }

  #isInTime(): boolean {
    const { sendBy, sendByEpochMs = Number.POSITIVE_INFINITY } = this.#options;
    return performance.now() < sendBy && Date.now() < sendByEpochMs;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status >= 200) this.#head = { status, headers };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish(this.#toAnswered(true));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#head) this.#finish(this.#toAnswered(false));
    else if (this.#startedAt !== undefined) this.#finish({ kind: 'lost', startedAt: this.#startedAt });
    else this.#finish({ kind: 'notBegun', reason: isTlsRefusal(error) ? 'tls' : 'connection' });
  }

  #toAnswered(complete: boolean): ExchangeOutcome {
    return {
      kind: 'answered',
      startIsReported: this.#startedAt !== undefined,
      startedAt: this.#startedAt ?? this.#dispatchedAt,
      status: this.#head?.status ?? 0,
      headers: this.#head?.headers ?? {},
      body: Buffer.concat(this.#chunks),
      complete,
    };
  }

  #finish(outcome: ExchangeOutcome): void {
    this.#settle(() => this.#resolve(outcome));
  }

  #settle(tell: () => void): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    tell();
  }
}
