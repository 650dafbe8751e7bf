/** Limits of an HTTP service: its figures, slots for requests at once, and buckets for requests per second. */
import { Refusal } from './refusal.ts';

export interface HttpLimits {
  bodyBytes: number;
  /** Open at once. Default 4,000: one page of a busy UI opens dozens; thousands are an attack, or a test. */
  connections?: number;
  /** Requests that are worked on at once, and those that wait for that. */
  work: SlotLimits;
  /** Bodies that are read, or have been read and wait for work, at once; and those that wait unread. */
  bodies: SlotLimits;
  /** For a body to have arrived whole, once it is read. */
  bodyTimeoutMs: number;
  /** Requests of one caller at once, then per second; the same of one address before it is known who it is. */
  burst: number;
  perSecond: number;
  /** Time limit for receiving a whole request. */
  requestTimeoutMs: number;
  /** Time limit for a connection without traffic, such as one whose reader has stopped. Default 90 s. */
  idleTimeoutMs?: number;
}

/**
 * Limits on requests that are read, or worked on, at once. The others wait. Callers share the slots: one caller has at
 * most its own part of them, and the next slot goes to the caller that has the fewest.
 */
interface SlotLimits {
  running: number;
  runningPerCaller: number;
  waiting: number;
  waitingPerCaller: number;
  waitMs: number;
}

interface Waiter {
  caller: string;
  settle(mayRun: boolean): void;
}

export class Slots {
  readonly #limits: SlotLimits;
  readonly #waiting = new Set<Waiter>();
  readonly #running = new Map<string, number>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** `false` where too many wait already, or it took too long. A caller that got a slot releases it, once. */
  async take(caller: string): Promise<boolean> {
    const { running, waiting, waitingPerCaller, waitMs } = this.#limits;
    const total = [...this.#running.values()].reduce((sum, count) => sum + count, 0);
    if (total < running && this.#mayRun(caller)) {
      this.#adjust(caller, 1);
      return true;
    }
    const own = [...this.#waiting].filter((waiter) => waiter.caller === caller).length;
    if (this.#waiting.size >= waiting || own >= waitingPerCaller) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (mayRun: boolean) => {
      clearTimeout(timer);
      this.#waiting.delete(waiter);
      if (mayRun) this.#adjust(caller, 1);
      resolve(mayRun);
    };
    const waiter: Waiter = { caller, settle };
    const timer = setTimeout(settle, waitMs, false);
    this.#waiting.add(waiter);
    return promise;
  }

  release(caller: string): void {
    this.#adjust(caller, -1);
    const [next] = [...this.#waiting]
      .filter((waiter) => this.#mayRun(waiter.caller))
      .sort((a, b) => this.#count(a.caller) - this.#count(b.caller));
    next?.settle(true);
  }

  #mayRun(caller: string): boolean {
    return this.#count(caller) < this.#limits.runningPerCaller;
  }

  #count(caller: string): number {
    return this.#running.get(caller) ?? 0;
  }

  #adjust(caller: string, by: 1 | -1): void {
    const count = this.#count(caller) + by;
    if (count > 0) this.#running.set(caller, count);
    else this.#running.delete(caller);
  }
}

/** Beyond this the longest unused one is forgotten: memory is bounded before fairness is. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class TokenBuckets {
  readonly #limits: Pick<HttpLimits, 'burst' | 'perSecond'>;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: Pick<HttpLimits, 'burst' | 'perSecond'>) {
    this.#limits = limits;
  }

  /** Takes one token. @throws Refusal 429 if the bucket is empty */
  take(key: string): void {
    const bucket = this.#refill(key);
    const retryAfterSeconds = Math.ceil(1 / this.#limits.perSecond);
    if (bucket.tokens < 1) throw new Refusal('rate', undefined, { retryAfterSeconds });
    bucket.tokens -= 1;
  }

  /** Returns a token whose use did not count. */
  giveBack(key: string): void {
    const bucket = this.#refill(key);
    bucket.tokens = Math.min(this.#limits.burst, bucket.tokens + 1);
  }

  #refill(key: string): Bucket {
    const { burst, perSecond } = this.#limits;
    const nowMs = performance.now();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    // Put at the end: the map's order is the order of use.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest = key] = this.#buckets.keys();
    if (this.#buckets.size > MAX_BUCKETS) this.#buckets.delete(oldest);
    return bucket;
  }
}
