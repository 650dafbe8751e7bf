/** Bounded waiting. */
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;

/** Polls until it is so; throws when the time is over. */
export async function waitFor(what: string, isSo: () => Promise<boolean>, limitMs: number): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > endsAt) throw new Error(`waited in vain for ${what}`);
    await delay(POLL_MS);
  }
}
