/** How many requests one caller may make: so many at once, and then so many per second. */

/** Beyond this the longest unused one is forgotten: memory is bounded before fairness is. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class TokenBuckets {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Takes one; `false` where there is none. */
  take(key: string): boolean {
    const bucket = this.#filled(key);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  /** What was taken did not count. */
  giveBack(key: string): void {
    const bucket = this.#filled(key);
    bucket.tokens = Math.min(this.#burst, bucket.tokens + 1);
  }

  #filled(key: string): Bucket {
    const nowMs = performance.now();
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, atMs: nowMs };
    bucket.tokens = Math.min(this.#burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * this.#perSecond);
    bucket.atMs = nowMs;
    // Put at the end: the map's order is the order of use.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MAX_BUCKETS) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return bucket;
  }
}
