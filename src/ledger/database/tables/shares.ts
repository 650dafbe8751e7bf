/** Which report a share is of, shares that were taken back, and those that name fewer consumers than their report. */
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
    `CREATE TABLE subset_shares (
      customer_trace_number TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      -- A JSON list: the applicants of the report whom the request does not name.
      left_out TEXT NOT NULL,
      -- The provider's confirmation, as it was configured when the attempt was claimed.
      confirmation_reference TEXT NOT NULL,
      confirmed_at TEXT NOT NULL,
      PRIMARY KEY (customer_trace_number, attempt),
      FOREIGN KEY (customer_trace_number, attempt) REFERENCES attempts
    )`,
    ...guardRows('report_shares', 'appendOnly'),
    ...guardRows('withdrawn_shares', 'appendOnly'),
    ...guardRows('subset_shares', 'appendOnly'),
  ];
}
