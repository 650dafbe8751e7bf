import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { runInParallel } from '../../src/base/in-parallel.ts';
import { RECORD_PAGES, readAttemptsPage } from '../../src/ledger/audit/record-pages.ts';
import type { SqlValue, Transaction } from '../../src/ledger/database/sql-session.ts';
import { LedgerNotFoundError, LedgerUnavailableError } from '../../src/ledger/errors.ts';
import { inspectLedger } from '../../src/ledger/inspect-ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openEngine, openLedger } from '../../src/ledger/open-ledger.ts';
import { readAttention } from '../support/open-inquiries.ts';
import { startPostgres } from '../support/postgres.ts';
import { ledgerContract } from './contract.ts';
import {
  attempted,
  claimAs,
  claimOf,
  consentOf,
  decisionOf,
  keyRing,
  outcomeOf,
  RECORD,
  SHARE,
  TRACE,
} from './fixtures.ts';

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

/** Opens a session beside the ledger's, for one test. */
async function openClient(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  return client;
}

const OTHERS = "datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'credit-journey'";

describe('PostgreSQL: claims of shares concurrent with other writes', () => {
  const grant = consentOf({ shareId: 'S-9' });
  const { evidence: _, ...said } = grant;
  const revocation = { ...said, decision: 'revoked' as const, decidedAt: '2026-02-01T00:00:00Z' };
  const OF_JOURNEY = { ...SHARE, shareId: 'S-9' };
  const BY_ITSELF = { ...SHARE, customerTraceNumber: 'SUB', runKey: 'share:S-9', shareId: 'S-9' };
  const authorization = { by: 'legal', reason: 'a claim' };

  /** Opens a ledger with a report, and a second session that holds the lock of the chain's head until it commits. */
  async function locked(t: TestContext) {
    const url = await newUrl();
    const ledger = await open(t, url);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const [blocker, watcher] = [await openClient(t, url), await openClient(t, url)];
    await ledger.recordConsents(ledger.identity.ledgerId, [grant]);
    await blocker.query('BEGIN; SELECT 1 FROM ledger_identity FOR UPDATE');
    const untilWaiting = async (count: number) => {
      for (;;) {
        // The blocker's transaction cannot ask, since it sees a single snapshot.
        const waiting = await watcher.query(
          `SELECT 1 FROM pg_stat_activity WHERE ${OTHERS} AND wait_event_type = 'Lock'`,
        );
        if (waiting.rows.length >= count) return;
      }
    };
    const claim = (inquiry: object = OF_JOURNEY) =>
      ledger.claim(claimOf(ledger, { inquiry, consents: [grant], sharedReference: 'REF-1' }));
    return { ledger, blocker, untilWaiting, claim };
  }

  test('a claim respects a refusal that commits between its reads and its writes', async (t) => {
    const { ledger, blocker, untilWaiting, claim } = await locked(t);
    const refusing = ledger.recordConsents(ledger.identity.ledgerId, [revocation]);
    await untilWaiting(1);
    // The claim waits behind the refusal, which is not visible yet.
    const claiming = claim();
    await untilWaiting(2);
    await blocker.query('COMMIT');
    await refusing;
    const verdict = await claiming;
    assert.ok(verdict.kind === 'notPermitted');
    assert.deepEqual(verdict.share?.grants, [{ applicantId: '01', consentId: 'C-1', worth: 'refused' }]);
    assert.equal(await ledger.flagPostedShares(ledger.identity.ledgerId, revocation), 0);
  });

  test('a refusal that commits after the claim flags the share', async (t) => {
    const { ledger, blocker, untilWaiting, claim } = await locked(t);
    const claiming = claim();
    await untilWaiting(1);
    const refusing = ledger.recordConsents(ledger.identity.ledgerId, [revocation]);
    await untilWaiting(2);
    await blocker.query('COMMIT');
    assert.equal((await claiming).kind, 'claimed');
    await refusing;
    const customerTraceNumber = SHARE.customerTraceNumber ?? '';
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'unknown' }));
    assert.deepEqual(await readAttention(ledger, customerTraceNumber), ['revokedAfterPosting']);
  });

  test('exactly one of two concurrent shares under one grant is claimed', async (t) => {
    const { blocker, untilWaiting, claim } = await locked(t);
    const claims = [claim(), claim(BY_ITSELF)];
    await untilWaiting(2);
    await blocker.query('COMMIT');
    const [one, other] = await Promise.all(claims);
    assert.deepEqual([one?.kind, other?.kind].sort(), ['claimed', 'notPermitted']);
    const refused = [one, other].find((verdict) => verdict?.kind === 'notPermitted');
    assert.equal(refused?.kind === 'notPermitted' && refused.share?.grants[0]?.worth, 'spent');
  });

  for (const [name, begin] of [
    ['a legal hold', (ledger: Ledger) => ledger.retention.setLegalHold('J-1', { ...authorization, matter: '2026-17' })],
    ['the beginning of a disposal', (ledger: Ledger) => ledger.retention.begin('J-1', authorization)],
  ] as const) {
    test(`the claim of a share respects ${name} on its report that commits just before`, async (t) => {
      const { ledger, blocker, untilWaiting, claim } = await locked(t);
      const holding = begin(ledger);
      await untilWaiting(1);
      const claiming = claim(BY_ITSELF);
      await untilWaiting(2);
      await blocker.query('COMMIT');
      await holding;
      const verdict = await claiming;
      assert.equal(verdict.kind === 'notPermitted' && verdict.share?.reportIsGone, true);
    });
  }

  for (const step of ['begin', 'recordDeletion', 'dispose'] as const) {
    test(`${step} of a disposal respects a legal hold that commits between its reads and its commit`, async (t) => {
      const { ledger, blocker, untilWaiting } = await locked(t);
      const { retention } = ledger;
      const run = { workflowId: 'journey-J-1', runId: 'run-1' };
      if (step !== 'begin') {
        await blocker.query('COMMIT');
        assert.equal((await retention.begin('J-1', authorization)).kind, 'done');
        await blocker.query('BEGIN; SELECT 1 FROM ledger_identity FOR UPDATE');
      }
      const holding = retention.setLegalHold('J-1', { ...authorization, matter: '2026-17' });
      await untilWaiting(1);
      // The disposal waits behind the hold, which is not visible yet.
      const disposing = {
        begin: async () => retention.begin('J-1', authorization),
        recordDeletion: async () => retention.recordDeletion('J-1', authorization, run),
        dispose: async () => retention.dispose('J-1', authorization, 0),
      }[step]();
      await untilWaiting(2);
      await blocker.query('COMMIT');
      const hold = await holding;
      assert.deepEqual([hold?.duplicate, hold?.destroyed], [false, { inquiries: 0, histories: 0 }]);
      const answer = await disposing;
      const obstacles = 'obstacles' in answer ? answer.obstacles : 'kind' in answer ? [] : answer;
      assert.deepEqual(
        obstacles.map(({ reason }) => reason),
        ['legalHold'],
      );
      const { inquiries, begunAt, histories } = await retention.view('J-1');
      assert.deepEqual([inquiries, begunAt !== undefined, histories], [1, step !== 'begin', 0]);
    });
  }

  test('a legal hold that waits for a disposal to finish says that nothing is left to hold', async (t) => {
    const { ledger, blocker, untilWaiting } = await locked(t);
    const { retention } = ledger;
    await blocker.query('COMMIT');
    await retention.begin('J-1', authorization);
    await blocker.query('BEGIN; SELECT 1 FROM ledger_identity FOR UPDATE');
    const disposing = retention.dispose('J-1', authorization, 0);
    await untilWaiting(1);
    const holding = retention.setLegalHold('J-1', { ...authorization, matter: '2026-17' });
    await untilWaiting(2);
    await blocker.query('COMMIT');
    assert.deepEqual([(await disposing).kind, await holding], ['done', null]);
    assert.deepEqual(await retention.legalHolds(), []);
  });

  test('concurrent writes of all kinds do not deadlock', async (t) => {
    const { ledger, blocker, claim } = await locked(t);
    await blocker.query('COMMIT');
    const { ledgerId } = ledger.identity;
    await attempted(ledger, { inquiry: OF_JOURNEY, consents: [grant] }, { state: 'unknown' });
    const { inquiry } = claimOf(ledger, { inquiry: OF_JOURNEY });
    const writes = Array.from({ length: 12 }, (_, nth) => [
      () => claim(),
      () => claim(BY_ITSELF),
      () => ledger.recordConsents(ledgerId, [{ ...revocation, consentId: `C-${nth}`, applicantId: '02' }]),
      () => ledger.flagPostedShares(ledgerId, revocation),
      () => ledger.retention.setLegalHold('J-1', { ...authorization, matter: '2026-17' }),
      () => ledger.retention.releaseLegalHold('J-1', { ...authorization, matter: '2026-17' }),
      () => {
        const decision = decisionOf({ ...inquiry, decisionId: `D-${nth}`, action: 'abandon', attempt: 1 });
        return ledger.recordDecision(ledgerId, inquiry, decision);
      },
    ]).flat();
    // As many at once as the ledger has connections: others would wait for one, for 3 s at most.
    const outcomes = await runInParallel(writes, 10, async (write) => (await Promise.allSettled([write()]))[0]);
    for (const outcome of outcomes) assert.equal(outcome.status === 'rejected' ? String(outcome.reason) : '', '');
  });
});

