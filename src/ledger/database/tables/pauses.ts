/** Pauses of a gateway profile or of all, and the inquiries that wait for their end. */
import type { SqlDialect } from '../sql-session.ts';

export function pauseTables({ guardRows }: SqlDialect): string[] {
  return [
    `CREATE TABLE inquiry_pauses (
      pause_id TEXT NOT NULL,
      -- begun or ended. Each pause has at most one row of either.
      kind TEXT NOT NULL,
      -- NULL: all profiles.
      profile TEXT,
      recorded_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (pause_id, kind)
    )`,
    // Whom `resume` wakes. Not a record: a row goes once its run was told.
    `CREATE TABLE paused_inquiries (
      customer_trace_number TEXT PRIMARY KEY,
      workflow_id TEXT NOT NULL,
      profile TEXT NOT NULL,
      noted_at BIGINT NOT NULL
    )`,
    ...guardRows('inquiry_pauses', 'appendOnly'),
  ];
}
