import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openLedger } from '../../src/ledger/sql/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { runCli } from './run-cli.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-keys-command-'));
after(() => rm(directory, { recursive: true, force: true }));

test('keys are made, rotated, refused and checked, and no secret is printed', async () => {
  const file = join(directory, 'keys.json');
  const env = { KEY_RING_FILE: file };
  const printed: string[] = [];
  const keys = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(['keys', ...args], { env });
    printed.push(stdout, stderr);
    return { code, stderr, answer: stdout === '' ? null : JSON.parse(stdout) };
  };
  const made = await keys('new');
  assert.equal(made.answer.file, file);
  const rotated = await keys('rotate', '--use', 'payload');
  assert.equal(rotated.answer.rotated.length, 1);
  assert.equal(rotated.answer.rotated[0].retired, made.answer.keys[0].id);
  assert.equal((await keys('refuse', 'payload-gone')).answer.wasRefused, false);
  const refusal = await keys('refuse', rotated.answer.rotated[0].current);
  assert.equal(refusal.code, 1);
  assert.equal((await keys('rotate', '--use', 'both')).code, 2);

  const checked = await keys('check');
  assert.equal(checked.code, 0);
  assert.deepEqual(checked.answer.refused, ['payload-gone']);
  const verdicts = checked.answer.keys.map(({ use, verdict }: { use: string; verdict: string }) => `${use} ${verdict}`);
  assert.deepEqual(verdicts, ['payload retired', 'ledger good', 'payload good']);

  const content = JSON.parse(await readFile(file, 'utf8'));
  for (const key of content.keys) key.createdAt = '2020-01-01T00:00:00Z';
  await writeFile(file, JSON.stringify(content));
  const old = await keys('check');
  assert.equal(old.code, 3);
  assert.equal(old.answer.keys[2].verdict, 'overdue');
  for (const { secret } of content.keys) assert.ok(!printed.join().includes(secret));
});

test('the ledger’s data keys are wrapped under the new key', async () => {
  const file = join(directory, 'ledger-keys.json');
  const url = `file:${join(directory, 'ledger.db')}`;
  const keyRing = await createKeyRing(file);
  await (await openLedger({ url, environment: 'sandbox', keyRing, create: true })).close();
  const env = { KEY_RING_FILE: file, LEDGER_URL: url };
  assert.equal((await runCli(['keys', 'rotate'], { env })).code, 0);
  const { code, stdout } = await runCli(['keys', 'rewrap'], { env });
  assert.equal(code, 0);
  const { keyId, ...rest } = JSON.parse(stdout);
  assert.notEqual(keyId, keyRing.current('ledger').id);
  assert.deepEqual(rest, { reports: 0, secret: true, unreadable: [] });
});