describe('PostgreSQL: round trips', () => {
  /** Counts the round trips of each piece of work on an open connection. */
  async function tripsOf(t: TestContext) {
    const url = await newUrl();
    const ring = keyRing();
    await open(t, url, ring);
    const proxy = await proxyTo(t, url);
    const ledger = await open(t, proxy.url, ring);
    const trips = async (work: () => Promise<unknown>) => {
      const before = proxy.trips;
      await work();
      return proxy.trips - before;
    };
    return { ledger, trips };
  }

  test('a claim takes three round trips, and so does an outcome with its report: begin, read, and write with commit', async (t) => {
    const { ledger, trips } = await tripsOf(t);
    assert.equal(await trips(() => claimAs(ledger)), 3);
    const record = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    assert.equal(await trips(() => ledger.recordOutcome(record, '{}')), 3);
    assert.equal(await trips(() => claimAs(ledger)), 3, 'a claim that is refused rolls back');
    assert.equal(await trips(() => ledger.lookUp(ledger.identity.ledgerId, TRACE)), 3);
  });

  test('the claim of a share takes at most 15 round trips, since its consents are chained', async (t) => {
    const { ledger, trips } = await tripsOf(t);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const request = claimOf(ledger, { inquiry: SHARE, sharedReference: 'REF-1' });
    await ledger.recordConsents(request.ledgerId, [consentOf()]);
    const taken = await trips(() => ledger.claim(request));
    assert.ok(taken <= 15, `${taken} round trips`);
  });

  test('a failed statement of a round trip rolls back its transaction', async (t) => {
    const { ledger, trips } = await tripsOf(t);
    const run = { workflowId: 'w', runId: null as unknown as string };
    await assert.rejects(claimAs(ledger, { run }), LedgerUnavailableError);
    assert.equal(await ledger.inquiry(TRACE), null);
    assert.equal(await trips(() => claimAs(ledger)), 3, 'the connection is used on');
  });
});

