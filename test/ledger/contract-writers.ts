/** Part of the contract suite: migrations of the tables, and what an older program may still do after one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readIdentity, SCHEMA_VERSION } from '../../src/ledger/database/schema.ts';
import { LedgerSchemaError, WriterTooOldError } from '../../src/ledger/errors.ts';
import { inspectLedger } from '../../src/ledger/inspect-ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openEngine, openLedger } from '../../src/ledger/open-ledger.ts';
import type { KeyRing } from '../../src/protection/keys/key-ring.ts';
import { attempted, claimOf, consentOf, decisionOf, outcomeOf, RECORD, TRACE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';
import { openHolds } from './work-rows.ts';

const NEXT = SCHEMA_VERSION + 1;

/**
 * Migrates as the `setup` of a future version does; `oldestWriter` is set if that version has a fence. Returns when, in
 * milliseconds since 1970 by the database's clock.
 */
async function migrateToNext(url: string, oldestWriter: number): Promise<number> {
  const engine = await openEngine(url);
  const [row] = await engine.migrate((session) =>
    session.rows<{ now: number }>(
      `UPDATE ledger_identity SET schema_version = $1, oldest_writer = $2 RETURNING ${session.dialect.now} AS now`,
      [NEXT, oldestWriter],
    ),
  );
  await engine.close();
  return row?.now ?? 0;
}

async function assertRefused(url: string, keyRing: KeyRing, words: string): Promise<void> {
  const isRefused = (error: unknown) => error instanceof LedgerSchemaError && error.message.includes(words);
  const open = { url, environment: 'sandbox', keyRing } as const;
  await assert.rejects(openLedger(open), isRefused);
  await assert.rejects(openLedger({ ...open, create: true, migrate: true }), isRefused);
  await assert.rejects(inspectLedger(url), isRefused);
}

