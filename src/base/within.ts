import { setTimeout } from 'node:timers/promises';

/** Resolves with `otherwise` if the work fails, or takes longer than `ms`. */
export async function finishWithin<T>(work: Promise<T>, ms: number, otherwise: T): Promise<T> {
  const tooLate = new AbortController();
  try {
    return await Promise.race([work, setTimeout(Math.max(1, ms), otherwise, { signal: tooLate.signal })]);
  } catch {
    return otherwise;
  } finally {
    tooLate.abort();
  }
}
