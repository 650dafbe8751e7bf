/**
 * The database roles of the ledger: each of them permits what workers or the HTTP API need, and nothing else.
 * worker-role-slow.test.ts runs whole journeys with the workers' role.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { LedgerNotFoundError, LedgerUnavailableError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { LEDGER_ROLES, makeLedgerRoles } from '../support/ledger-roles.ts';
import { startPostgres } from '../support/postgres.ts';
import { ledgerContract } from './contract.ts';
import { attempted, claimOf, consentOf, decisionOf, INQUIRY, keyRing, outcomeOf, RECORD, TRACE } from './fixtures.ts';

const SCRIPTS = fileURLToPath(new URL('../../deploy/postgres', import.meta.url));
const server = await startPostgres();

const ring = keyRing();
let databases = 0;
let ledger: Ledger;
let api: Ledger;
let roles: Record<(typeof LEDGER_ROLES)[number], { url: string; client: pg.Client }>;

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

before(async () => {
  const url = await server.url('ledger_roles');
  ledger = await openLedger({ url, environment: 'sandbox', keyRing: ring, create: true });
  // As a database of PostgreSQL 14 has it, and keeps it.
  const owner = await connected(url);
  await owner.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
  await owner.end();
  // The script can run again.
  await makeLedgerRoles(url);
  const urls = await makeLedgerRoles(url);
  const made = LEDGER_ROLES.map(async (role) => [role, { url: urls[role], client: await connected(urls[role]) }]);
  roles = Object.fromEntries(await Promise.all(made));
  const opened = (role: (typeof LEDGER_ROLES)[number]) =>
    openLedger({ url: urls[role], environment: 'sandbox', keyRing: ring, create: false });
  api = await opened('ledger_api');
});
after(async () => {
  for (const { client } of Object.values(roles ?? {})) await client.end();
  for (const opened of [api, ledger]) await opened?.close();
  await server.stop();
});

const traceOf = (end: string) => `${TRACE.slice(0, -2)}${end}`;

/** The statements that no role may execute. */
const FORBIDDEN_TO_ALL = [
  'DELETE FROM decisions',
  'DELETE FROM orders',
  'DELETE FROM report_accesses',
  'UPDATE consents SET decision = decision',
  'UPDATE report_accesses SET by = NULL',
  'UPDATE ledger_identity SET schema_version = 999',
  'UPDATE ledger_identity SET only_row = 1',
  'CREATE TABLE mine (a INT)',
  'CREATE OR REPLACE FUNCTION ledger_keep_rows() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$',
  'DROP TABLE orders',
  'DROP TRIGGER attempts_no_delete ON attempts',
  'DROP INDEX attempts_by_position',
  'ALTER TABLE attempts ADD COLUMN mine INT',
  'ALTER TABLE decisions DISABLE TRIGGER ALL',
  'ALTER TABLE decisions DISABLE TRIGGER decisions_no_delete',
  "SET session_replication_role = 'replica'",
  'SET ROLE postgres',
  'TRUNCATE decisions',
  'TRUNCATE operator_tasks',
];

const INSUFFICIENT_PRIVILEGE = '42501';
const LOCK_NOT_AVAILABLE = '55P03';

async function refused(role: (typeof LEDGER_ROLES)[number], statements: readonly string[]): Promise<void> {
  for (const statement of [...statements, ...FORBIDDEN_TO_ALL]) {
    await assert.rejects(
      roles[role].client.query(statement),
      (error) => (error as { code?: string }).code === INSUFFICIENT_PRIVILEGE,
      `${role}: ${statement}`,
    );
  }
}

/** Runs the whole contract suite with only the rights of the workers' role. */
ledgerContract({
  name: 'PostgreSQL, by the role of workers',
  newUrl: () => server.url(`contract_${++databases}`),
  async execute(url, sql) {
    const client = await connected(url);
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  },
  forPrograms: async (url) => (await makeLedgerRoles(url)).ledger_worker,
});

