import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { decisionContent, type ProvableDecision } from '../../src/model/decision-content.ts';
import { createKeyRing, KeyRing, loadKeyRing, type RingKey } from '../../src/protection/keys/key-ring.ts';
import { loadDecisionSigner } from '../../src/protection/keys/signing-keys.ts';
import { createDecisionProofVerifier } from '../../src/protection/proofs.ts';
import { runCli } from './run-cli.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-keys-command-'));
after(() => rm(directory, { recursive: true, force: true }));

test('the keys command creates, rotates, refuses and checks keys, and prints no secret', async () => {
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
  assert.equal((await stat(file)).mode & 0o077, 0);
  assert.match((await keys('new')).stderr, /already/);
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

test('after a rotation the ledger’s data keys are wrapped under the new key', async () => {
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

  const remove = async () => {
    const { code: ended, stdout: printed } = await runCli(['keys', 'rewrap', '--remove-retired'], { env });
    return [ended, JSON.parse(printed).removed];
  };
  assert.equal((await runCli(['keys', 'rotate'], { env })).code, 0);
  const retired = JSON.parse(await readFile(file, 'utf8')).keys.filter(({ status }: RingKey) => status === 'retired');
  assert.deepEqual(await remove(), [3, []], 'the ledger’s own secret was under the former key');
  const isOfLedger = ({ use }: RingKey) => use === 'ledger';
  assert.deepEqual(await remove(), [0, retired.filter(isOfLedger).map(({ id }: RingKey) => id)]);
  const { keys } = await loadKeyRing(file);
  const left = keys.filter(({ status }) => status === 'retired');
  assert.deepEqual(
    left.map(({ use }) => use),
    ['payload', 'payload'],
    'histories need them',
  );
  await (await openLedger({ url, environment: 'sandbox', keyRing: new KeyRing(keys), create: false })).close();
});

test('the key that signs decisions is created, and rotated without a refused decision', async () => {
  const [file, jwks] = [join(directory, 'api-decisions.json'), join(directory, 'decision-jwks.json')];
  const env = { API_DECISION_KEY_FILE: file, DECISION_JWKS_FILE: jwks };
  const other = { ...(await exportJWK((await generateKeyPair('ES256')).publicKey)), kid: 'people', alg: 'ES256' };
  await writeFile(jwks, JSON.stringify({ keys: [other] }));
  const verify = createDecisionProofVerifier(jwks);
  const decision: ProvableDecision = {
    ...{ decisionId: 'D-1', customerTraceNumber: 'T-1', attempt: 1, by: 'ann', reason: 'a test' },
    action: 'abandon',
    providerSaid: 'notAsked',
  };
  const isTaken = async (proof: string) => {
    const receivedAt = new Date().toISOString();
    return (await verify({ content: decisionContent('sandbox', decision), proof, receivedAt }, 'proof')).accepted;
  };
  const signed = async (of = file) => (await loadDecisionSigner(of)).sign(decisionContent('sandbox', decision));
  const printed: string[] = [];
  const signing = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(['keys', 'signing', ...args], { env });
    printed.push(stdout, stderr);
    return { code, stderr, answer: stdout === '' ? null : JSON.parse(stdout) };
  };
  const keyIds = async () => JSON.parse(await readFile(jwks, 'utf8')).keys.map(({ kid }: { kid: string }) => kid);
  const made = await signing('new');
  assert.equal(made.code, 0, made.stderr);
  const { keyId } = made.answer;
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(await keyIds(), ['people', keyId]);
  assert.doesNotMatch(await readFile(jwks, 'utf8'), /"d"/);
  const first = await signed();
  assert.equal(await isTaken(first), true);
  assert.equal((await signing('new')).code, 1);
  const nextFile = `${file}-2`;
  const next = (await signing('new', '--file', nextFile)).answer.keyId;
  assert.deepEqual(await keyIds(), ['people', keyId, next]);
  const second = await signed(nextFile);
  assert.deepEqual([await isTaken(first), await isTaken(second)], [true, true]);
  assert.equal((await runCli(['keys', 'signing', 'new', '--file', `${file}-3`])).code, 2);
  const { d } = JSON.parse(await readFile(file, 'utf8'));
  assert.ok(d.length > 40 && !printed.join().includes(d));
});