/** Copies the row of a table 20,000 times, with these changes. */
async function multiply(url: string, table: string, change: Readonly<Record<string, string>>): Promise<void> {
  const named = await execute(
    url,
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = '${table}'`,
  );
  const columns = named.map(({ name }) => String(name));
  const values = columns.map((name) => change[name] ?? name);
  await execute(
    url,
    `INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${table}, generate_series(1, 20000) n; ANALYZE ${table}`,
  );
}

/** Returns the plan of the first statement that the work reads by. */
async function planOf(t: TestContext, url: string, work: (tx: Transaction) => Promise<unknown>): Promise<string> {
  const engine = await openEngine(url);
  t.after(() => engine.close());
  return engine.read(async (session) => {
    const explain = async (text: string, values: SqlValue[]) => {
      const lines = await session.rows(`EXPLAIN ${text}`, values);
      throw new Error(lines.map((line) => line['QUERY PLAN']).join('\n'));
    };
    const tx = { ...session, read: explain } as unknown as Transaction;
    return work(tx).then(String, (error: Error) => error.message);
  });
}

test('PostgreSQL: a page of audited attempts is read in the order of an index, however many attempts there are', async (t) => {
  const url = await newUrl();
  await claimAs(await open(t, url));
  await multiply(url, 'inquiries', { customer_trace_number: "'N' || n", run_key: "'N' || n" });
  const ofAttempt = { customer_trace_number: "'N' || n", position: 'n + 1', claimed_at: 'claimed_at + n' };
  await multiply(url, 'attempts', ofAttempt);
  const plan = await planOf(t, url, (tx) => readAttemptsPage(tx, {}));
  assert.match(plan, /Incremental Sort.*Index Scan using attempts_by_time/s);
});

test('PostgreSQL: a page of consents and one of readings are read in the order of an index, also for a reader of limited reach', async (t) => {
  const url = await newUrl();
  const ledger = await open(t, url);
  await attempted(ledger, {}, { state: 'answered', answer: RECORD });
  await ledger.recordConsents(ledger.identity.ledgerId, [consentOf()]);
  await multiply(url, 'consents', { journey_id: "'N' || n", recorded_at: 'recorded_at + n' });
  await execute(
    url,
    `INSERT INTO report_accesses (access_id, customer_trace_number, attempt, kind, by, via, redacted, recorded_at)
     SELECT 'A', customer_trace_number, attempt, 'report', 'ops', 'api', 0, claimed_at FROM attempts`,
  );
  await multiply(url, 'report_accesses', { access_id: "'N' || n", recorded_at: 'recorded_at + n' });
  const { consentsBetween, accessesBetween } = RECORD_PAGES;
  for (const query of [{}, { profiles: ['east'], endUsers: ['EU9'] }]) {
    assert.match(await planOf(t, url, (tx) => consentsBetween(tx, query)), /Index Scan using consents_by_time/);
    assert.match(await planOf(t, url, (tx) => accessesBetween(tx, query)), /Index Scan using report_accesses_by_time/);
  }
});

for (const attempt of [1, 2]) {
  test(`PostgreSQL: the claim of attempt ${attempt} respects a pause that commits after the claim has read the pauses`, async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    if (attempt > 1) await attempted(ledger, {}, { state: 'notSent' });
    const blocker = await openClient(t, url);
    await blocker.query('BEGIN; SELECT 1 FROM attempt_counter FOR UPDATE');
    const claiming = claimAs(ledger, { attempt });
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE ${OTHERS} AND wait_event_type = 'Lock'`;
    while ((await execute(url, waiting)).length === 0);
    await blocker.query(`INSERT INTO orders (order_id, kind, profile, by, reason, recorded_at)
      VALUES ('pause-1', 'pauseBegun', 'default', 'ops', 'a test', 1); COMMIT`);
    assert.equal((await claiming).kind, 'paused');
    assert.deepEqual(await execute(url, `SELECT 1 FROM attempts WHERE attempt = ${attempt}`), []);
  });
}

