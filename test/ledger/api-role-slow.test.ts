/** The HTTP API's database role: what it needs works with it, and nothing that leads to an inquiry does. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Ledger } from '../../src/ledger/port.ts';
import { openLedger } from '../../src/ledger/sql/open-ledger.ts';
import { startPostgres } from '../support/postgres.ts';
import { attempted, claimOf, consentOf, decisionOf, INQUIRY, keyRing, outcomeOf, RECORD, TRACE } from './fixtures.ts';

const GRANTS = readFileSync(new URL('../../deploy/postgres/api-role.sql', import.meta.url), 'utf8');
const SCRIPT = fileURLToPath(new URL('../../deploy/postgres/make-api-role.sh', import.meta.url));
const server = await startPostgres();

let ledger: Ledger;
let api: Ledger;
let role: pg.Client;
let roleUrl: string;

before(async () => {
  const url = await server.url('ledger_api_role');
  const ring = keyRing();
  ledger = await openLedger({ url, environment: 'sandbox', keyRing: ring, create: true });
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  // May be run again.
  for (const _ of [1, 2]) await admin.query(GRANTS);
  await admin.query("ALTER ROLE ledger_api LOGIN PASSWORD 'for-this-test'");
  await admin.end();
  const address = new URL(url);
  address.username = 'ledger_api';
  address.password = 'for-this-test';
  api = await openLedger({ url: address.href, environment: 'sandbox', keyRing: ring, create: false });
  roleUrl = address.href;
  role = new pg.Client({ connectionString: roleUrl });
  await role.connect();
});
after(async () => {
  await role?.end();
  await api?.close();
  await ledger?.close();
  await server.stop();
});

const traceOf = (end: string) => `${TRACE.slice(0, -2)}${end}`;

describe('the database role of the HTTP API', () => {
  test('lists, decides, marks as seen and reads reports', async () => {
    const { ledgerId } = ledger.identity;
    for (const end of ['10', '11', '12']) {
      await attempted(ledger, { inquiry: { customerTraceNumber: traceOf(end) } }, { state: 'unknown' });
    }
    const held = await api.work.open({ limit: 10 });
    assert.equal(held.rows.length, 3);
    assert.equal((await api.work.counts())[0]?.count, 3);
    const decisions = [
      decisionOf({
        customerTraceNumber: traceOf('10'),
        decisionId: 'R-1',
        action: 'resend',
        providerSaid: 'notPosted',
      }),
      decisionOf({
        customerTraceNumber: traceOf('11'),
        decisionId: 'R-2',
        action: 'accept',
        answer: RECORD,
        providerSaid: 'posted',
        confirmConsumerIds: true,
      }),
      decisionOf({ customerTraceNumber: traceOf('12'), decisionId: 'R-3', action: 'abandon' }),
    ];
    for (const decision of decisions) {
      const row = await api.inquiry(decision.customerTraceNumber);
      assert.ok(row);
      const verdict = await api.recordDecision(ledgerId, row, decision);
      assert.equal(verdict.kind, 'recorded', `${decision.action}: ${JSON.stringify(verdict)}`);
    }
    assert.equal((await ledger.work.open({ limit: 10 })).rows.length, 0);
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
    await ledger.kept.keep(ledgerId, consentOf({ journeyId: 'J-NONE' }));
    assert.equal((await api.kept.unmatched(10)).length, 1);
    assert.equal(await api.kept.markSeen(ledgerId, { ownerId: 'J-NONE', by: 'ops', reason: 'asked' }), 1);
    const report = traceOf('13');
    await ledger.claim(claimOf(ledger, { inquiry: { customerTraceNumber: report } }));
    await ledger.recordOutcome(
      outcomeOf(ledger, { customerTraceNumber: report, state: 'answered', answer: RECORD }),
      '{"a":1}',
    );
    const { ownerId, productCode } = INQUIRY;
    const read = await api.reading.report(
      { ownerId, productCode, customerTraceNumber: report },
      { by: 'ops', via: 'api' },
    );
    assert.equal(read?.body, '{"a":1}');
    for await (const { via, by } of api.reading.accessesBetween()) assert.deepEqual([via, by], ['api', 'ops']);
    for await (const { environment } of api.inquiriesBetween()) assert.equal(environment, 'sandbox');
  });

  test('claims nothing, permits no share, and writes no outcome', async () => {
    const { ledgerId } = ledger.identity;
    const before = await role.query('SELECT count(*) FROM attempts');
    const denied = (work: Promise<unknown>) => assert.rejects(work);
    await denied(api.claim(claimOf(api, { inquiry: { customerTraceNumber: traceOf('20') } })));
    await denied(api.recordConsents(ledgerId, [consentOf()]));
    await denied(
      api.recordOutcome(outcomeOf(api, { customerTraceNumber: traceOf('10'), state: 'answered', answer: RECORD })),
    );
    const afterwards = await role.query('SELECT count(*) FROM attempts');
    assert.deepEqual(afterwards.rows, before.rows);
    const forbidden = [
      "INSERT INTO attempts (customer_trace_number, attempt) VALUES ('T', 1)",
      'UPDATE attempts SET answer_by = 0',
      'UPDATE attempts SET resend_from = 0',
      'UPDATE attempt_counter SET last_position = 0',
      'UPDATE inquiries SET permitted_repeat = 0',
      'UPDATE decisions SET permits_attempt = 9',
      'DELETE FROM decisions',
      'DELETE FROM inquiry_pauses',
      'INSERT INTO inquiry_pauses DEFAULT VALUES',
      'UPDATE consents SET decision = decision',
      'INSERT INTO consents DEFAULT VALUES',
      'INSERT INTO kept_consents DEFAULT VALUES',
      'UPDATE kept_consents SET told_to = NULL',
      'INSERT INTO approved_profile_changes DEFAULT VALUES',
      'INSERT INTO retention_events DEFAULT VALUES',
      'UPDATE reports SET attempt = 1',
      'DELETE FROM report_accesses',
      'UPDATE report_accesses SET accessed_by = NULL',
      'UPDATE ledger_identity SET ledger_id = ledger_id',
      'INSERT INTO ledger_schema (version, applied_at) VALUES (999, 0)',
      'CREATE TABLE mine (a INT)',
      'DROP TABLE inquiry_pauses',
      'ALTER TABLE decisions DISABLE TRIGGER ALL',
      'TRUNCATE decisions',
    ];
    for (const statement of forbidden) {
      await assert.rejects(
        role.query(statement),
        (error) => {
          const { code } = error as { code?: string };
          // Insufficient privilege; and of a name that is no table of this ledger, that it is none.
          return code === '42501' || (statement.startsWith('DROP') && code === '42P01');
        },
        statement,
      );
    }
  });

  const withoutPsql = spawnSync('psql', ['--version']).status !== 0;
  test('compose makes it by a script, which may run again with another password', { skip: withoutPsql }, async (t) => {
    const url = await server.url('ledger');
    await (await openLedger({ url, environment: 'sandbox', keyRing: keyRing(), create: true })).close();
    const secrets = mkdtempSync(join(tmpdir(), 'credit-journey-role-'));
    t.after(() => rmSync(secrets, { recursive: true, force: true }));
    const { hostname, port, username, password } = new URL(url);
    writeFileSync(join(secrets, 'postgres_password'), decodeURIComponent(password));
    const env = { ...process.env, PGHOST: hostname, PGPORT: port, PGUSER: username, SECRETS_DIR: secrets };
    for (const own of ['first', 'second']) {
      writeFileSync(join(secrets, 'ledger_api_db_password'), own);
      await promisify(execFile)('/bin/sh', [SCRIPT], { env });
      const address = new URL(url);
      [address.username, address.password] = ['ledger_api', own];
      const client = new pg.Client({ connectionString: address.href });
      await client.connect();
      await client.query('SELECT count(*) FROM inquiries');
      await assert.rejects(client.query("INSERT INTO attempts (customer_trace_number, attempt) VALUES ('T', 1)"));
      await client.end();
    }
    // The other test's role has its own database, and the password of this one by now.
    await assert.rejects(new pg.Client({ connectionString: roleUrl }).connect());
  });
});
