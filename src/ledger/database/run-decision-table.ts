/** What people decide about a run itself: part of version 10. */
import type { SqlDialect } from './sql-session.ts';

export function runDecisionTable(dialect: SqlDialect): string[] {
  return [
    `CREATE TABLE run_decisions (
      caller_id TEXT NOT NULL,
      decision_id TEXT NOT NULL,
      -- From 1, as text. Another one only where other content came under the id: a run that was reset has forgotten the first.
      version TEXT NOT NULL,
      -- extend, skip, acceptAge, setClosingDate or seen
      action TEXT NOT NULL,
      stage TEXT,
      share_id TEXT,
      wait_until TEXT,
      closing_date TEXT,
      decided_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      decided_at TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (caller_id, decision_id, version)
    )`,
    ...dialect.guardRows('run_decisions', 'appendOnly'),
  ];
}