describe('the database role of the HTTP API', () => {
  test('lists, decides, marks as seen and reads reports', async () => {
    const { ledgerId } = ledger.identity;
    for (const end of ['10', '11', '12']) {
      await attempted(ledger, { inquiry: { customerTraceNumber: traceOf(end) } }, { state: 'unknown' });
    }
    const held = await api.tasks.open({ limit: 10 });
    assert.equal(held.rows.length, 3);
    assert.equal((await api.tasks.counts())[0]?.count, 3);
    const accepted = { action: 'accept', answer: RECORD, confirmConsumerIds: true } as const;
    const decisions = [
      decisionOf({ customerTraceNumber: traceOf('10'), decisionId: 'R-1' }),
      decisionOf({ customerTraceNumber: traceOf('11'), decisionId: 'R-2', ...accepted }),
      decisionOf({ customerTraceNumber: traceOf('12'), decisionId: 'R-3', action: 'abandon' }),
    ];
    for (const decision of decisions) {
      const row = await api.inquiry(decision.customerTraceNumber);
      assert.ok(row);
      const verdict = await api.recordDecision(ledgerId, row, decision);
      assert.equal(verdict.kind, 'recorded', `${decision.action}: ${JSON.stringify(verdict)}`);
    }
    assert.equal((await ledger.tasks.open({ limit: 10 })).rows.length, 0);
    const chain = await ledger.verifyChain();
    assert.ok(chain.entries >= 3, JSON.stringify(chain));
    await ledger.recordOutcome(
      outcomeOf(ledger, { customerTraceNumber: traceOf('12'), state: 'answered', answer: RECORD }),
    );
    const late = await api.recordSeen(ledgerId, {
      customerTraceNumber: traceOf('12'),
      decisionId: 'S-1',
      by: 'ops',
      reason: 'told',
    });
    assert.equal(late.kind, 'recorded');
    await ledger.consents.keep(ledgerId, consentOf({ journeyId: 'J-NONE' }));
    assert.equal((await Array.fromAsync(api.unmatchedBetween())).length, 1);
    assert.equal(await api.consents.markSeen(ledgerId, { runKey: 'J-NONE', by: 'ops', reason: 'asked' }), 1);
    const report = traceOf('13');
    await ledger.claim(claimOf(ledger, { inquiry: { customerTraceNumber: report } }));
    await ledger.recordOutcome(
      outcomeOf(ledger, { customerTraceNumber: report, state: 'answered', answer: RECORD }),
      '{"a":1}',
    );
    const { runKey, productCode } = INQUIRY;
    const read = await api.readReport({ runKey, productCode, customerTraceNumber: report }, { by: 'ops', via: 'api' });
    assert.equal(read?.body, '{"a":1}');
    for await (const { via, by } of api.accessesBetween()) assert.deepEqual([via, by], ['api', 'ops']);
    for await (const { environment } of api.inquiriesBetween()) assert.equal(environment, 'sandbox');
  });

  test('pauses and resumes profiles, and sets and releases legal holds', async () => {
    const { ledgerId } = ledger.identity;
    const by = { by: 'ops', reason: 'an audit' };
    const scope = { profile: INQUIRY.profile };
    const customerTraceNumber = traceOf('14');
    assert.equal((await api.pauses.begin(ledgerId, scope, by)).duplicate, false);
    assert.equal((await ledger.claim(claimOf(ledger, { inquiry: { customerTraceNumber } }))).kind, 'paused');
    assert.equal((await api.pauses.end(ledgerId, scope, by)).duplicate, false);
    const waiting = await api.pauses.waiting();
    assert.deepEqual(
      waiting.map((inquiry) => inquiry.customerTraceNumber),
      [customerTraceNumber],
    );
    await api.pauses.forget(ledgerId, waiting);
    assert.deepEqual(await ledger.pauses.waiting(), []);
    const hold = { ...by, matter: 'M-1' };
    assert.equal((await api.retention.setLegalHold(INQUIRY.runKey, hold))?.duplicate, false);
    assert.equal((await ledger.retention.legalHolds(INQUIRY.runKey)).length, 1);
    assert.ok((await api.retention.releaseLegalHold(INQUIRY.runKey, hold)).released);
  });

  test('decides about an attempt whose time for an answer is over', async () => {
    const customerTraceNumber = traceOf('15');
    await ledger.claim(claimOf(ledger, { inquiry: { customerTraceNumber }, answerWithinMs: 1 }));
    await setTimeout(10);
    const row = await api.inquiry(customerTraceNumber);
    assert.ok(row);
    const decision = decisionOf({ customerTraceNumber, decisionId: 'R-15' });
    assert.equal((await api.recordDecision(ledger.identity.ledgerId, row, decision)).kind, 'recorded');
  });

  test('claims nothing, permits no share, and writes no outcome', async () => {
    const { ledgerId } = ledger.identity;
    const before = await roles.ledger_api.client.query('SELECT count(*) FROM attempts');
    const denied = (work: Promise<unknown>) => assert.rejects(work);
    await denied(api.claim(claimOf(api, { inquiry: { customerTraceNumber: traceOf('20') } })));
    await denied(api.recordConsents(ledgerId, [consentOf()]));
    await denied(
      api.recordOutcome(outcomeOf(api, { customerTraceNumber: traceOf('10'), state: 'answered', answer: RECORD })),
    );
    const by = { by: 'ops', reason: 'old' };
    await denied(api.retention.begin('J-NONE', by));
    await denied(api.acceptRestore(ledgerId, by));
    const afterwards = await roles.ledger_api.client.query('SELECT count(*) FROM attempts');
    assert.deepEqual(afterwards.rows, before.rows);
  });

  test('cannot change the rows that only workers write', () =>
    refused('ledger_api', [
      "INSERT INTO attempts (customer_trace_number, attempt) VALUES ('T', 1)",
      'UPDATE attempts SET answer_by = 0',
      'UPDATE attempts SET resend_from = 0',
      'UPDATE attempt_counter SET last_position = 0',
      'UPDATE inquiries SET permitted_repeat = 0',
      'INSERT INTO consents DEFAULT VALUES',
      'UPDATE consents SET told_to = NULL',
      ...['disposalBegun', 'historyDeleted', 'disposed', 'restoreFound', 'restoreAccepted', 'withdraw', 'skip'].map(
        (kind) =>
          `INSERT INTO orders (order_id, kind, by, reason, recorded_at) VALUES ('${kind}', '${kind}', 'ops', 'old', 0)`,
      ),
      "UPDATE orders SET kind = 'disposed'",
      'UPDATE sealed_bodies SET body = NULL',
      'UPDATE operator_tasks SET reason = reason',
      'UPDATE ledger_identity SET key_id = key_id',
      'UPDATE ledger_identity SET wrapped_key = wrapped_key',
    ]));
});

