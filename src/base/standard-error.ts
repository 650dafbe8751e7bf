import { writeSync } from 'node:fs';
import { getErrorCode } from './error-code.ts';

const PAUSE = new Int32Array(new SharedArrayBuffer(4));
/** How long a line waits for room in a full pipe, while the whole program waits too. No line waits after one in vain. */
const PATIENCE_MS = 1_000;
let patienceMs = PATIENCE_MS;

/** Throws where the line cannot be written: `process.stderr` fails only later, or keeps it in memory. */
export function writeToStandardError(line: string): void {
  const bytes = Buffer.from(line);
  const until = performance.now() + patienceMs;
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      // A pipe may be full for a moment.
      if (getErrorCode(error) !== 'EAGAIN') throw error;
      if (performance.now() >= until) {
        patienceMs = 0;
        throw error;
      }
      Atomics.wait(PAUSE, 0, 0, 10);
    }
  }
  patienceMs = PATIENCE_MS;
}
