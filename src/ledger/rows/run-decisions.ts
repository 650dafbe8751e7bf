/** Rows of `run_decisions`: what people decided about runs. They permit nothing: a claim never reads them. */
import { chaining, columnsOf } from '../audit/audit-chain.ts';
import type { SqlRow } from '../database/sql-session.ts';
import type { Writing } from '../database/writing.ts';
import type { RunDecision } from '../run-decisions.ts';
import { insertRow } from './inquiry-writes.ts';

/** As `Ledger.recordRunDecisions`; returns whether a row was written. */
export async function insertRunDecisions(writing: Writing, decisions: readonly RunDecision[]): Promise<boolean> {
  const { session, dialect } = writing;
  let isNew = false;
  await chaining(writing, async (append) => {
    for (const { ownerId, decisionId, decidedAt, ...decision } of decisions) {
      const standing = await session.rows<SqlRow>(
        'SELECT * FROM run_decisions WHERE owner_id = $1 AND decision_id = $2',
        [ownerId, decisionId],
      );
      const content = {
        ...{ action: decision.action, stage: decision.stage ?? null, share_id: decision.shareId ?? null },
        ...{ wait_until: decision.until ?? null, closing_date: decision.closingDate ?? null },
        ...{ decided_by: decision.by, reason: decision.reason },
      };
      if (standing.some((row) => Object.entries(content).every(([column, value]) => row[column] === value))) continue;
      const key = { owner_id: ownerId, decision_id: decisionId, version: String(standing.length + 1) };
      const row = await insertRow(
        session,
        'run_decisions',
        { ...key, ...content, decided_at: decidedAt },
        { sql: { recorded_at: dialect.now }, returning: columnsOf('run_decisions') },
      );
      if (!row) throw new Error('an insert that returned nothing');
      await append('run_decisions', row);
      isNew = true;
    }
  });
  return isNew;
}
