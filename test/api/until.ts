/** Calls `read` until it returns a value. The test's own timeout is the limit. */
import { setTimeout as sleep } from 'node:timers/promises';

export async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    await sleep(100);
  }
}