export function writerTests(opened: Open, backend: LedgerBackend): void {
  test('a migration that fails leaves the tables unchanged', async (t) => {
    const { url, ledger } = await opened(t);
    const engine = await openEngine(url);
    t.after(() => engine.close());
    const failing = engine.migrate(async (session) => {
      await session.rows('ALTER TABLE attempts ADD COLUMN half_done BIGINT');
      throw new Error('on purpose');
    });
    await assert.rejects(failing, /on purpose/);
    await assert.rejects(engine.read((session) => session.rows('SELECT half_done FROM attempts')));
    assert.equal((await engine.read(readIdentity))?.schemaVersion, SCHEMA_VERSION);
    assert.equal((await ledger.claim(claimOf(ledger))).kind, 'claimed');
  });

  test('an older program can no longer claim or decide, but still records the outcome of its attempt', async (t) => {
    const { url, ring, ledger, ledgerId } = await opened(t);
    assert.equal((await ledger.claim(claimOf(ledger))).kind, 'claimed');
    await attempted(ledger, { inquiry: { customerTraceNumber: 'HELD' } }, { state: 'unknown' });
    assert.equal(await ledger.mayWrite(), true);
    await migrateToNext(url, NEXT);
    assert.equal(await ledger.mayWrite(), false);

    assert.deepEqual(await ledger.claim(claimOf(ledger, { attempt: 2 })), { kind: 'writerTooOld' });
    const another = claimOf(ledger, { inquiry: { customerTraceNumber: 'B' } });
    assert.deepEqual(await ledger.claim(another), { kind: 'writerTooOld' });
    assert.equal(await ledger.inquiry('B'), null, 'no row of it');
    for (const write of refusedWrites(ledger)) await assert.rejects(write(), WriterTooOldError, String(write));
    const view = await ledger.inquiry('HELD');
    assert.deepEqual(view?.decisions, []);

    assert.equal(
      await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }), '{}'),
      'recorded',
    );
    assert.equal((await ledger.lookUp(ledgerId, TRACE))?.state, 'answered');
    const [read] = await ledger.reportsToCompare(ledgerId, [TRACE]);
    assert.equal(read && 'report' in read && read.report.body, '{}');

    await assert.rejects(
      openLedger({ url, environment: 'sandbox', keyRing: ring, create: true, migrate: true }),
      (error) => error instanceof LedgerSchemaError && error.message.includes('run a newer one'),
    );
  });

  test('a schema version without a fence lets older programs keep working and start', async (t) => {
    const { url, ledger, again } = await opened(t);
    await migrateToNext(url, 0);
    assert.equal((await ledger.claim(claimOf(ledger))).kind, 'claimed');
    const other = await again();
    await other.recordDecision(ledger.identity.ledgerId, claimOf(ledger).inquiry, decisionOf({ action: 'amend' }));
    assert.equal(other.identity.schemaVersion, NEXT);
  });

  test('a ledger that another build made under the same version is refused by what its tables lack', async (t) => {
    const { url, ring, ledger } = await opened(t);
    await ledger.close();
    for (const column of ['wrapped_key', 'chain_mac']) {
      await backend.execute(url, `ALTER TABLE ledger_identity DROP COLUMN ${column}`);
    }
    await assertRefused(url, ring, 'lack ledger_identity.wrapped_key, ledger_identity.chain_mac: another build');
  });

  test('a ledger of another build under the same version is refused if its rows need a column that is not filled', async (t) => {
    const { url, ring, ledger } = await opened(t);
    await ledger.close();
    await backend.execute(url, 'CREATE TABLE of_others (id BIGINT NOT NULL)');
    await backend.execute(url, 'ALTER TABLE attempts ADD COLUMN may_be_null BIGINT');
    await (await openLedger({ url, environment: 'sandbox', keyRing: ring })).close();
    await backend.execute(url, 'ALTER TABLE attempts ADD COLUMN send_by BIGINT NOT NULL DEFAULT 0');
    await assertRefused(url, ring, 'ask each row for attempts.send_by: another build');
  });

  test('every claim that is concurrent with a migration is committed before it or refused', async (t) => {
    const { url, ledger, again } = await opened(t);
    const ledgers = [ledger, await again(), await again()];
    let isOver = false;
    let claimed = 0;
    const storm = ledgers.map(async (each, who) => {
      for (let index = 0; !isOver; index++) {
        const customerTraceNumber = `STORM-${who}-${index}`;
        const digest = each.digest(customerTraceNumber);
        const verdict = await each.claim(claimOf(each, { inquiry: { customerTraceNumber }, digest }));
        if (verdict.kind === 'claimed') claimed++;
        else assert.equal(verdict.kind, 'writerTooOld');
        // SQLite answers synchronously: this lets timers and the other ledgers run.
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    while (claimed < 30) await new Promise((resolve) => setTimeout(resolve, 5));
    const migratedAtMs = await migrateToNext(url, NEXT);
    const before = claimed;
    await new Promise((resolve) => setTimeout(resolve, 100));
    isOver = true;
    await Promise.all(storm);
    assert.ok(migratedAtMs > 0);
    const later = `SELECT claimed_at FROM attempts WHERE claimed_at > ${migratedAtMs}`;
    assert.deepEqual((await backend.execute(url, later)) as unknown[], []);
    assert.ok(claimed - before <= ledgers.length, 'those that had their answer on the way');
  });
}

/** Returns one write of each kind, since each goes through the same check. */
function refusedWrites(ledger: Ledger): (() => Promise<unknown>)[] {
  const { ledgerId } = ledger.identity;
  const held = { customerTraceNumber: 'HELD' };
  const authorization = { by: 'records', reason: 'kept long enough' };
  return [
    () => ledger.recordDecision(ledgerId, claimOf(ledger, { inquiry: held }).inquiry, decisionOf(held)),
    () => ledger.recordConsents(ledgerId, [consentOf()]),
    () => ledger.flagPostedShares(ledgerId, consentOf({ decision: 'revoked' })),
    () => ledger.recordSeen(ledgerId, { ...held, decisionId: 'D', by: 'ops', reason: 'seen' }),
    () => ledger.retention.setLegalHold('J-1', { ...authorization, matter: '2026-17' }),
    () => ledger.retention.begin('J-1', authorization),
    () => openHolds(ledger, [{}]),
    () => ledger.tasks.flag(ledgerId, { reason: 'reportChanged', customerTraceNumber: TRACE }),
    () => ledger.tasks.close(ledgerId, { runKey: 'J-1', until: '2026-01-02T03:04:05Z' }),
    () => {
      const who = { by: 'ops', reason: 'seen', decidedAt: '2026-01-02T03:04:05Z' };
      return ledger.recordSeen(ledgerId, { runKey: 'J-1', decisionId: 'D-7', flag: 'ssnMismatch', ...who });
    },
  ];
}