describe('the database role of workers', () => {
  test('cannot change or delete rows of the fence or of the chain', async () => {
    const customerTraceNumber = traceOf('30');
    await ledger.claim(claimOf(ledger, { inquiry: { customerTraceNumber } }));
    await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer: RECORD }), '{}');
    await refused('ledger_worker', [
      'DELETE FROM inquiries',
      'DELETE FROM attempts',
      'DELETE FROM sealed_bodies',
      'DELETE FROM audit_chain',
      'UPDATE audit_chain SET hash = hash',
      'UPDATE consents SET decided_at = decided_at',
      'UPDATE decisions SET permits_attempt = 9',
      'UPDATE attempts SET attempt = 9',
      'UPDATE attempts SET position = 9',
      'UPDATE attempts SET claimed_at = 0',
      'UPDATE attempts SET answer_by = 0',
      'UPDATE attempts SET resend_from = 0',
      'UPDATE inquiries SET customer_trace_number = customer_trace_number',
      'UPDATE inquiries SET run_key = run_key',
      'UPDATE inquiries SET ordinal = 9',
      'UPDATE closed_attempts SET closed_at = 0',
      'UPDATE report_accesses SET by = by',
      'UPDATE orders SET by = by',
      'UPDATE sealed_bodies SET stored_at = 0',
      'UPDATE sealed_bodies SET attempt = 9',
      'UPDATE ledger_identity SET ledger_id = ledger_id',
      'UPDATE ledger_identity SET oldest_writer = 9',
      'INSERT INTO ledger_identity DEFAULT VALUES',
      'INSERT INTO attempt_counter DEFAULT VALUES',
    ]);
    const put = roles.ledger_worker.client.query("UPDATE sealed_bodies SET body = 'another'");
    await assert.rejects(put, /rows of this table are kept as they are/);
  });

  test('opens an existing ledger, and gets an error that names `setup` when there is none', async () => {
    const url = await server.url('not_set_up');
    const options = { environment: 'sandbox', keyRing: ring } as const;
    const address = new URL(url);
    address.username = 'ledger_worker';
    address.password = 'for-this-test';
    // Only a worker of the sandbox would create the tables.
    await assert.rejects(openLedger({ ...options, url: address.href, create: true }), (error: Error) => {
      return error instanceof LedgerUnavailableError && /`credit-journey setup`.*make-roles/.test(error.message);
    });
    await assert.rejects(openLedger({ ...options, url: address.href }), (error: Error) => {
      return error instanceof LedgerNotFoundError && error.message.includes('`credit-journey setup`');
    });
    await (await openLedger({ ...options, url, create: true })).close();
    // The tables exist by now, but not the grants.
    await assert.rejects(openLedger({ ...options, url: address.href }), /make-roles/);
    await makeLedgerRoles(url);
    await (await openLedger({ ...options, url: address.href, create: true })).close();
  });
});

