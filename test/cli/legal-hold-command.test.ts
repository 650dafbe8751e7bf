/** `legal-hold` beside a ledger: each answer names the holds that cover the id, and what came too late. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { LegalHold } from '../../src/ledger/retention/legal-holds.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { attempted, RECORD } from '../ledger/fixtures.ts';
import { runCli } from './run-cli.ts';

const AUTHORIZATION = { by: 'ops@example.com', reason: 'kept for 25 months' };
const BY = ['--by', 'counsel', '--reason', 'asked for by the court'];
const RUN = { workflowId: 'journey-J-1', runId: 'run-1' };

let directory: string;
let env: Record<string, string>;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-legal-hold-'));
  env = { LEDGER_URL: `file:${join(directory, 'ledger.db')}`, KEY_RING_FILE: join(directory, 'keys.json') };
  const keyRing = await createKeyRing(join(directory, 'keys.json'));
  const ledger = await openLedger({ url: env.LEDGER_URL ?? '', environment: 'sandbox', keyRing, create: true });
  await attempted(ledger, {}, { state: 'answered', answer: RECORD });
  await ledger.retention.begin('J-1', AUTHORIZATION);
  await ledger.retention.recordDeletion('J-1', AUTHORIZATION, RUN);
  await ledger.close();
});
after(() => rm(directory, { recursive: true, force: true }));

async function legalHold(...args: string[]) {
  const { code, stdout, stderr } = await runCli(['legal-hold', ...args, '--json'], { env });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const namesOf = (holds: LegalHold[]) => holds.map(({ runKey, matter }) => `${runKey} ${matter}`);

test('a hold is set for a matter, once, and released for that matter alone', async () => {
  const withoutMatter = await runCli(['legal-hold', 'set', 'J-1', ...BY], { env });
  assert.deepEqual(
    [withoutMatter.code, /"rule":"is required","option":"--matter"/.test(withoutMatter.stderr)],
    [2, true],
  );
  const unknown = await runCli(['legal-hold', 'set', 'J-10', '--matter', 'M-1', ...BY, '--json'], { env });
  assert.equal(JSON.parse(unknown.stderr).error.type, 'journeyNotFound');

  const first = await legalHold('set', 'J-1', '--matter', 'M-1', ...BY);
  assert.deepEqual([first.isNew, first.matter, first.others], [true, 'M-1', []]);
  assert.deepEqual(first.destroyed, { inquiries: 0, histories: 1 }, 'what a disposal has destroyed by then');
  const second = await legalHold('set', 'J-1', '--matter', 'M-2', ...BY);
  assert.deepEqual([second.isNew, namesOf(second.others)], [true, ['J-1 M-1']]);
  const again = await legalHold('set', 'J-1', '--matter', 'M-1', '--by', 'another', '--reason', 'another');
  assert.deepEqual([again.isNew, again.by, namesOf(again.others)], [false, 'counsel', ['J-1 M-2']]);
  const duplicate = await runCli(['legal-hold', 'set', 'J-1', '--matter', 'M-1', ...BY], { env });
  assert.equal(JSON.parse(duplicate.stdout).isNew, false);

  assert.deepEqual(namesOf((await legalHold('list')).data), ['J-1 M-1', 'J-1 M-2']);
  assert.deepEqual((await legalHold('list', '--run-key', 'J-2')).data, []);
  const released = await legalHold('release', 'J-1', '--matter', 'M-1', ...BY);
  assert.deepEqual([released.released.matter, namesOf(released.others)], ['M-1', ['J-1 M-2']]);
  const none = await legalHold('release', 'J-1', '--matter', 'M-1', ...BY);
  assert.deepEqual([none.released, namesOf(none.others)], [null, ['J-1 M-2']]);
});
