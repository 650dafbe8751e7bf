import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a temporary directory. It is removed by `remove`, or else when this process ends, as well as can be. */
export function makeScratchDirectory(prefix: string) {
  const path = mkdtempSync(join(tmpdir(), prefix));
  const remove = () => {
    process.off('exit', remove);
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // A server that was killed a moment ago may still be writing. The remaining files are in the temporary directory.
    }
  };
  process.once('exit', remove);
  return { path, remove };
}
