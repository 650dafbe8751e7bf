import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type DevCodecServerOptions, startDevCodecServer } from '../../src/local/dev/dev-services.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { temporaryDirectory } from './fake-programs.ts';

async function optionsIn(t: TestContext): Promise<DevCodecServerOptions & { events: string[] }> {
  const dataDir = await temporaryDirectory(t);
  const [port = 0, uiPort = 0] = await freePorts(2);
  const keyRingFile = join(dataDir, 'keys.json');
  await createKeyRing(keyRingFile);
  const events: string[] = [];
  return {
    dataDir,
    namespace: 'default',
    keyRingFile,
    port,
    uiPort,
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

test('only pages of the environment’s own UI may call the codec server, under either of its names', async (t) => {
  const options = await optionsIn(t);
  const server = await startDevCodecServer(options);
  t.after(() => server.close());
  const { uiPort } = options;
  assert.equal(await askFrom(`http://127.0.0.1:${uiPort}`, server.endpoint), 200);
  assert.equal(await askFrom(`http://localhost:${uiPort}`, server.endpoint), 200);
  assert.equal(await askFrom(`http://127.0.0.1:${Number(uiPort) + 1}`, server.endpoint), 403);
});

test('without a UI no page may call', async (t) => {
  const options = await optionsIn(t);
  const server = await startDevCodecServer({ ...options, uiPort: null });
  t.after(() => server.close());
  assert.equal(await askFrom(`http://127.0.0.1:${options.uiPort}`, server.endpoint), 403);
});

test('a codec server keeps the path that it is given', async (t) => {
  const options = await optionsIn(t);
  const segment = 'a'.repeat(43);
  const server = await startDevCodecServer({ ...options, segment });
  t.after(() => server.close());
  assert.equal(server.segment, segment);
  assert.equal(server.endpoint, `http://127.0.0.1:${options.port}/${segment}`);
});
