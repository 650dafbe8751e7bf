import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { bareEnvironment, CLI } from '../cli/run-cli.ts';
import { temporaryDirectory } from '../local/fake-programs.ts';
import { openFullPipe } from '../support/full-pipe.ts';

for (const [name, open] of [
  ['has a full disk', async () => openSync('/dev/full', 'w')],
  ['is a full pipe that its reader has left', openFullPipe],
] as const) {
  test(`nothing is given out while standard error, with the audit log, ${name}`, {
    skip: process.platform !== 'linux' && 'only Linux has /dev/full',
  }, async (t) => {
    const keyRingFile = join(await temporaryDirectory(t), 'keys.json');
    await createKeyRing(keyRingFile);
    const full = await open(t);
    const server = spawn(process.execPath, [CLI, 'codec-server', '--port', '0'], {
      stdio: ['ignore', 'pipe', full],
      env: { ...bareEnvironment(), KEY_RING_FILE: keyRingFile },
    });
    t.after(() => server.kill('SIGKILL'));
    const [line] = await once(createInterface({ input: server.stdout as NodeJS.ReadableStream }), 'line');
    const { endpoint } = JSON.parse(line) as { endpoint: string };
    for (let call = 0; call < 2; call++) {
      const answer = await fetch(`${endpoint}/decode`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-namespace': 'default' },
        body: JSON.stringify({ payloads: [] }),
        signal: AbortSignal.timeout(10_000),
      });
      assert.equal(answer.status, 503);
    }
  });
}
