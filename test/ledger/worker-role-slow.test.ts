/** Whole journeys and operator commands with only the rights of the workers' database role. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { type CommandStage, openCommandStage } from '../cli/command-stage.ts';
import { decisionAbout } from '../hazards/operator-hands.ts';
import {
  applicant,
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { makeLedgerRoles } from '../support/ledger-roles.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

const AUTHORIZATION = ['--by', 'ops-7', '--reason', 'a trial of the role'];

let directory: string;
let server: PostgresServer;
let stage: CommandStage;
let owner: pg.Client;
before(async () => {
  [directory, server] = await Promise.all([mkdtemp(join(tmpdir(), 'credit-journey-role-')), startPostgres()]);
  const keys = join(directory, 'keys.json');
  const ownersUrl = await server.url('ledger');
  // This is what `setup` does.
  const keyRing = await createKeyRing(keys);
  await (await openLedger({ url: ownersUrl, environment: 'sandbox', keyRing, create: true })).close();
  const { ledger_worker: url } = await makeLedgerRoles(ownersUrl);
  owner = new pg.Client({ connectionString: ownersUrl });
  await owner.connect();
  stage = await openCommandStage({ env: { LEDGER_URL: url, KEY_RING_FILE: keys } });
});
after(async () => {
  await stage?.close();
  await owner?.end();
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

async function countOf(table: string, where = 'true'): Promise<number> {
  const { rows } = await owner.query<{ n: string }>(`SELECT count(*) AS n FROM ${table} WHERE ${where}`);
  return Number(rows[0]?.n);
}

let journeyId: string;
let journey: JourneyHandle;

test('under the worker’s role, three stages and a share with consents complete, and changes between reports are kept', async () => {
  const { harness, done } = stage;
  const input = journeyInput({
    stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'],
    gates: { PREAPP: { pass: 'auto' }, PRECLOSE: { pass: 'auto' } },
    applicants: [applicant('1A'), applicant('2A')],
    shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
  });
  journeyId = input.journeyId;
  journey = await harness.start(input);
  for (const applicantId of ['1A', '2A']) {
    await journey.signal('consent', consentMessage(journeyId, { applicantId }));
  }
  const { outcome, shares } = await journey.result();
  assert.deepEqual([outcome, shares[0]?.state], ['completed', 'posted']);
  assert.equal((await harness.posted(journey)).length, 4);
  assert.equal(await countOf('attempt_consents'), 2);
  assert.equal(await countOf('sealed_bodies', "kind = 'changes'"), 1);
  assert.ok((await stage.cli('report', journeyId, 'PRECLOSE')).code === 0);
  assert.equal(await countOf('report_accesses'), 1);
  assert.equal((await done('audit', 'verify')).verdict ?? 'intact', 'intact');
});

test('under the worker’s role, an operator can decide to resend a held inquiry', async () => {
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] });
  const handle = await stage.harness.start(input);
  const held = await untilStatus(handle, ({ state }) => state === 'held');
  await update(handle, 'resolveInquiry', decisionAbout(held));
  await handle.result();
  assert.equal(await countOf('decisions'), 1);
  assert.equal((await stage.harness.posted(handle)).length, 2, 'a person has decided that it may be sent again');
});

test('under the worker’s role, a pause delays new inquiries, and its end wakes the waiting runs', async () => {
  const { harness, done } = stage;
  await done('pause', ...AUTHORIZATION);
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL'] }));
  await untilStatus(handle, ({ waitingFor }) => /paused/.test(waitingFor ?? ''));
  assert.equal(await countOf('inquiries', 'paused_at IS NOT NULL'), 1);
  await done('resume', ...AUTHORIZATION);
  assert.equal((await handle.result()).outcome, 'completed');
  assert.equal(await countOf('inquiries', 'paused_at IS NOT NULL'), 0);
});

test('under the worker’s role, operators can set and release a legal hold and dispose of a journey', async () => {
  const { done } = stage;
  await done('legal-hold', 'set', journeyId, '--matter', '2026-17', ...AUTHORIZATION);
  assert.equal((await stage.cli('dispose', journeyId, '--yes', ...AUTHORIZATION)).code, 1);
  await done('legal-hold', 'release', journeyId, '--matter', '2026-17', ...AUTHORIZATION);
  await done('dispose', journeyId, '--yes', ...AUTHORIZATION);
  const ofJourney = `customer_trace_number IN (SELECT customer_trace_number FROM inquiries WHERE run_key = '${journeyId}')`;
  assert.equal(await countOf('sealed_bodies', `${ofJourney} AND body IS NOT NULL`), 0);
  assert.equal(await countOf('report_consumers', ofJourney), 0);
  assert.ok((await countOf('attempts', ofJourney)) >= 4, 'the fence stays');
  await done('audit', 'verify');
});
