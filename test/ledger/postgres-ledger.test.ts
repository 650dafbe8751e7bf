import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { LedgerNotFoundError, LedgerUnavailableError } from '../../src/ledger/errors.ts';
import { inspectLedger } from '../../src/ledger/inspect-ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { startPostgres } from '../support/postgres.ts';
import { ledgerContract } from './contract.ts';
import { claimOf, keyRing, outcomeOf, RECORD } from './fixtures.ts';

const server = await startPostgres();
after(() => server.stop());

let databases = 0;
const newUrl = () => server.url(`ledger_${++databases}`);

async function execute(url: string, sql: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

ledgerContract({ name: 'PostgreSQL', newUrl, execute });

async function open(t: TestContext, url: string, ring = keyRing()): Promise<Ledger> {
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: ring, create: true });
  t.after(() => ledger.close());
  return ledger;
}

const OTHERS = "datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'credit-journey'";

describe('PostgreSQL: the server', () => {
  test('whose connections are cut while idle is used again', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    assert.equal((await ledger.claim(claimOf(ledger))).kind, 'claimed');
    const cut = await execute(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OTHERS}`);
    assert.notEqual(cut.length, 0);
    // The pool may hear of it before or after the next call: unavailable once at the most.
    const verdict = await ledger.ping().catch((error: unknown) => error);
    assert.ok(verdict instanceof LedgerUnavailableError || (verdict as { now?: string }).now !== undefined);
    assert.equal(
      (await ledger.lookUp(ledger.identity.ledgerId, claimOf(ledger).inquiry.customerTraceNumber))?.state,
      'sending',
    );
  });

  test('whose connection is cut in the middle of a claim has written nothing', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    await ledger.recordOutcome(outcomeOf(ledger, {}));
    const blocker = new pg.Client({ connectionString: url });
    await blocker.connect();
    t.after(() => blocker.end());
    await blocker.query('BEGIN; LOCK TABLE attempts');
    let isOver = false;
    const claiming = assert.rejects(ledger.claim(claimOf(ledger)), LedgerUnavailableError).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const { rows } = await blocker.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OTHERS} AND wait_event_type = 'Lock'`,
      );
      if (rows.length > 0) break;
    }
    await claiming;
    await blocker.query('ROLLBACK');
    assert.deepEqual(await ledger.inquiriesOf('J-1'), []);
    assert.equal((await ledger.claim(claimOf(ledger))).kind, 'claimed');
  });

  test('on which another holds the inquiry makes it unavailable after a short while', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    await ledger.claim(claimOf(ledger));
    const blocker = new pg.Client({ connectionString: url });
    await blocker.connect();
    t.after(() => blocker.end());
    await blocker.query('BEGIN; SELECT 1 FROM inquiries FOR UPDATE');
    const record = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    await assert.rejects(ledger.recordOutcome(record, '{}'), LedgerUnavailableError);
    await blocker.query('ROLLBACK');
    assert.equal(await ledger.recordOutcome(record, '{}'), 'recorded');
  });

  test('that commits and then says nothing counts as not having committed', async (t) => {
    const url = await newUrl();
    const ring = keyRing();
    const ledger = await open(t, url, ring);
    const proxy = await proxyTo(t, url);
    const behindProxy = await open(t, proxy.url, ring);
    proxy.cutAtNextCommit();
    await assert.rejects(behindProxy.claim(claimOf(ledger)), LedgerUnavailableError);
    // It had committed: so nobody may send for this claim, and whoever asks again waits for its time to be over.
    for (const handle of [behindProxy, ledger]) {
      const verdict = await handle.claim(claimOf(ledger));
      assert.ok(verdict.kind === 'latest' && verdict.latest.state === 'sending');
    }
  });

  test('that does not let us vacuum is said to have kept old row versions', async (t) => {
    const url = await newUrl();
    const ring = keyRing();
    assert.equal(await (await open(t, url, ring)).retention.scrub(), true);
    await execute(url, "CREATE ROLE teller LOGIN PASSWORD 'teller'");
    await execute(url, 'GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO teller');
    const limited = new URL(url);
    limited.username = 'teller';
    limited.password = 'teller';
    assert.equal(await (await open(t, limited.href, ring)).retention.scrub(), false);
  });

  test('is looked at by `doctor` without a key: identity, keys in use, durability, clock', async (t) => {
    const url = await newUrl();
    const empty = await inspectLedger(url);
    assert.deepEqual([empty.schemaVersion, empty.content], [0, undefined]);
    const ring = keyRing();
    const { identity } = await open(t, url, ring);
    const { content, durability, clock, schemaVersion, knownSchemaVersion } = await inspectLedger(url);
    assert.equal(schemaVersion, knownSchemaVersion);
    assert.deepEqual(content, {
      ledgerId: identity.ledgerId,
      environment: 'sandbox',
      wrappedUnder: [{ keyId: ring.current('ledger').id, secret: true, reports: 0 }],
      openInquiries: 0,
    });
    // As the server of the tests is started.
    assert.deepEqual(durability, { isFlushed: false, waitsForStandby: false, isStandby: false });
    assert.ok(Date.parse(clock.now) > 0);
  });

  test('that cannot be reached, or has no such database, is said so without the password', async () => {
    const url = new URL(await newUrl());
    const password = url.password;
    const options = { environment: 'sandbox', keyRing: keyRing(), create: true } as const;
    url.pathname = '/not_there';
    await assert.rejects(openLedger({ ...options, url: url.href }), LedgerNotFoundError);
    url.port = '1';
    await assert.rejects(openLedger({ ...options, url: url.href }), (error: Error) => {
      return error instanceof LedgerUnavailableError && !error.message.includes(password);
    });
  });
});

/** Passes everything on, until a commit: that one reaches the server, and its answer reaches nobody. */
async function proxyTo(t: TestContext, url: string): Promise<{ url: string; cutAtNextCommit(): void }> {
  const target = new URL(url);
  let isArmed = false;
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let isCut = false;
    client.on('error', () => {});
    upstream.on('error', () => {});
    client.on('data', (bytes) => {
      isCut ||= isArmed && bytes.includes('COMMIT\0');
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!isCut) return client.write(bytes);
      isArmed = false;
      return client.destroy();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => proxy.close());
  const proxied = new URL(url);
  proxied.port = String((proxy.address() as AddressInfo).port);
  return {
    url: proxied.href,
    cutAtNextCommit() {
      isArmed = true;
    },
  };
}
