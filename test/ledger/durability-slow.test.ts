import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type DurabilitySetting, judgeDurability, readDurability } from '../../src/ledger/database/durability.ts';
import { inspect } from '../../src/ledger/inspect-ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { losesCommits, requireDurableLedger } from '../../src/worker/start-up.ts';
import { makeLedgerRoles } from '../support/ledger-roles.ts';
import { untilTaken } from '../support/patiently.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../support/postgres-standby.ts';
import { keyRing } from './fixtures.ts';

let servers: ReplicatedPostgres;

before(async () => {
  servers = await startReplicatedPostgres({ synchronousStandbyNames: null });
  await servers.create('durable');
  await servers.query('primary', `CREATE ROLE plain LOGIN PASSWORD 'plain'`);
});
after(() => servers?.stop());

function urlAs(user?: string): string {
  const url = new URL(servers.url('primary', 'durable'));
  if (user !== undefined) [url.username, url.password] = [user, user];
  return url.href;
}

async function set(setting: string, value: string): Promise<void> {
  await servers.query('primary', `ALTER SYSTEM SET ${setting} = '${value}'`);
  await servers.query('primary', 'SELECT pg_reload_conf()');
  await delay(300);
}

const REPLICATION: DurabilitySetting = { kind: 'replication' };

async function readFrom(url: string) {
  const found = await inspect(url, readDurability);
  assert.ok(found);
  return found;
}

/** Judges the durability as if commits were flushed: the servers of the tests do not flush, which another test covers. */
async function verdictAs(user?: string, setting = REPLICATION) {
  return judgeDurability({ ...(await readFrom(urlAs(user))), isFlushed: true }, setting);
}

async function startsIn(environment: 'uat' | 'production', setting: DurabilitySetting): Promise<string[]> {
  const warned: string[] = [];
  const ledger = { url: urlAs('plain'), durability: setting };
  await requireDurableLedger(
    { environment, ledger },
    { warn: ({ finding }: { finding?: string }) => void warned.push(finding ?? '') },
  );
  return warned;
}

test('the durability of a real standby is judged from what an unprivileged role can read', async () => {
  const found = await readFrom(urlAs('plain'));
  assert.deepEqual(found.followers, [{ canTakeOver: true }]);
  assert.equal(found.isFlushed, false);
  const { kind, detail } = await verdictAs('plain');
  assert.equal(kind, 'loses');
  assert.match(detail, /^1 standby follows, and commits wait for none/);
  assert.deepEqual((await readFrom(urlAs())).followers, [{ sync: 'async', canTakeOver: true }]);
});

test('a ledger on the standby itself is judged as not durable, even when the risk is accepted', async () => {
  // The standby may not have the database yet.
  const found = await untilTaken(
    () => readFrom(servers.url('standby', 'durable')),
    () => true,
  );
  assert.equal(judgeDurability(found, { kind: 'accepted', by: 'M. Vance' }).kind, 'loses');
});

test('the verdict includes settings of the role and of the database, and names their source', async () => {
  await servers.query('primary', 'ALTER ROLE plain SET synchronous_commit = off');
  assert.match((await verdictAs('plain', { kind: 'storage', by: 'x' })).detail, /is off for this role/);
  await servers.query('primary', 'ALTER ROLE plain RESET synchronous_commit');
  await servers.query('primary', 'ALTER DATABASE durable SET synchronous_commit = local');
  assert.match((await verdictAs('plain')).detail, /is local for this role/);
  await servers.query('primary', 'ALTER DATABASE durable RESET synchronous_commit');
  await set('full_page_writes', 'off');
  assert.match((await verdictAs('plain')).detail, /^full_page_writes is off/);
  await set('full_page_writes', 'on');
});

test('production refuses to start on a ledger that is not durable, uat warns, and an accepted risk is logged by name', async () => {
  await assert.rejects(startsIn('production', REPLICATION), { name: 'LedgerNotDurableError', message: /fsync is off/ });
  assert.match((await startsIn('uat', REPLICATION)).join(), /fsync is off/);
  const by = 'M. Vance: a rehearsal';
  assert.match((await startsIn('production', { kind: 'accepted', by })).join(), /accepted .*M\. Vance: a rehearsal/);
});

test('a worker’s role detects when commits stop waiting for a standby, and when they wait again', async (t) => {
  await servers.create('watched');
  const ownersUrl = servers.url('primary', 'watched');
  const environment = 'production';
  const ring = keyRing();
  await (await openLedger({ url: ownersUrl, environment, keyRing: ring, create: true })).close();
  const { ledger_worker: url } = await makeLedgerRoles(ownersUrl);
  const ledger = await openLedger({ url, environment, keyRing: ring });
  t.after(() => ledger.close());
  // The servers of the tests do not flush commits.
  const flushed = {
    durability: async () => {
      const found = await ledger.durability();
      return found && { ...found, isFlushed: true };
    },
  };
  const loses = () => losesCommits(flushed, { environment, ledger: { url, durability: REPLICATION } });
  await set('synchronous_standby_names', 'standby');
  while (await loses()) await delay(50);
  await set('synchronous_standby_names', '');
  while (!(await loses())) await delay(50);
  await set('synchronous_standby_names', 'standby');
  while (await loses()) await delay(50);
  await set('synchronous_standby_names', '');
});
