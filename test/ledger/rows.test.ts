import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_SET, isAtMost, isIn, readRows, runInSession, updateRows } from '../../src/ledger/database/rows.ts';
import type { SqlDialect, SqlValue } from '../../src/ledger/database/sql-session.ts';

test('rows are found by NULL where a member is null, by a condition on it, and never by a member without a value', async () => {
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
    const found = { profile: isIn(['east', 'west']), attempt: isAtMost(2), details: IS_SET };
    await readRows(session, 'operator_tasks', found);
    await updateRows(session, 'operator_tasks', { runKey: isIn([]) }, { attempt: 3 });
    assert.deepEqual(asked.slice(1), [
      [
        'SELECT * FROM operator_tasks WHERE profile IN ($1, $2) AND attempt <= $3 AND details IS NOT NULL',
        ['east', 'west', 2],
      ],
      ['UPDATE operator_tasks SET attempt = $1 WHERE 1 = 0 RETURNING 1', [3]],
    ]);
  });
});
