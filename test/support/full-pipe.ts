import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../local/fake-programs.ts';

/** Opens a named pipe without a reader, and fills it: a write to it fails with EAGAIN. */
export async function openFullPipe(t: TestContext): Promise<number> {
  const pipe = join(await temporaryDirectory(t), 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  const full = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(full));
  assert.throws(
    () => {
      for (;;) writeSync(full, 'x');
    },
    { code: 'EAGAIN' },
  );
  return full;
}
