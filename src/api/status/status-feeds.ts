/** Statuses for callers that wait for the next one: each run is watched once, however many wait. */

import { createHash } from 'node:crypto';
import { CallerCounts } from '../../http/limits.ts';
import { Refusal } from '../../http/refusal.ts';

/** A run as the client has it. */
interface Watchable {
  runKey: string;
  watch(options: { signal: AbortSignal }): AsyncIterable<object>;
}

interface TaggedStatus {
  status: object;
  etag: string;
}

export interface FeedLimits {
  /** Runs that are watched at once. */
  runs: number;
  /** Watched runs that one caller was the first to wait for. */
  runsPerCaller: number;
  /** Requests that wait at once. */
  waiters: number;
  waitersPerCaller: number;
  /** A run is watched on for so long after its last caller: most ask again at once. */
  lingerMs: number;
}

const DEFAULT_FEED_LIMITS: FeedLimits = {
  runs: 1_000,
  runsPerCaller: 500,
  waiters: 5_000,
  waitersPerCaller: 2_500,
  lingerMs: 2_000,
};

interface Feed {
  /** The caller that began the feed. */
  caller: string;
  latest: TaggedStatus | undefined;
  /** How many callers wait for it. */
  waiting: number;
  /** Settled by the next status, and by the end. */
  change: PromiseWithResolvers<void>;
  /** Why it ended: `error` is absent where the run has closed. */
  ended: { error?: unknown } | undefined;
  stop: AbortController;
}

export class StatusFeeds {
  readonly #limits: FeedLimits;
  readonly #feeds = new Map<string, Feed>();
  readonly #waiters = new CallerCounts();
  readonly #runs = new CallerCounts();

  constructor(limits: Partial<FeedLimits> = {}) {
    this.#limits = { ...DEFAULT_FEED_LIMITS, ...limits };
  }

  /** How many runs are watched, for tests. */
  get size(): number {
    return this.#feeds.size;
  }

  /**
   * Waits for a status that the caller does not know yet, and returns it. Returns the latest one once the time is over,
   * the signal is aborted or the run has closed. `undefined` if no status arrived.
   *
   * @throws Refusal 429 where too many wait; what the watch throws
   */
  async next(
    run: Watchable,
    isKnown: (etag: string) => boolean,
    { caller, waitMs, signal }: { caller: string; waitMs: number; signal: AbortSignal },
  ): Promise<TaggedStatus | undefined> {
    const feed = this.#openFeed(run, caller);
    feed.waiting += 1;
    this.#waiters.add(caller);
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, waitMs);
    const isOver = over.promise.then(() => true);
    signal.addEventListener('abort', () => over.resolve(), { once: true });
    if (signal.aborted) over.resolve();
    try {
      const hasNews = () => feed.ended !== undefined || (feed.latest !== undefined && !isKnown(feed.latest.etag));
      while (!hasNews()) {
        if (await Promise.race([isOver, feed.change.promise])) break;
      }
      if (feed.ended && 'error' in feed.ended) throw feed.ended.error;
      return feed.latest;
    } finally {
      clearTimeout(timer);
      feed.waiting -= 1;
      this.#waiters.remove(caller);
      setTimeout(() => feed.waiting === 0 && this.#end(run.runKey, feed), this.#limits.lingerMs).unref();
    }
  }

  close(): void {
    for (const [runKey, feed] of this.#feeds) this.#end(runKey, feed);
  }

  #openFeed(run: Watchable, caller: string): Feed {
    const { runs, runsPerCaller, waiters, waitersPerCaller } = this.#limits;
    const known = this.#feeds.get(run.runKey);
    const isFull = this.#waiters.total >= waiters || this.#waiters.get(caller) >= waitersPerCaller;
    if (isFull || (!known && (this.#feeds.size >= runs || this.#runs.get(caller) >= runsPerCaller))) {
      throw new Refusal('waiting', 'too many callers wait for a change');
    }
    if (known) return known;
    const feed: Feed = {
      ...{ caller, waiting: 0, latest: undefined, ended: undefined },
      change: Promise.withResolvers(),
      stop: new AbortController(),
    };
    this.#feeds.set(run.runKey, feed);
    this.#runs.add(caller);
    void this.#follow(run, feed);
    return feed;
  }

  async #follow(run: Watchable, feed: Feed): Promise<void> {
    try {
      for await (const status of run.watch({ signal: feed.stop.signal })) {
        feed.latest = { status, etag: toEtag(status) };
        feed.change.resolve();
        feed.change = Promise.withResolvers();
      }
      feed.ended = {};
    } catch (error) {
      feed.ended = { error };
    }
    this.#end(run.runKey, feed);
    feed.change.resolve();
  }

  #end(runKey: string, feed: Feed): void {
    feed.stop.abort();
    if (this.#feeds.get(runKey) !== feed) return;
    this.#feeds.delete(runKey);
    this.#runs.remove(feed.caller);
  }
}

export function toEtag(body: object): string {
  return `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`;
}
