import assert from 'node:assert/strict';
import { chmod, chown, link, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { KeyRingError, SealBrokenError, UnknownKeyError } from '../../src/protection/errors.ts';
import {
  computeKeyAges,
  createKeyRing,
  KeyRing,
  type KeyRingWatchOptions,
  loadKeyRing,
  refuseKey,
  rotateKeys,
  WatchedKeyRing,
} from '../../src/protection/keys/key-ring.ts';
import { ringKey } from './codec-fixtures.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-rotation-'));
after(() => rm(directory, { recursive: true, force: true }));

let files = 0;
async function newRing(): Promise<{ file: string; ring: KeyRing }> {
  const file = join(directory, `d${++files}`, 'keys.json');
  return { file, ring: await createKeyRing(file) };
}

async function watched(t: TestContext, file: string, options: KeyRingWatchOptions = { pollMs: 3_600_000 }) {
  const ring = await WatchedKeyRing.open(file, options);
  t.after(() => ring.close());
  return ring;
}

describe('rotating keys', () => {
  test('makes one new current key for each use; the former keys still decrypt', async () => {
    const { file, ring } = await newRing();
    const wrapped = await ring.wrap('ledger', Buffer.alloc(32, 7), 'place');
    const rotated = await rotateKeys(file);
    const after = await loadKeyRing(file);
    for (const { use, retired, current } of rotated) {
      assert.equal(retired, ring.current(use).id);
      assert.equal(after.current(use).id, current);
      const former = await after.find(use, retired);
      assert.ok(typeof former === 'object' && former.status === 'retired' && former.retiredAt);
    }
    assert.deepEqual(Buffer.from(await after.unwrap('ledger', wrapped, 'place')), Buffer.alloc(32, 7));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(dirname(file))).sort(), ['keys.json', 'keys.json.lock']);
  });

  test('for one use leaves the key of the other use unchanged', async () => {
    const { file, ring } = await newRing();
    await rotateKeys(file, ['payload']);
    const after = await loadKeyRing(file);
    assert.equal(after.current('ledger').id, ring.current('ledger').id);
    assert.notEqual(after.current('payload').id, ring.current('payload').id);
  });

  test('by several processes at once loses no key', async () => {
    const { file } = await newRing();
    const rotations = await Promise.all(Array.from({ length: 8 }, () => rotateKeys(file, ['payload'])));
    const { keys } = await loadKeyRing(file);
    const ids = new Set(keys.map(({ id }) => id));
    assert.equal(keys.length, 10);
    for (const { current, retired } of rotations.flat()) assert.ok(ids.has(current) && ids.has(retired));
  });

  test('replaces the file as a whole, so that an open file keeps its content', async () => {
    const { file } = await newRing();
    const before = await readFile(file, 'utf8');
    const kept = `${file}.kept`;
    await link(file, kept);
    await rotateKeys(file);
    assert.equal(await readFile(kept, 'utf8'), before);
  });

  test('follows a symbolic link, and keeps the owner of the file', async () => {
    const { file } = await newRing();
    const name = join(directory, `link-${files}.json`);
    await symlink(file, name);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(file, 1234, 1234);
    await rotateKeys(name);
    assert.equal((await loadKeyRing(name)).keys.length, 4);
    assert.equal((await stat(file)).uid, isRoot ? 1234 : process.getuid?.());
  });

  test('is refused if the key ring is missing or others can read it', async () => {
    const { file } = await newRing();
    await assert.rejects(rotateKeys(`${file}.not`), KeyRingError);
    assert.deepEqual(await readdir(dirname(file)), ['keys.json']);
    await chmod(file, 0o644);
    await assert.rejects(rotateKeys(file), KeyRingError);
  });
});

