/**
 * The PostgreSQL of a production worker stops waiting for its standby while the worker runs. The worker is not ready until
 * commits wait again.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../src/config/config.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';
import { makeLedgerRoles } from '../support/ledger-roles.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../support/postgres-standby.ts';

let directory: string;
let servers: ReplicatedPostgres;
let harness: Harness;
let health: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-durable-'));
  servers = await startReplicatedPostgres({ synchronousStandbyNames: null, settings: { primary: ['fsync=on'] } });
  await commitsWaitFor('standby');
  await servers.create('ledger');
  const keys = join(directory, 'keys.json');
  const url = servers.url('primary', 'ledger');
  const keyRing = await createKeyRing(keys);
  const ledger = await openLedger({ url, environment: 'production', keyRing, create: true });
  await ledger.close();
  const [port = 0] = await freePorts(1);
  health = `http://127.0.0.1:${port}/readyz`;
  harness = await startHarness({
    isUat: true,
    withoutWorker: true,
    env: {
      LEDGER_URL: (await makeLedgerRoles(url)).ledger_worker,
      LEDGER_ID: ledger.identity.ledgerId,
      KEY_RING_FILE: keys,
      HEALTH_ADDRESS: `127.0.0.1:${port}`,
    },
  });
  // This test does not need the rules of production for addresses and files.
  (harness.config as { -readonly [K in keyof Config]: Config[K] }).environment = 'production';
  await harness.startWorker();
});
after(async () => {
  await harness?.close();
  await servers?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

async function commitsWaitFor(names: string): Promise<void> {
  await servers.query('primary', `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await servers.query('primary', 'SELECT pg_reload_conf()');
}

async function waitUntilReady(isWanted: boolean): Promise<{ checks: { ledger: { reason?: string } } }> {
  for (;;) {
    const answer = await fetch(health);
    const report = (await answer.json()) as { checks: { ledger: { reason?: string } } };
    if (answer.ok === isWanted) return report;
    await delay(100);
  }
}

test('a production worker is not ready while PostgreSQL commits without its standby, and is ready again afterwards', async () => {
  await waitUntilReady(true);
  await commitsWaitFor('');
  const { checks } = await waitUntilReady(false);
  assert.match(checks.ledger.reason ?? '', /can lose what it confirms/);
  await commitsWaitFor('standby');
  await waitUntilReady(true);
});
