/** Figures that bound the API. */
import type { HttpLimits } from '../http/limits.ts';

export interface ApiLimits extends HttpLimits {
  /** Before open connections are ended although their requests are still worked on. */
  drainMs: number;
}

export const DEFAULT_LIMITS: ApiLimits = {
  // The longest message, a journey with all its applicants and shares, has some 60 kB.
  bodyBytes: 256 * 1024,
  // The 5,000 that may wait for a change have one each.
  connections: 8_000,
  work: { running: 128, runningPerCaller: 64, waiting: 2_000, waitingPerCaller: 1_000, waitMs: 10_000 },
  // 128 MB of the longest bodies. It takes eight callers that drip to keep the others waiting, each for 5 s.
  bodies: { running: 512, runningPerCaller: 64, waiting: 2_000, waitingPerCaller: 1_000, waitMs: 10_000 },
  bodyTimeoutMs: 5_000,
  burst: 200,
  perSecond: 100,
  requestTimeoutMs: 15_000,
  drainMs: 10_000,
};
