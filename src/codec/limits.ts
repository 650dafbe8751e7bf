/** Figures that bound a codec server. */
import type { HttpLimits } from '../http/limits.ts';

export interface CodecServerLimits extends HttpLimits {
  /** In one request. */
  payloads: number;
  /** What the payloads of one request may come to once they are decompressed. */
  decodedBytes: number;
}

export const DEFAULT_LIMITS: CodecServerLimits = {
  // The server takes 4 MB in a message, which are 5.4 MB in base64.
  bodyBytes: 8 * 1024 * 1024,
  payloads: 10_000,
  // One body of 8 MB holds 6 MB, which deflate made of five times that where it is a long history.
  decodedBytes: 32 * 1024 * 1024,
  // More at once are no faster on a few cores, and cost 8 MB each.
  work: { running: 16, runningPerCaller: 8, waiting: 2_000, waitingPerCaller: 1_000, waitMs: 10_000 },
  bodies: { running: 32, runningPerCaller: 8, waiting: 2_000, waitingPerCaller: 1_000, waitMs: 10_000 },
  bodyTimeoutMs: 10_000,
  // The UI asks once for each event of a page, all at once: a journey has up to 75 and a list of runs many of them.
  burst: 1_000,
  perSecond: 200,
  requestTimeoutMs: 30_000,
};
