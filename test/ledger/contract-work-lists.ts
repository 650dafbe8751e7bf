/** Part of the contract suite: lists of operator tasks for readers with limited rights, and among very many rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SqlSession } from '../../src/ledger/database/sql-session.ts';
import { countTasks, readOpenTasks, type TaskFilters } from '../../src/ledger/holds/holds.ts';
import { openEngine } from '../../src/ledger/open-ledger.ts';
import { attempted, claimAs, RECORD, SHARE } from './fixtures.ts';
import type { LedgerBackend, Open } from './ledger-backend.ts';
import { openHolds, openWork } from './work-rows.ts';

export function workListTests(opened: Open, backend: LedgerBackend): void {
  test('a list with a filter has only the runs for the given profiles and end users', async (t) => {
    const { ledger, ledgerId } = await opened(t);
    const held = (inquiry: object) => attempted(ledger, { inquiry }, { state: 'unknown' });
    await held({ customerTraceNumber: 'A' });
    await held({ customerTraceNumber: 'B', runKey: 'J-2', profile: 'east' });
    // A journey for two end users.
    await held({ customerTraceNumber: 'C', runKey: 'J-3' });
    await attempted(
      ledger,
      { inquiry: { customerTraceNumber: 'D', runKey: 'J-3', productCode: 'PRECLOSE', endUserCode: 'EU3' } },
      { state: 'answered', answer: RECORD },
    );
    // A journey's share, for the secondary user EU2.
    await held({ ...SHARE, customerTraceNumber: 'S' });
    // A share by itself of a report that was pulled for EU3.
    const ofReport = { runKey: 'share:S-9', shareId: 'S-9', reportReferenceNumber: 'R-9', reportEndUserCode: 'EU3' };
    assert.equal(await ledger.recordShare(ledgerId, ofReport), true);
    await held({ ...SHARE, customerTraceNumber: 'T', runKey: 'share:S-9', shareId: 'S-9' });
    // A share of a report that the ledger does not know.
    await held({ ...SHARE, customerTraceNumber: 'U', runKey: 'share:S-8', shareId: 'S-8' });
    await claimAs(ledger, { inquiry: { customerTraceNumber: 'Z', runKey: 'J-9' }, answerWithinMs: 0 });

    const names = async (filters: object) => {
      const rows = await openWork(ledger, filters, 2);
      const counts = await ledger.tasks.counts(filters);
      const counted = counts.reduce((sum, { count }) => sum + count, 0);
      assert.equal(counted, rows.length, 'the counts have the same filters');
      return rows
        .map((row) => row.customerTraceNumber)
        .sort()
        .join('');
    };
    assert.equal(await names({}), 'ABCSTUZ');
    assert.equal(await names({ profiles: ['east'] }), 'B');
    assert.equal(await names({ profiles: ['default', 'east'] }), 'ABCSTUZ');
    assert.equal(await names({ profiles: [] }), '');
    assert.equal(await names({ endUsers: ['EU1'] }), 'ABSZ');
    assert.equal(await names({ endUsers: ['EU3'] }), 'T');
    assert.equal(await names({ endUsers: ['EU1', 'EU3'] }), 'ABCSTZ');
    assert.equal(await names({ endUsers: ['EU2'] }), '', 'a secondary user sees no share of others');
    assert.equal(await names({ endUsers: [] }), '');
    assert.equal(await names({ endUsers: ['EU1'], profiles: ['east'], kind: 'held' }), 'B');
    assert.equal(await names({ endUsers: ['EU1'], runKey: 'J-1' }), 'AS');
    assert.equal(await names({ endUserCode: 'EU2' }), 'STU');

    const madeFor = async (runKey: string) => {
      const { profiles, endUsers } = await ledger.madeFor(runKey);
      return [new Set(profiles), new Set(endUsers)].map((names) => [...names].sort().join());
    };
    assert.deepEqual(await madeFor('share:S-9'), ['default', 'EU3']);
    assert.deepEqual(await madeFor('share:S-8'), ['default', '']);
    assert.deepEqual(await madeFor('J-1'), ['default', 'EU1'], 'without the secondary user of its share');
    assert.deepEqual(await madeFor('J-3'), ['default', 'EU1,EU3']);
    // A run that is held before its first claim.
    await openHolds(ledger, [{ inquiry: { customerTraceNumber: 'Y', runKey: 'J-EARLY', endUserCode: 'EU7' } }]);
    assert.deepEqual(await madeFor('J-EARLY'), ['default', 'EU7']);
    assert.deepEqual(await madeFor('J-NOBODY'), ['', '']);
  });

  test('with ten thousand open rows, a page and the counts are read by indexes, and no row can be deleted', async (t) => {
    const { ledger, url } = await opened(t);
    await attempted(ledger, {}, { state: 'unknown' });
    await assert.rejects(backend.execute(url, 'DELETE FROM operator_tasks'));
    await backend.execute(url, manyRows());
    const { rows } = await ledger.tasks.open({ limit: 100, profiles: ['default'], endUsers: ['EU1'] });
    assert.deepEqual([rows.length, rows[0]?.customerTraceNumber], [100, 'N1']);
    const second = await ledger.tasks.open({ limit: 100, after: rows.at(-1) });
    assert.equal(second.rows[0]?.customerTraceNumber, 'N101');
    assert.deepEqual(
      (await ledger.tasks.counts({ endUsers: ['EU1'] })).map(({ reason, count }) => `${reason} ${count}`),
      ['GatewayUnreachable 7500', 'reportChanged 2500', 'OutcomeUnknown 1'],
    );

    // PostgreSQL would read small tables without an index.
    const never = "EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database())";
    if (backend.name !== 'SQLite') await backend.execute(url, `ANALYZE; DO $$ BEGIN ${never}; END $$`);
    const explain = backend.name === 'SQLite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
    const planOf = async (read: (tx: SqlSession) => Promise<unknown>) => {
      let statement = '';
      const session = {
        dialect,
        read: async (text: string, values: unknown[]) => {
          statement = spellOut(text, values);
          return [];
        },
      };
      await read(session as unknown as SqlSession);
      const plan = JSON.stringify(await backend.execute(url, `${explain} ${statement}`));
      assert.doesNotMatch(plan, /Seq Scan on (work|attempts|inquiries)|SCAN (operator_tasks|a|i)\b(?! USING)/, plan);
      return plan;
    };
    const engine = await openEngine(url);
    t.after(() => engine.close());
    const dialect = await engine.read(async (session) => session.dialect);
    const everything = { profiles: ['default'], endUsers: ['EU1', 'EU3'] };
    // A single attempt, which PostgreSQL finds by any of its indexes.
    const ofAttempts = backend.name === 'SQLite' ? /attempts_by_state/ : /Index Scan using attempts_/;
    for (const filters of [{}, { kind: 'held' }, everything] satisfies TaskFilters[]) {
      const after = { since: new Date(1).toISOString(), workId: 'x' };
      const page = await planOf((tx) => readOpenTasks(tx, { ...filters, after, limit: 100 }));
      const counts = await planOf((tx) => countTasks(tx, filters));
      assert.match(page, /work_open\b|work_open_by_reason/);
      assert.match(counts, /work_open|work_held_once/);
      for (const plan of [page, counts]) assert.match(plan, ofAttempts);
    }
  });
}

/** Returns the statement that inserts ten thousand open and as many closed rows. */
function manyRows(): string {
  return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO operator_tasks (work_id, run_key, kind, reason, since, profile, end_user_code, product_code,
      customer_trace_number, attempt, held_since, closed_at, closed_how)
    SELECT 'w' || i, 'J-' || i, CASE WHEN i % 4 = 0 THEN 'flagged' ELSE 'held' END,
      CASE WHEN i % 4 = 0 THEN 'reportChanged' ELSE 'GatewayUnreachable' END, i, 'default', 'EU1', 'PREQUAL', 'N' || i, 1, i,
      CASE WHEN i > 10000 THEN i END, CASE WHEN i > 10000 THEN 'ended' END
    FROM n`;
}

/** Writes the values into a statement, since `EXPLAIN` takes no parameters. */
function spellOut(text: string, values: readonly unknown[]): string {
  const literal = (value: unknown) => (typeof value === 'number' ? String(value) : `'${String(value)}'`);
  return text.replaceAll(/\$(\d+)/g, (_, place) => literal(values[Number(place) - 1]));
}
