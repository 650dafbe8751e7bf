import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type DevCodecServerOptions, startDevCodecServer } from '../../src/local/dev/dev-codec-server.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { temporaryDirectory } from './fake-programs.ts';

async function optionsIn(t: TestContext): Promise<DevCodecServerOptions & { events: string[] }> {
  const dataDir = await temporaryDirectory(t);
  const [temporalPort = 0, uiPort = 0, sandboxPort = 0] = await freePorts(3);
  const keyRingFile = join(dataDir, 'keys.json');
  await createKeyRing(keyRingFile);
  const events: string[] = [];
  return {
    dataDir,
    namespace: 'default',
    keyRingFile,
    ports: { temporalPort, uiPort, sandboxPort },
    headless: false,
    memory: null,
    onEvent: (message) => events.push(message),
    events,
  };
}

/** A page of that origin asks for nothing to be decoded. */
async function askFrom(origin: string, endpoint: string): Promise<number> {
  const response = await fetch(`${endpoint}/decode`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-namespace': 'default', origin },
    body: '{"payloads":[]}',
  });
  await response.arrayBuffer();
  return response.status;
}

test('pages of the environment’s own UI may call the codec server, under both of its names, and no others', async (t) => {
  const options = await optionsIn(t);
  const server = await startDevCodecServer(options);
  t.after(() => server.close());
  const { uiPort, sandboxPort } = options.ports;
  assert.equal(await askFrom(`http://127.0.0.1:${uiPort}`, server.endpoint), 200);
  assert.equal(await askFrom(`http://localhost:${uiPort}`, server.endpoint), 200);
  assert.equal(await askFrom(`http://127.0.0.1:${sandboxPort}`, server.endpoint), 403);
});

test('without a UI no page may call', async (t) => {
  const options = await optionsIn(t);
  const server = await startDevCodecServer({ ...options, headless: true });
  t.after(() => server.close());
  assert.equal(await askFrom(`http://127.0.0.1:${options.ports.uiPort}`, server.endpoint), 403);
});

test('a codec server whose remembered port is taken moves, says so, and keeps its path', async (t) => {
  const options = await optionsIn(t);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const codecPort = (other.address() as { port: number }).port;
  const codecSegment = 'a'.repeat(43);
  const memory = { ...options.ports, pid: process.pid, codecPort, codecSegment };
  const server = await startDevCodecServer({ ...options, memory });
  t.after(() => server.close());
  assert.notEqual(server.port, codecPort);
  assert.equal(server.segment, codecSegment);
  assert.deepEqual(options.events, [`port ${codecPort} is taken: the codec server is on ${server.port} instead`]);
});

test('a codec server leaves a remembered port to the Temporal server, the UI or the sandbox that is to have it', async (t) => {
  const options = await optionsIn(t);
  const memory = { ...options.ports, pid: process.pid, codecPort: options.ports.uiPort };
  const server = await startDevCodecServer({ ...options, memory });
  t.after(() => server.close());
  assert.ok(!Object.values(options.ports).includes(server.port));
});
