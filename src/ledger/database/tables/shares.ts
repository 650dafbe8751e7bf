/** Which report a share is of, and shares that were taken back. */
import type { SqlDialect } from '../sql-session.ts';

export function shareTables({ guardRows }: SqlDialect): string[] {
  return [
    `CREATE TABLE report_shares (
      owner_id TEXT NOT NULL,
      share_id TEXT NOT NULL,
      reference_digest TEXT NOT NULL,
      -- Whose report it is, where a caller said so; else the report's own inquiry tells.
      report_end_user_code TEXT,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (owner_id, share_id)
    )`,
    'CREATE INDEX report_shares_of_report ON report_shares (reference_digest)',
    'CREATE INDEX report_shares_by_id ON report_shares (share_id)',
    // Taken back by the platform before they were sent.
    `CREATE TABLE withdrawn_shares (
      owner_id TEXT NOT NULL,
      share_id TEXT NOT NULL,
      -- The share that takes its place. NULL: none does.
      replaced_by TEXT,
      withdrawn_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (owner_id, share_id)
    )`,
    ...guardRows('report_shares', 'appendOnly'),
    ...guardRows('withdrawn_shares', 'appendOnly'),
  ];
}
