import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { acquireFileLock, tryFileLock } from '../../src/protection/keys/file-lock.ts';
import { temporaryDirectory } from './fake-programs.ts';

/** Starts a process that runs this code, and waits for a line. The code can import from `src/local`. */
async function program(code: string): Promise<{ child: ChildProcess; line: string }> {
  const local = new URL('../../src/local/', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code.replaceAll('LOCAL/', local)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, line };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilDead(pid: number): Promise<void> {
  const endsAt = performance.now() + 10_000;
  while (isAlive(pid)) {
    assert.ok(performance.now() < endsAt, `process ${pid} lives on`);
    await delay(50);
  }
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`a child process ends when its parent receives ${signal}`, async () => {
    const { child, line } = await program(`
      import { startOwnedChild } from 'LOCAL/child-process.ts';
      const { pid } = await startOwnedChild('sleep', ['300'], { stdio: 'ignore' });
      console.log(pid);`);
    const pid = Number(line);
    assert.ok(isAlive(pid));
    child.kill(signal);
    await untilDead(pid);
  });
}

test('a lock excludes all other holders, and is released when its process is killed', async (t) => {
  const path = join(await temporaryDirectory(t), 'some.lock');
  const { child } = await program(`
    import { acquireFileLock } from 'LOCAL/../protection/keys/file-lock.ts';
    globalThis.lock = await acquireFileLock(${JSON.stringify(path)});
    console.log('held');
    setInterval(() => {}, 1000);`);
  assert.equal(await tryFileLock(path), null);
  const waiting = acquireFileLock(path);
  child.kill('SIGKILL');
  const lock = await waiting;
  assert.equal(await tryFileLock(path), null, 'also within one process');
  lock.release();
  const again = await tryFileLock(path);
  assert.ok(again);
  again.release();
});
