/** Asks again until there is an answer; the test's own time is the limit. */
import { setTimeout as sleep } from 'node:timers/promises';

export async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    await sleep(100);
  }
}