test('the roles give up while a backup reads, and no program waits for it behind them', async (t) => {
  const url = await server.url('backed_up');
  const open = await openLedger({ url, environment: 'sandbox', keyRing: ring, create: true });
  t.after(() => open.close());
  await makeLedgerRoles(url);
  const backup = await connected(url);
  t.after(() => backup.end());
  await backup.query('BEGIN; SELECT count(*) FROM orders');
  await assert.rejects(makeLedgerRoles(url), (error: { code?: string }) => error.code === LOCK_NOT_AVAILABLE);
  assert.deepEqual(await open.pauses.list(), []);
});

describe('compose', () => {
  test('makes databases and roles by scripts that can run again with other passwords, which the server never reads', async (t) => {
    const url = await server.url('of_compose');
    const secrets = mkdtempSync(join(tmpdir(), 'credit-journey-role-'));
    t.after(() => rmSync(secrets, { recursive: true, force: true }));
    const { hostname, port } = new URL(url);
    let sent = '';
    const proxy = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      client.on('data', (bytes) => {
        sent += bytes.toString('latin1');
      });
      client.pipe(upstream).pipe(client);
      client.on('error', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, hostname, resolve));
    t.after(() => proxy.close());
    const proxied = String((proxy.address() as AddressInfo).port);
    // As on a managed server, the administrator is no superuser.
    const superuser = await connected(url);
    await superuser.query(`CREATE ROLE administrator LOGIN CREATEROLE CREATEDB PASSWORD 'of administrator';
      GRANT ${LEDGER_ROLES.join(', ')} TO administrator WITH ADMIN OPTION`);
    await superuser.end();
    const env = { ...process.env, PGHOST: hostname, PGPORT: proxied, PGUSER: 'administrator', SECRETS_DIR: secrets };
    const runScript = (name: string) => promisify(execFile)('/bin/sh', [join(SCRIPTS, name)], { env });
    const give = (role: string, text: string) => writeFileSync(join(secrets, `${role}_db_password`), `${text}\n`);
    writeFileSync(join(secrets, 'postgres_password'), 'of administrator');
    const addressOf = (role: string, text: string) => {
      const address = new URL(url);
      [address.pathname, address.username, address.password] = ['ledger', role, text];
      return address.href;
    };
    for (const nth of ['first', 'second']) {
      const passwords = ['temporal', 'ledger', ...LEDGER_ROLES].map(
        (role) => [role, `${nth} \\ of '${role}"`] as const,
      );
      for (const [role, text] of passwords) give(role, text);
      await runScript('make-databases.sh');
      const owners = addressOf('ledger', `${nth} \\ of 'ledger"`);
      await (await openLedger({ url: owners, environment: 'sandbox', keyRing: ring, create: true })).close();
      await runScript('make-roles.sh');
      for (const [role, text] of passwords.slice(2)) {
        const client = await connected(addressOf(role, text));
        await client.query('SELECT count(*) FROM inquiries');
        await assert.rejects(client.query('DROP TABLE inquiries'));
        await client.end();
      }
    }
    assert.ok(sent.includes('SCRAM-SHA-256$') && !sent.includes(" of '"), 'a log of statements has no password');
    // The roles of the other tests have a database of their own, and by now the passwords of this test.
    for (const { url: before } of Object.values(roles)) await assert.rejects(connected(before));
  });
});