describe('PostgreSQL: the connection to the server', () => {
  test('a ledger whose idle connections are cut reconnects', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    assert.equal((await claimAs(ledger)).kind, 'claimed');
    const cut = await execute(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OTHERS}`);
    assert.notEqual(cut.length, 0);
    // The pool may notice the cut before or after the next call, so at most one call is unavailable.
    const verdict = await ledger.mayWrite().catch((error: unknown) => error);
    assert.ok(verdict instanceof LedgerUnavailableError || verdict === true);
    assert.equal(
      (await ledger.lookUp(ledger.identity.ledgerId, claimOf(ledger).inquiry.customerTraceNumber))?.state,
      'sending',
    );
  });

  test('a claim whose connection is cut has written nothing', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    await ledger.recordOutcome(outcomeOf(ledger, {}));
    const blocker = await openClient(t, url);
    await blocker.query('BEGIN; LOCK TABLE attempts');
    let isOver = false;
    const claiming = assert.rejects(claimAs(ledger), LedgerUnavailableError).finally(() => {
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
    assert.equal((await claimAs(ledger)).kind, 'claimed');
  });

  test('a ledger whose row another session has locked is reported as unavailable after a short while', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    await claimAs(ledger);
    const blocker = await openClient(t, url);
    await blocker.query('BEGIN; SELECT 1 FROM inquiries FOR UPDATE');
    const record = outcomeOf(ledger, { state: 'answered', answer: RECORD });
    await assert.rejects(ledger.recordOutcome(record, '{}'), LedgerUnavailableError);
    await blocker.query('ROLLBACK');
    assert.equal(await ledger.recordOutcome(record, '{}'), 'recorded');
  });

  test('work that waits too long for a connection says so, since the database itself may be well', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    const blocker = await openClient(t, url);
    await blocker.query('BEGIN; SELECT 1 FROM ledger_identity FOR UPDATE');
    const waiting = Array.from({ length: 40 }, () => ledger.recordConsents(ledger.identity.ledgerId, [consentOf()]));
    const failed = (await Promise.allSettled(waiting)).map((end) =>
      end.status === 'rejected' ? end.reason.message : '',
    );
    await blocker.query('ROLLBACK');
    const words = 'no connection within 3 s: it is silent, or all 10 connections of this program are busy';
    assert.equal(failed.at(-1), `the ledger's database did not answer or refused (${words})`);
    assert.ok(
      failed.every((message) => !message.includes('unknown')),
      String(new Set(failed)),
    );
  });

  test('a commit whose answer is lost counts as failed, and later claims wait', async (t) => {
    const url = await newUrl();
    const ring = keyRing();
    const ledger = await open(t, url, ring);
    const proxy = await proxyTo(t, url);
    const behindProxy = await open(t, proxy.url, ring);
    proxy.cutAtNextCommit();
    await assert.rejects(behindProxy.claim(claimOf(ledger)), LedgerUnavailableError);
    // The server had committed the claim. No worker may send for it, and later claims wait until its time is over.
    for (const handle of [behindProxy, ledger]) {
      const verdict = await handle.claim(claimOf(ledger));
      assert.ok(verdict.kind === 'latest' && verdict.latest.state === 'sending');
    }
  });

  test('a disposal may take longer than other work, since a review has up to a million rows', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    await attempted(ledger, {}, { state: 'answered', answer: RECORD });
    const slowly = (delayed: string) =>
      `CREATE TRIGGER slowly BEFORE ${delayed} FOR EACH STATEMENT EXECUTE FUNCTION wait()`;
    await execute(
      url,
      "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(6); RETURN NULL; END'",
    );
    await execute(url, slowly('DELETE ON report_consumers'));
    await execute(url, slowly('INSERT ON consents'));
    const authorization = { by: 'operator', reason: 'its time is over' };
    await ledger.retention.begin('J-1', authorization);
    const [disposed] = await Promise.all([
      ledger.retention.dispose('J-1', authorization, 0),
      assert.rejects(ledger.recordConsents(ledger.identity.ledgerId, [consentOf()]), LedgerUnavailableError),
    ]);
    assert.deepEqual(disposed, { kind: 'done', inquiries: 1, reports: 0 });
  });

  test('keys are rewrapped however long a statement takes, since there may be millions of reports', async (t) => {
    const url = await newUrl();
    const ledger = await open(t, url);
    await execute(url, 'ALTER TABLE sealed_bodies RENAME TO kept_bodies');
    await execute(url, 'CREATE VIEW sealed_bodies AS SELECT b.* FROM (SELECT pg_sleep(6)) wait, kept_bodies b');
    assert.equal((await ledger.rewrapDataKeys()).reports, 0);
  });

  test('scrub returns false when the role may not vacuum old row versions', async (t) => {
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

  test('inspectLedger reads identity, keys in use, durability and clock without a key', async (t) => {
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
      needsPerson: 0,
      lost: undefined,
      pauses: [],
    });
    // These are the settings of the test server.
    assert.deepEqual([durability?.isStandby, durability?.isFlushed, durability?.followers], [false, false, []]);
    assert.ok(Date.parse(clock.now) > 0);
  });

  test('the error for an unreachable server or a missing database does not contain the password', async () => {
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

test('PostgreSQL: a ledger is made only in a database that can keep every text', async (t) => {
  const one = await newUrl();
  const make = async (encoding: string) => {
    const url = `${one}_${encoding.toLowerCase()}`;
    const options = `ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`;
    await execute(one, `CREATE DATABASE ${new URL(url).pathname.slice(1)} ${options}`);
    return open(t, url);
  };
  await assert.rejects(make('LATIN1'), /cannot keep every text: it needs the encoding UTF8/);
  for (const encoding of ['UTF8', 'SQL_ASCII']) {
    const ledger = await make(encoding);
    const who = { by: 'Łucja', reason: 'an outage – planned' };
    const begun = await ledger.pauses.begin(ledger.identity.ledgerId, {}, who);
    assert.equal(begun.pause.reason, who.reason);
    const [pause] = await ledger.pauses.list();
    assert.deepEqual([pause?.by, pause?.reason], [who.by, who.reason]);
  }
});

test('PostgreSQL: the error of a connection that fails names its reason, and no secret or path', async () => {
  const url = await newUrl();
  for (const [address, reason] of [
    [`${url}?sslmode=verify-full`, 'it offers no TLS, and LEDGER_URL asks for it'],
    [`${url}?sslmode=verify-full&sslrootcert=/not/there.pem`, 'ENOENT'],
  ] as const) {
    const message = `the ledger's database did not answer or refused (${reason})`;
    await assert.rejects(inspectLedger(address), { name: 'LedgerUnavailableError', message });
  }
});

test('PostgreSQL: no claim is made twice on a machine that sorts in another order than the one before', async (t) => {
  const one = await newUrl();
  const url = `${one}_moved`;
  const name = new URL(url).pathname.slice(1);
  await execute(one, `CREATE DATABASE ${name} LOCALE_PROVIDER icu ICU_LOCALE 'en-US' TEMPLATE template0`);
  const ring = keyRing();
  const numbers = Array.from({ length: 200 }, (_, nth) => `PQ${(nth * 7_919).toString(36)}`);
  const claimAll = async (ledger: Ledger) => {
    const kinds = new Set<string>();
    for (const customerTraceNumber of numbers) {
      const inquiry = { customerTraceNumber, runKey: `J-${customerTraceNumber}` };
      kinds.add((await claimAs(ledger, { inquiry })).kind);
    }
    return [...kinds];
  };
  assert.deepEqual(await claimAll(await open(t, url, ring)), ['claimed']);
  await execute(one, `UPDATE pg_database SET daticurules = '&Z<0<1<2<3<4<5<6<7<8<9' WHERE datname = '${name}'`);
  assert.deepEqual(await claimAll(await open(t, url, ring)), ['latest']);
});

/**
 * Forwards all traffic until a commit. The commit reaches the server, but the proxy drops its answer. `trips` counts
 * how often the client sends while it waits for no answer.
 */
async function proxyTo(
  t: TestContext,
  url: string,
): Promise<{ url: string; readonly trips: number; cutAtNextCommit(): void }> {
  const target = new URL(url);
  let isArmed = false;
  let trips = 0;
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let isCut = false;
    client.on('error', () => {});
    upstream.on('error', () => {});
    // Statements whose answer the client waits for: each ends with a Sync or is one Query.
    let unanswered = 0;
    const countSent = createReader((type) => {
      if (!'SQ'.includes(type)) return;
      if (unanswered++ === 0) trips++;
    });
    const countAnswered = createReader((type) => {
      if (type === 'Z') unanswered = Math.max(0, unanswered - 1);
    });
    let isStarted = false;
    client.on('data', (bytes: Buffer) => {
      isCut ||= isArmed && bytes.includes('COMMIT\0');
      // The first message has no type.
      if (isStarted) countSent(bytes);
      isStarted = true;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      countAnswered(bytes);
      if (!isCut || unanswered > 0) return client.write(bytes);
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
    get trips() {
      return trips;
    },
    cutAtNextCommit() {
      isArmed = true;
    },
  };
}

/** Reads messages of PostgreSQL's protocol. Each begins with its type and the length of the rest. */
function createReader(onMessage: (type: string) => void): (bytes: Buffer) => void {
  let unread = Buffer.alloc(0);
  return (bytes) => {
    unread = Buffer.concat([unread, bytes]);
    for (let end = 0; unread.length > 4; unread = unread.subarray(end)) {
      end = 1 + unread.readUInt32BE(1);
      if (end > unread.length) break;
      onMessage(String.fromCharCode(unread[0] as number));
    }
  };
}
