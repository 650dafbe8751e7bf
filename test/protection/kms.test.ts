import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { KeyRingError, KeyServiceError } from '../../src/protection/errors.ts';
import {
  createKeyRing,
  type KeyRing,
  loadKeyRing,
  refuseKey,
  rewrapKeys,
  rotateKeys,
  WatchedKeyRing,
} from '../../src/protection/keys/key-ring.ts';
import { createPayloadCodec } from '../../src/protection/payloads/payload-codec.ts';
import { runCli } from '../cli/run-cli.ts';
import { deadPort } from '../gateway/scripted-server.ts';
import { decodedValue, payloadOf } from './codec-fixtures.ts';
import { type KmsServer, startKmsServer } from './kms-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-kms-'));
let server: KmsServer;
let arn: string;
let kms: string;

before(async () => {
  server = await startKmsServer();
  useEnvironment(server.env);
  arn = server.createKey();
  kms = `aws-kms:${arn}`;
});
after(async () => {
  server?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The SDK reads it at each loading of a ring. */
function useEnvironment(variables: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Sets the environment until the test is over. */
function withEnvironment(t: TestContext, variables: Record<string, string | undefined>): void {
  useEnvironment(variables);
  t.after(() => useEnvironment(server.env));
}

let files = 0;
const newFile = () => join(directory, `d${++files}`, 'keys.json');

async function newRing(): Promise<{ file: string; ring: KeyRing }> {
  const file = newFile();
  return { file, ring: await createKeyRing(file, { kms }) };
}

interface FileKey {
  id: string;
  use: string;
  secret?: string;
  wrapped?: string;
  kms?: string;
}

async function keysIn(file: string): Promise<FileKey[]> {
  return JSON.parse(await readFile(file, 'utf8')).keys;
}

async function changeKeys(file: string, change: (keys: FileKey[]) => void): Promise<void> {
  const content = JSON.parse(await readFile(file, 'utf8'));
  change(content.keys);
  await writeFile(file, JSON.stringify(content));
}

function secretsIn(ring: KeyRing): Buffer[] {
  return ring.keys.map(({ secret }) => secret.export());
}

/** Checks that loading fails with this message, which has no part of the service's answer. */
async function assertNotLoaded(file: string, says: RegExp): Promise<void> {
  await assert.rejects(loadKeyRing(file), (error) => {
    assert.ok(error instanceof KeyServiceError && error instanceof KeyRingError, inspect(error));
    assert.match(error.message, says);
    assert.equal(error.cause, undefined);
    assert.ok(!inspect(error, { depth: 9 }).includes('SENTINEL'));
    return true;
  });
}

describe('a key ring under AWS KMS', () => {
  test('stores its keys wrapped, and opens with them', async () => {
    const { file, ring } = await newRing();
    const keys = await keysIn(file);
    for (const key of keys) {
      assert.deepEqual(Object.keys(key).toSorted(), ['createdAt', 'id', 'kms', 'status', 'use', 'wrapped']);
      assert.equal(key.kms, kms);
    }
    const text = await readFile(file);
    const wrapped = Buffer.concat(keys.map((key) => Buffer.from(key.wrapped ?? '', 'base64')));
    for (const secret of secretsIn(ring)) {
      assert.ok(!text.includes(secret.toString('base64')) && !text.includes(secret.toString('hex')));
      assert.ok(!wrapped.includes(secret));
    }
    assert.deepEqual(secretsIn(await loadKeyRing(file)), secretsIn(ring));
    assert.equal(ring.current('payload').kms, kms);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  test('stores the key’s ARN for an alias, which may later name another key', async () => {
    server.pointAlias('alias/journeys', arn);
    const file = newFile();
    await createKeyRing(file, { kms: 'aws-kms:alias/journeys' });
    assert.ok((await keysIn(file)).every((key) => key.kms === kms));
    server.pointAlias('alias/journeys', server.createKey());
    await loadKeyRing(file);
  });

  test('calls KMS only to open: payloads and data keys need no further call', async (t) => {
    const { file } = await newRing();
    const keys = await WatchedKeyRing.open(file, { pollMs: 3_600_000 });
    t.after(() => keys.close());
    withEnvironment(t, { AWS_ENDPOINT_URL_KMS: await deadEndpoint() });
    const codec = createPayloadCodec({ keys, namespace: 'default', mode: 'worker' });
    const [decoded] = await codec.decode(await codec.encode([payloadOf({ loan: 1 })]));
    assert.deepEqual(decodedValue(decoded), { loan: 1 });
    const wrapped = await keys.wrap('ledger', Buffer.alloc(32, 7), 'place');
    assert.deepEqual(Buffer.from(await keys.unwrap('ledger', wrapped, 'place')), Buffer.alloc(32, 7));
  });

  test('does not open if the id, use or bytes of a wrapped key were changed', async () => {
    const changes: ((keys: FileKey[]) => void)[] = [
      ([first]) => Object.assign(first ?? {}, { id: 'payload-other' }),
      ([first, second]) => {
        const wrapped = first?.wrapped;
        Object.assign(first ?? {}, { wrapped: second?.wrapped });
        Object.assign(second ?? {}, { wrapped });
      },
      ([first]) => Object.assign(first ?? {}, { wrapped: `A${first?.wrapped?.slice(1)}` }),
    ];
    for (const change of changes) {
      const { file } = await newRing();
      await changeKeys(file, change);
      await assert.rejects(loadKeyRing(file), KeyServiceError);
    }
    const { file } = await newRing();
    await changeKeys(file, ([first]) => Object.assign(first ?? {}, { id: 'payload-other' }));
    await assertNotLoaded(file, /"payload-other" by aws-kms:.* from its copy/);
  });

  test('must have for each key either a secret, or its wrapped form and the KMS key', async () => {
    const { file } = await newRing();
    await changeKeys(file, ([first, second]) => {
      Object.assign(first ?? {}, { secret: Buffer.alloc(32).toString('base64') });
      delete second?.kms;
    });
    const rule = 'must have either a secret, or what is wrapped and the kms';
    await assert.rejects(loadKeyRing(file), (error) => {
      assert.ok(error instanceof KeyRingError);
      const expected = ['/keys/0', '/keys/1'].map((path) => ({ path, rule }));
      assert.deepEqual(error.problems, expected);
      return true;
    });
    for (const name of ['aws-kms:', 'aws-kms:not a key', 'other-kms:alias/x', 'aws-kms:arn:aws:s3:::x']) {
      await changeKeys(file, ([first]) => Object.assign(first ?? {}, { kms: name }));
      await assert.rejects(loadKeyRing(file), (error) => {
        return error instanceof KeyRingError && error.problems[0]?.path === '/keys/0/kms';
      });
    }
  });
});

describe('when KMS fails', () => {
  test('the error for an unreachable KMS names every key and the remedy, and no file is created', async (t) => {
    const { file, ring } = await newRing();
    withEnvironment(t, { AWS_ENDPOINT_URL_KMS: await deadEndpoint() });
    await assertNotLoaded(file, /AWS_ENDPOINT_URL_KMS/);
    await assertNotLoaded(file, new RegExp(ring.keys.map(({ id }) => `"${id}"`).join(', ')));
    const other = newFile();
    await assert.rejects(createKeyRing(other, { kms }), KeyServiceError);
    await assert.rejects(readdir(dirname(other)), { code: 'ENOENT' });
    const before = await readFile(file, 'utf8');
    await assert.rejects(rotateKeys(file), KeyServiceError);
    await assert.rejects(rewrapKeys(file, null), KeyServiceError);
    assert.equal(await readFile(file, 'utf8'), before);
    await refuseKey(file, 'payload-gone');
  });

  test('the error names missing credentials, a missing region, or plain http to another machine', async (t) => {
    const { file } = await newRing();
    withEnvironment(t, { AWS_ENDPOINT_URL_KMS: 'http://kms.example.com' });
    await assertNotLoaded(file, /https/);
    useEnvironment({ ...server.env, AWS_ACCESS_KEY_ID: undefined });
    await assertNotLoaded(file, /credentials/);
    useEnvironment({ AWS_REGION: undefined });
    await assert.rejects(createKeyRing(newFile(), { kms: 'aws-kms:alias/journeys' }), /AWS_REGION/);
  });

  test('the error for each refusal names the remedy, and quotes nothing of the answer', async (t) => {
    const { file } = await newRing();
    t.after(() => server.refuse());
    const cases: [type: string, says: RegExp, status?: number][] = [
      ['DisabledException', /enable it/],
      ['KMSInvalidStateException', /cancel its deletion/],
      ['NotFoundException', /correct its name/],
      ['AccessDeniedException', /kms:Decrypt/],
      ['InvalidCiphertextException', /from its copy/],
      ['IncorrectKeyException', /correct `kms`/],
      ['ExpiredTokenException', /credentials/],
      ['KMSInternalException', /try again/, 500],
      ['SomethingNewException', /kms:Decrypt/, 403],
      ['SomethingNewException', /CloudTrail/],
    ];
    for (const [type, says, status] of cases) {
      server.refuse(type, status);
      await assertNotLoaded(file, says);
    }
  });

  test('a running worker keeps its keys, reports once for each change, and reloads when KMS is back', async (t) => {
    const { file, ring: first } = await newRing();
    const failures: unknown[] = [];
    const onReloadFailed = (error: unknown) => failures.push(error);
    const keys = await WatchedKeyRing.open(file, { pollMs: 3_600_000, onReloadFailed });
    t.after(() => keys.close());
    const [rotated] = await rotateKeys(file, ['payload']);
    assert.ok(rotated);
    withEnvironment(t, { AWS_ENDPOINT_URL_KMS: await deadEndpoint() });
    for (let times = 0; times < 2; times += 1) await keys.reload();
    assert.equal(failures.length, 1);
    assert.ok(failures[0] instanceof KeyServiceError);
    assert.equal(keys.current('payload').id, first.current('payload').id);
    assert.equal(await keys.find('payload', rotated.current), 'unknown');
    useEnvironment(server.env);
    const found = await keys.find('payload', rotated.current);
    assert.ok(typeof found !== 'string' && found.id === rotated.current);
    assert.deepEqual([failures.length, keys.lastReloadFailed], [1, false]);
  });
});

describe('changes to a ring under AWS KMS', () => {
  test('a rotation wraps new keys with the former KMS key, or with the one in its options', async () => {
    const { file, ring } = await newRing();
    await rotateKeys(file, ['payload']);
    const other = `aws-kms:${server.createKey()}`;
    await rotateKeys(file, ['payload'], { kms: other });
    const { keys } = await loadKeyRing(file);
    assert.deepEqual(
      keys.map((key) => key.kms),
      [kms, kms, kms, other],
    );
    assert.equal(keys[0]?.id, ring.current('payload').id);
  });

  test('a ring in the clear is wrapped and unwrapped again, and its keys stay the same', async () => {
    const file = newFile();
    const clear = await createKeyRing(file);
    const before = await keysIn(file);
    const wrapped = await rewrapKeys(file, kms);
    assert.deepEqual(wrapped, { ids: clear.keys.map(({ id }) => id), wrappedBy: kms });
    const text = await readFile(file, 'utf8');
    for (const { secret } of before) assert.ok(secret && !text.includes(secret));
    assert.deepEqual(await readdir(dirname(file)), ['keys.json', 'keys.json.lock']);
    assert.deepEqual(secretsIn(await loadKeyRing(file)), secretsIn(clear));
    assert.deepEqual((await rewrapKeys(file, null)).ids, wrapped.ids);
    assert.deepEqual(await keysIn(file), before);
  });

  test('the commands show the KMS key of each key, and print no secret', async () => {
    const file = newFile();
    const env = { ...server.env, KEY_RING_FILE: file };
    const printed: string[] = [];
    const keys = async (args: string[], more: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await runCli(['keys', ...args], { env: { ...env, ...more } });
      printed.push(stdout, stderr);
      return { code, stderr, answer: stdout === '' ? null : JSON.parse(stdout) };
    };
    const wrappers = (answer: { keys: { wrappedBy?: string }[] }) => answer.keys.map(({ wrappedBy }) => wrappedBy);
    assert.equal((await keys(['new', '--kms', 'vault:x'])).code, 2);
    await createKeyRing(file);
    const clear = await loadKeyRing(file);
    assert.equal((await keys(['wrap', '--kms', kms])).answer.wrappedBy, kms);
    const checked = await keys(['check']);
    assert.deepEqual([checked.code, checked.answer.isUsable], [0, true]);
    assert.deepEqual(wrappers(checked.answer), [kms, kms]);
    const away = await keys(['check'], { AWS_ENDPOINT_URL_KMS: await deadEndpoint() });
    assert.deepEqual([away.code, away.answer.isUsable], [1, false]);
    assert.deepEqual(wrappers(away.answer), [kms, kms]);
    assert.match(away.stderr, /keyServiceFailed.*AWS KMS does not answer/);
    assert.equal((await keys(['unwrap'])).code, 0);
    for (const secret of secretsIn(clear)) assert.ok(!printed.join().includes(secret.toString('base64')));
  });
});

/** Loads a ring in the clear and a wrapped one where the SDK is not installed. */
const WITHOUT_SDK = `
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith('@aws-sdk/')) throw new Error('Cannot find package');
      return next(specifier, context);
    },
  });
  const { loadKeyRing } = await import(process.env.MODULE);
  await loadKeyRing(process.env.CLEAR_RING);
  console.log(await loadKeyRing(process.env.WRAPPED_RING).catch((error) => error.message));
`;

test('the AWS SDK is loaded only for a wrapped ring; the error names the package if it is not installed', async () => {
  const { file } = await newRing();
  const clear = newFile();
  await createKeyRing(clear);
  const module = fileURLToPath(new URL('../../src/protection/keys/key-ring.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', WITHOUT_SDK], {
    env: { ...process.env, MODULE: module, CLEAR_RING: clear, WRAPPED_RING: file },
  });
  assert.match(stdout, /npm install @aws-sdk\/client-kms/);
});

/** An address where no server listens. */
async function deadEndpoint(): Promise<string> {
  return `http://127.0.0.1:${await deadPort()}`;
}
