import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { choosePorts, PortTakenError } from '../../src/local/dev/dev-environment.ts';
import { DEFAULT_DATA_DIR, readRunningDevVariables, writeFiles } from '../../src/local/dev/dev-variables.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { temporaryDirectory } from './fake-programs.ts';

const FREE = { temporalPort: 0, uiPort: 0, sandboxPort: 0 };

async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as { port: number }).port;
}

test('the port 0 is replaced by three different free ports', async () => {
  const ports = Object.values(await choosePorts(FREE));
  assert.equal(new Set(ports).size, 3);
});

test('a requested port that is in use or requested twice is an error', async (t) => {
  const port = await takenPort(t);
  await assert.rejects(choosePorts({ ...FREE, uiPort: port }), PortTakenError);
  await assert.rejects(choosePorts({ ...FREE, sandboxPort: 99_999 }), /port 99999 cannot be used: .*--sandbox-port/);
  const [free = 0] = await freePorts(1);
  await assert.rejects(choosePorts({ ...FREE, uiPort: free, sandboxPort: free }), PortTakenError);
});

test('a command finds the live environment of its folder or a parent, unless variables name another', async (t) => {
  const folder = await temporaryDirectory(t);
  const below = join(folder, 'below');
  await mkdir(join(folder, DEFAULT_DATA_DIR));
  await mkdir(below);
  assert.deepEqual(readRunningDevVariables({}, below), {});
  const variables = { TEMPORAL_ADDRESS: '127.0.0.1:7233' };
  const remove = await writeFiles(join(folder, DEFAULT_DATA_DIR), variables, {});
  const found = (env = {}) => readRunningDevVariables(env, below);
  assert.deepEqual(found(), variables);
  assert.deepEqual(
    found({ PATH: '/bin', TEMPORAL_CLI_PATH: '/bin/temporal', LEDGER_URL: '', PAYLOAD_ENCRYPTION: 'off' }),
    variables,
  );
  assert.equal(found({ GATEWAY_PROFILES_FILE: 'own.json' }).GATEWAY_PROFILES_FILE, 'own.json');
  for (const name of ['TEMPORAL_PROFILE', 'GATEWAY_ENVIRONMENT', 'LEDGER_URL_FILE', 'CODEC_SERVER_URL', 'TASK_QUEUE']) {
    assert.deepEqual(found({ [name]: 'given' }), {}, name);
  }
  await remove();
  assert.deepEqual(found(), {});
  // This process id is larger than any that a system assigns.
  await writeFile(join(folder, DEFAULT_DATA_DIR, 'ready.json'), JSON.stringify({ pid: 2 ** 30, variables }));
  assert.deepEqual(found(), {});
});
