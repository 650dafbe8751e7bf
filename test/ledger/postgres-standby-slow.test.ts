/** A commit that the ledger confirms on a primary is on its synchronous standby, even if its wait is cancelled. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing, loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import { type ReplicatedPostgres, startReplicatedPostgres, type Which } from '../support/postgres-standby.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

let directory: string;
let postgres: ReplicatedPostgres;
let ledger: Ledger;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-standby-'));
  postgres = await startReplicatedPostgres();
  await postgres.create('ledger');
  const keyRing = await createKeyRing(join(directory, 'keys.json'));
  ledger = await openLedger({ url: postgres.url('primary', 'ledger'), environment: 'sandbox', keyRing, create: true });
});
after(async () => {
  postgres?.thawReceiver();
  await ledger?.close();
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

const portOf = (which: Which) => Number(new URL(postgres.url(which, 'ledger')).port);
const pauseFor = (reason: string) => ledger.pauses.begin(ledger.identity.ledgerId, {}, { by: 'ops', reason });
const endPause = () => ledger.pauses.end(ledger.identity.ledgerId, {}, { by: 'ops', reason: 'over' });
const reasonsOn = async (which: 'primary' | 'standby') =>
  (await postgres.query<{ reason: string }>(which, 'SELECT reason FROM orders', 'ledger')).map(({ reason }) => reason);

test('a commit whose wait for the standby is cancelled counts as failed', async () => {
  await pauseFor('one');
  await endPause();
  await postgres.freezeReceiver();
  const begun = pauseFor('two').then(
    () => 'confirmed',
    (error: Error) => error.name,
  );
  const waiting = "SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  while ((await postgres.query(`primary`, waiting)).length === 0) await delay(50);
  assert.equal(await begun, 'LedgerUnavailableError');
  // PostgreSQL itself committed the row and made it visible on the primary.
  assert.ok((await reasonsOn('primary')).includes('two'));
  assert.ok(!(await reasonsOn('standby')).includes('two'));
});

test('a program that was led to a standby writes on the primary as soon as its address leads there', async (t) => {
  postgres.thawReceiver();
  const target = { host: '127.0.0.1', port: portOf('standby') };
  const proxy = await startTcpProxy(target);
  t.after(() => proxy.close());
  const url = new URL(postgres.url('primary', 'ledger'));
  url.port = String(proxy.port);
  const keyRing = await loadKeyRing(join(directory, 'keys.json'));
  const other = await openLedger({ url: url.href, environment: 'sandbox', keyRing });
  t.after(() => other.close());
  const pauses = () =>
    other.pauses.begin(other.identity.ledgerId, { profile: 'east' }, { by: 'ops', reason: 'a failover' });
  await assert.rejects(pauses(), /is a standby, which takes no writes: LEDGER_URL must name the primary/);
  target.port = portOf('primary');
  assert.equal((await pauses()).duplicate, false);
});
