import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows, runInSession, updateRows } from '../../src/ledger/database/rows.ts';
import type { SqlDialect, SqlValue } from '../../src/ledger/database/sql-session.ts';

test('rows are found by NULL where a member is null, and never by a member without a value', async () => {
  const asked: [string, readonly (SqlValue | undefined)[]][] = [];
  const run = (text: string, values: readonly (SqlValue | undefined)[]) => {
    asked.push([text.trim(), values]);
    return [];
  };
  await runInSession({ now: '0' } as SqlDialect, run, async (session) => {
    await readRows(session, 'operator_tasks', { runKey: 'J-1', closedAt: null });
    assert.deepEqual(asked, [['SELECT * FROM operator_tasks WHERE run_key = $1 AND closed_at IS NULL', ['J-1']]]);
    const lost = { runKey: undefined };
    assert.throws(() => readRows(session, 'operator_tasks', lost), /a condition on run_key without a value/);
    await assert.rejects(updateRows(session, 'operator_tasks', lost, { attempt: 2 }), /without a value/);
    assert.equal(asked.length, 1);
  });
});
