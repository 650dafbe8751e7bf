/** The `legal-hold` command: each answer names the holds that cover the id, and data that was already disposed of. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { LegalHold } from '../../src/ledger/retention/retention.ts';
import { attempted, RECORD } from '../ledger/fixtures.ts';
import { type LedgerStage, openLedgerStage } from './command-stage.ts';

const AUTHORIZATION = { by: 'ops@example.com', reason: 'kept for 25 months' };
const BY = ['--by', 'counsel', '--reason', 'asked for by the court'];
const RUN = { workflowId: 'journey-J-1', runId: 'run-1' };

let stage: LedgerStage;
before(async () => {
  stage = await openLedgerStage(async (ledger) => {
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    await ledger.retention.begin('J-1', AUTHORIZATION);
    await ledger.retention.recordDeletion('J-1', AUTHORIZATION, RUN);
  });
});
after(() => stage?.close());

const legalHold = (...args: string[]) => stage.done('legal-hold', ...args);

const namesOf = (holds: LegalHold[]) => holds.map(({ runKey, matter }) => `${runKey} ${matter}`);

test('a legal hold is set once for a matter, and released for that matter only', async () => {
  const withoutMatter = await stage.cli('legal-hold', 'set', 'J-1', ...BY);
  assert.deepEqual(
    [withoutMatter.code, /"rule":"is required","option":"--matter"/.test(withoutMatter.stderr)],
    [2, true],
  );
  const unknown = await stage.cli('legal-hold', 'set', 'J-10', '--matter', 'M-1', ...BY, '--json');
  assert.equal(JSON.parse(unknown.stderr).error.type, 'notFound');

  const first = await legalHold('set', 'J-1', '--matter', 'M-1', ...BY);
  assert.deepEqual([first.duplicate, first.matter, first.others], [false, 'M-1', []]);
  assert.deepEqual(first.destroyed, { inquiries: 0, histories: 1 }, 'what a disposal has destroyed by then');
  const second = await legalHold('set', 'J-1', '--matter', 'M-2', ...BY);
  assert.deepEqual([second.duplicate, namesOf(second.others)], [false, ['J-1 M-1']]);
  const other = await stage.cli(
    'legal-hold',
    'set',
    'J-1',
    '--matter',
    'M-1',
    '--by',
    'counsel',
    '--reason',
    'another',
  );
  assert.match(JSON.parse(other.stderr).error.message, /it was set before with other content: \/reason differs$/);
  assert.equal(other.code, 1);
  const again = await legalHold('set', 'J-1', '--matter', 'M-1', ...BY);
  assert.deepEqual([again.duplicate, again.by, namesOf(again.others)], [true, 'counsel', ['J-1 M-2']]);

  assert.deepEqual(namesOf((await legalHold('list')).data), ['J-1 M-1', 'J-1 M-2']);
  assert.deepEqual((await legalHold('list', '--run-key', 'J-2')).data, []);
  const released = await legalHold('release', 'J-1', '--matter', 'M-1', ...BY);
  assert.deepEqual([released.released.matter, namesOf(released.others)], ['M-1', ['J-1 M-2']]);
  assert.deepEqual(await legalHold('release', 'J-1', '--matter', 'M-1', ...BY), { ...released, duplicate: true });
  const none = await legalHold('release', 'J-1', '--matter', 'M-3', ...BY);
  assert.deepEqual([none.duplicate, 'released' in none, namesOf(none.others)], [false, false, ['J-1 M-2']]);
});
