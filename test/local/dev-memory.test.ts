import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  choosePorts,
  type DevMemory,
  type DevPorts,
  PortTakenError,
  readDevMemory,
  writeDevMemory,
} from '../../src/local/dev/dev-environment.ts';
import { DEFAULT_DATA_DIR, variablesOfRunningDev, writeReadyFile } from '../../src/local/dev/dev-variables.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { temporaryDirectory } from './fake-programs.ts';

const FREE = { temporalPort: 0, uiPort: 0, sandboxPort: 0 };

async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as { port: number }).port;
}

async function remembered(): Promise<DevPorts> {
  const [temporalPort = 0, uiPort = 0, sandboxPort = 0, codecPort = 0] = await freePorts(4);
  return { temporalPort, uiPort, sandboxPort, codecPort };
}

test('a data directory gets its former ports again, even when any free port would do', async (t) => {
  const directory = await temporaryDirectory(t);
  const ports = await remembered();
  await writeDevMemory(directory, { ...ports, pid: process.pid });
  const memory = await readDevMemory(directory);
  assert.deepEqual(memory, { ...ports, pid: process.pid });
  for (const asked of [{}, FREE]) assert.deepEqual(await choosePorts(asked, memory), ports);
});

test('without a memory, 0 gives four different free ports', async () => {
  const ports = Object.values(await choosePorts(FREE, {}));
  assert.equal(new Set(ports).size, 4);
});

test('a port that was asked for and is taken is an error, not another port', async (t) => {
  const port = await takenPort(t);
  await assert.rejects(choosePorts({ ...FREE, uiPort: port }, {}), PortTakenError);
});

test('a remembered port that is taken is an error too, except that the codec server moves to another', async (t) => {
  const port = await takenPort(t);
  const ports = await remembered();
  for (const name of ['sandboxPort', 'temporalPort', 'uiPort']) {
    await assert.rejects(choosePorts({}, { ...ports, [name]: port }), PortTakenError);
  }
  const { codecPort, ...others } = await choosePorts({}, { ...ports, codecPort: port });
  assert.deepEqual({ ...others, codecPort: ports.codecPort }, ports);
  assert.notEqual(codecPort, port);
});

test('a port that is asked for replaces the remembered one', async () => {
  const [elsewhere = 0] = await freePorts(1);
  assert.equal((await choosePorts({ sandboxPort: elsewhere }, await remembered())).sandboxPort, elsewhere);
});

test('a codec server leaves a remembered port to the server that was asked to have it', async () => {
  const ports = await remembered();
  const [uiPort = 0] = await freePorts(1);
  const chosen = await choosePorts({ uiPort }, { ...ports, codecPort: uiPort });
  assert.equal(chosen.uiPort, uiPort);
  assert.equal(new Set(Object.values(chosen)).size, 4);
});

test('the address of a codec server is remembered; one that cannot be used is forgotten, but the ports are kept', async (t) => {
  const directory = await temporaryDirectory(t);
  const { codecPort, ...ports } = await remembered();
  const before = { ...ports, pid: process.pid };
  assert.deepEqual(await rewritten(directory, before), before);
  const whole = { ...before, codecPort, codecSegment: 'a'.repeat(43) };
  assert.deepEqual(await rewritten(directory, whole), whole);
  assert.deepEqual(await rewritten(directory, { ...before, codecPort: 1.5, codecSegment: 'guessable' }), before);
});

async function rewritten(directory: string, memory: DevMemory): Promise<DevMemory> {
  await writeDevMemory(directory, memory);
  return readDevMemory(directory);
}

test('a file of ports that cannot be read is ignored', async (t) => {
  const directory = await temporaryDirectory(t);
  for (const content of ['', '{"temporalPort":', '{"temporalPort":"7233"}']) {
    await writeFile(join(directory, 'dev.json'), content);
    assert.deepEqual(await readDevMemory(directory), {});
  }
});

test('a command finds the environment that runs in its folder or above, unless variables name another or its process is gone', async (t) => {
  const folder = await temporaryDirectory(t);
  const below = join(folder, 'below');
  await mkdir(join(folder, DEFAULT_DATA_DIR));
  await mkdir(below);
  assert.deepEqual(variablesOfRunningDev({}, below), {});
  const variables = { TEMPORAL_ADDRESS: '127.0.0.1:7233' };
  const remove = await writeReadyFile(join(folder, DEFAULT_DATA_DIR), variables);
  const found = (env = {}) => variablesOfRunningDev(env, below);
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
  // Above the largest process id of any system.
  await writeFile(join(folder, DEFAULT_DATA_DIR, 'ready.json'), JSON.stringify({ pid: 2 ** 30, variables }));
  assert.deepEqual(found(), {});
});