describe('refusing a key', () => {
  test('is recorded once and remains after a rotation', async () => {
    const { file } = await newRing();
    assert.equal(await refuseKey(file, 'payload-gone'), true);
    assert.equal(await refuseKey(file, 'payload-gone'), false);
    await rotateKeys(file);
    const ring = await loadKeyRing(file);
    assert.deepEqual(ring.refused, ['payload-gone']);
    assert.equal(await ring.find('payload', 'payload-gone'), 'refused');
    assert.equal(await ring.find('payload', 'payload-other'), 'unknown');
  });

  test('is not possible for a key of the ring, or for an invalid key id', async () => {
    const { file, ring } = await newRing();
    const before = await readFile(file, 'utf8');
    await assert.rejects(refuseKey(file, ring.current('payload').id), KeyRingError);
    await assert.rejects(refuseKey(file, 'not an id'), KeyRingError);
    assert.equal(await readFile(file, 'utf8'), before);
  });

  test('keeps that key out of the ring forever, so that runs that continued without it replay', async () => {
    const { file, ring } = await newRing();
    const content = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...content, refused: [ring.current('payload').id] }));
    await assert.rejects(loadKeyRing(file), (error) => {
      return error instanceof KeyRingError && error.problems[0]?.path === '/refused/0';
    });
  });
});

describe('the age of keys', () => {
  const DAY_MS = 86_400_000;
  const madeMs = Date.parse('2026-01-01T00:00:00Z');
  const ring = new KeyRing([ringKey('old', 'retired'), ringKey('payload-a'), ringKey('ledger-a', 'current', 'ledger')]);
  const at = (days: number) => computeKeyAges(ring, madeMs + days * DAY_MS).map(({ verdict }) => verdict);

  test('is good until day 76, then due, and overdue after 90 days; a retired key may have any age', () => {
    assert.deepEqual(at(0), ['retired', 'good', 'good']);
    assert.deepEqual(at(75.9), ['retired', 'good', 'good']);
    assert.deepEqual(at(76), ['retired', 'due', 'due']);
    assert.deepEqual(at(90), ['retired', 'due', 'due']);
    assert.deepEqual(at(90.1), ['retired', 'overdue', 'overdue']);
    assert.equal(computeKeyAges(ring, madeMs - DAY_MS)[1]?.ageDays, 0);
  });
});

describe('a watched key ring', () => {
  test('finds a key that was added after it was opened, without waiting for its poll', async (t) => {
    const { file } = await newRing();
    const ring = await watched(t, file);
    const [rotated] = await rotateKeys(file, ['payload']);
    assert.ok(rotated);
    assert.equal(ring.current('payload').id, rotated.retired, 'it goes on with the one before');
    const found = await ring.find('payload', rotated.current);
    assert.ok(typeof found !== 'string' && found.id === rotated.current);
    assert.equal(ring.current('payload').id, rotated.current);
  });

  test('unwraps data keys under a key that was added later, and names a key that is missing', async (t) => {
    const { file } = await newRing();
    const ring = await watched(t, file);
    await rotateKeys(file);
    const wrapped = await (await loadKeyRing(file)).wrap('ledger', Buffer.alloc(32, 1), 'place');
    assert.deepEqual(Buffer.from(await ring.unwrap('ledger', wrapped, 'place')), Buffer.alloc(32, 1));
    await assert.rejects(ring.unwrap('ledger', wrapped, 'elsewhere'), (error) => {
      return error instanceof SealBrokenError && error.message.includes(wrapped.keyId);
    });
    await assert.rejects(
      ring.unwrap('ledger', { ...wrapped, keyId: 'ledger-gone' }, 'place'),
      (error) => error instanceof UnknownKeyError && error.keyId === 'ledger-gone',
    );
  });

  test('detects a change of the file by polling', async (t) => {
    const { file } = await newRing();
    const ring = await watched(t, file, { pollMs: 10 });
    const [rotated] = await rotateKeys(file, ['payload']);
    while (ring.current('payload').id !== rotated?.current) await delay(5);
  });

  test('keeps its keys when the file becomes unusable or disappears, reports that once, and recovers', async (t) => {
    const { file, ring: before } = await newRing();
    const failures: unknown[] = [];
    const ring = await watched(t, file, { pollMs: 3_600_000, onReloadFailed: (error) => failures.push(error) });
    const good = await readFile(file, 'utf8');
    await delay(5);
    await writeFile(file, '{');
    for (let times = 0; times < 3; times += 1) await ring.reload();
    assert.equal(failures.length, 1);
    await rm(file);
    await ring.reload();
    assert.equal(failures.length, 2);
    assert.ok(failures.every((failure) => failure instanceof KeyRingError));
    assert.equal(ring.current('payload').id, before.current('payload').id);
    await writeFile(file, good, { mode: 0o600 });
    await rotateKeys(file);
    await ring.reload();
    assert.notEqual(ring.current('payload').id, before.current('payload').id);
  });
});
