import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { KeyRingError, SealBrokenError, UnknownKeyError } from '../../src/protection/errors.ts';
import { createKeyRing, loadKeyRing } from '../../src/protection/keys/key-ring.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-keys-'));
after(() => rm(directory, { recursive: true, force: true }));

let files = 0;
const newFile = () => join(directory, `d${++files}`, 'keys.json');

interface FileKey {
  id: string;
  use: string;
  status: string;
  secret: string;
}

/** Makes a key ring, changes its text, and says what is wrong with it then. */
async function problemsAfter(change: (content: { version: number; keys: FileKey[] }) => unknown): Promise<string[]> {
  const file = newFile();
  await createKeyRing(file);
  const content = JSON.parse(await readFile(file, 'utf8'));
  const secrets = content.keys.map((key: FileKey) => key.secret);
  const changed = change(content);
  await writeFile(file, JSON.stringify(changed ?? content));
  const error = await loadKeyRing(file).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof KeyRingError);
  for (const secret of secrets) assert.ok(!inspect(error).includes(secret));
  return error.problems.map(({ path, rule }) => `${path} ${rule}`);
}

describe('a key ring file', () => {
  test('is created once, readable by its owner only, with one current key of each use', async () => {
    const file = newFile();
    const ring = await createKeyRing(file);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(join(file, '..')), ['keys.json']);
    const loaded = await loadKeyRing(file);
    for (const use of ['payload', 'ledger'] as const) {
      assert.equal(loaded.current(use).id, ring.current(use).id);
      assert.equal(loaded.current(use).use, use);
    }
    const before = await readFile(file, 'utf8');
    await assert.rejects(createKeyRing(file), KeyRingError);
    assert.equal(await readFile(file, 'utf8'), before);
    assert.deepEqual(await readdir(join(file, '..')), ['keys.json']);
  });

  test('is created by only one of several processes at once, and is complete', async () => {
    const file = newFile();
    const made = await Promise.allSettled(Array.from({ length: 5 }, () => createKeyRing(file)));
    assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
    await loadKeyRing(file);
  });

  test('is refused when group or others may read it', async () => {
    const file = newFile();
    await createKeyRing(file);
    for (const mode of [0o640, 0o604, 0o660]) {
      await chmod(file, mode);
      await assert.rejects(loadKeyRing(file), (error: Error) => {
        return error instanceof KeyRingError && error.message.includes('chmod 600');
      });
    }
  });

  test('that is missing, not a file or not JSON is refused, and its text is not quoted', async () => {
    const file = newFile();
    await createKeyRing(file);
    await assert.rejects(loadKeyRing(`${file}.not`), /KEY_RING_FILE.*credit-journey keys new/);
    await assert.rejects(loadKeyRing('{"secret":"SECRET-TEXT"}'), (error: Error) => {
      return error instanceof KeyRingError && !inspect(error).includes('SECRET-TEXT');
    });
    await assert.rejects(loadKeyRing(join(file, '..')), KeyRingError);
    await writeFile(file, '{"keys": SECRET-TEXT');
    await assert.rejects(loadKeyRing(file), (error: Error) => {
      return error instanceof KeyRingError && !inspect(error).includes('SECRET-TEXT');
    });
  });

  test('that is malformed is refused with the paths of all problems and no value', async () => {
    const problems = await problemsAfter((content) => {
      content.version = 2;
      Object.assign(content.keys[0] ?? {}, { secret: 'c2hvcnQ=', owner: 'x' });
      Object.assign(content.keys[1] ?? {}, { use: 'both', status: 'new', id: 'a b' });
    });
    assert.deepEqual(problems.toSorted(), [
      '/keys/0 has an unknown field; known are id, use, createdAt, retiredAt, status, secret, wrapped, kms',
      '/keys/0/secret must be 32 bytes in base64',
      '/keys/1/id must be 1 to 64 letters, digits, dots, dashes or underscores',
      '/keys/1/status must be current or retired',
      '/keys/1/use must be payload or ledger',
      '/version must be 1',
    ]);
    assert.deepEqual(await problemsAfter(() => []), [' must be an object']);
  });

  test('must have exactly one current key of each use, and unique ids', async () => {
    assert.deepEqual(await problemsAfter((content) => content.keys.pop() && undefined), [
      '/keys must hold exactly one current key for ledger, not 0',
    ]);
    assert.deepEqual(
      await problemsAfter((content) => {
        const [first] = content.keys;
        if (first) content.keys.push({ ...first });
      }),
      ['/keys/2/id must be unique', '/keys must hold exactly one current key for payload, not 2'],
    );
  });
});

describe('a key ring', () => {
  test('unwraps the data keys that it wrapped, for the same use and place only', async () => {
    const ring = await createKeyRing(newFile());
    const dataKey = Buffer.from('0123456789abcdef0123456789abcdef');
    const wrapped = await ring.wrap('ledger', dataKey, 'place');
    assert.equal(wrapped.keyId, ring.current('ledger').id);
    assert.ok(!Buffer.from(wrapped.wrappedKey).includes(dataKey));
    assert.deepEqual(Buffer.from(await ring.unwrap('ledger', wrapped, 'place')), dataKey);
    await assert.rejects(ring.unwrap('ledger', wrapped, 'elsewhere'), SealBrokenError);
    await assert.rejects(ring.unwrap('payload', wrapped, 'place'), UnknownKeyError);
  });

  test('shows no secret when it is printed', async () => {
    const file = newFile();
    const ring = await createKeyRing(file);
    const secrets = JSON.parse(await readFile(file, 'utf8')).keys.map((key: FileKey) => key.secret);
    const shown = inspect([ring, ring.current('ledger')], { depth: 9, showHidden: true });
    const json = JSON.stringify([ring, ring.current('ledger')]);
    for (const secret of secrets) {
      const hex = Buffer.from(secret, 'base64').toString('hex').slice(0, 12);
      for (const text of [shown, json]) assert.ok(!text.includes(secret) && !text.includes(hex));
    }
  });
});
