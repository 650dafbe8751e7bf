import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { CodecServerAccess } from '../../src/config/codec-server-access.ts';
import { inspectCodecServer, inspectConfig } from '../../src/config/config.ts';
import { createContext } from '../../src/doctor/check.ts';
import { checkCodecServer } from '../../src/doctor/key-checks.ts';
import { createKeyRing, type KeyRing } from '../../src/protection/keys/key-ring.ts';
import { NAMESPACE, startServer, token } from '../codec-server/fixtures.ts';
import { deadPort, startServer as startScripted } from '../gateway/scripted-server.ts';
import { keyRing } from '../ledger/fixtures.ts';

const directory = mkdtempSync(join(tmpdir(), 'doctor-codec-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const keyRingFile = join(directory, 'keys.json');
const workersRing = await createKeyRing(keyRingFile);
const { config } = inspectConfig({ KEY_RING_FILE: keyRingFile, TEMPORAL_NAMESPACE: NAMESPACE });

async function finding(access: CodecServerAccess, problems: { variable: string; rule: string }[] = []) {
  const context = createContext(config, [], 10_000);
  return checkCodecServer({ access, problems }).run(context, new AbortController().signal);
}

/** Starts a server with these keys, and returns the access of a caller with these roles. */
async function serverWith(t: TestContext, keys: KeyRing, roles: string[]) {
  const server = await startServer(t, { keys });
  const bearer = await token({ roles });
  return { server, access: { url: server.endpoint, readToken: async () => bearer } };
}

const current = workersRing.current('payload').id;

test('a codec server with the workers’ keys passes, also for a caller that reads only masked values', async (t) => {
  const service = await serverWith(t, workersRing, ['encode', 'decode']);
  const { status, detail } = await finding(service.access);
  assert.deepEqual([status, detail.includes(current)], ['pass', true], detail);
  const person = await serverWith(t, workersRing, ['decode-redacted']);
  assert.match((await finding(person.access)).detail, /may not encrypt/);
});

test('a codec server fails if it lacks the workers’ key or encrypts under a key that workers lack', async (t) => {
  const other = keyRing('other');
  const without = await serverWith(t, other, ['encode', 'decode']);
  assert.deepEqual((await finding(without.access)).detail, `it lacks the key ${current}`);
  // This server has the workers' key and a newer key.
  const ahead: Pick<KeyRing, 'current' | 'find'> = {
    current: (use) => other.current(use),
    find: (use, id) => workersRing.find(use, id),
  };
  const { status, detail } = await finding((await serverWith(t, ahead as KeyRing, ['encode', 'decode'])).access);
  assert.deepEqual([status, detail.includes(other.current('payload').id)], ['fail', true], detail);
});

test('findings about an unusable codec server contain neither its address nor a token', async (t) => {
  const { access } = await serverWith(t, workersRing, []);
  const segment = 'unguessable-sentinel';
  const secret = async () => 'sentinel.token';
  const away = { url: `http://127.0.0.1:${await deadPort()}/${segment}`, readToken: secret };
  const stranger = await startScripted(t, {
    onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'),
  });
  const found = [
    await finding(access),
    await finding({ ...access, readToken: secret }),
    await finding(away),
    await finding({ url: `${stranger.url}/${segment}` }),
  ];
  assert.deepEqual(new Set(found.map(({ status }) => status)), new Set(['fail']));
  assert.match(
    found.map(({ detail }) => detail).join(),
    /permit the namespace.*refuses the token.*cannot be reached.*does not answer as/s,
  );
  assert.doesNotMatch(JSON.stringify(found), /sentinel/);
});

test('a wrong codec server setting fails by its rule, and without an address there is no check', async () => {
  const inspected = inspectCodecServer({
    GATEWAY_ENVIRONMENT: 'production',
    CODEC_SERVER_URL: 'http://sentinel.example.com',
  });
  assert.ok(inspected);
  const { status, detail } = await finding(inspected.access, inspected.problems);
  assert.equal(status, 'fail');
  assert.match(detail, /CODEC_SERVER_URL must be https.*CODEC_SERVER_TOKEN_FILE is required/);
  assert.doesNotMatch(detail, /sentinel/);
  assert.equal(inspectCodecServer({}), undefined);
});
