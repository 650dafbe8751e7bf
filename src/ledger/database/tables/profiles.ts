/** What people decide about gateway profiles: pauses, with the inquiries that wait for their end, and changes under which runs go on. */
import type { SqlDialect } from '../sql-session.ts';

export function profileTables({ guardRows }: SqlDialect): string[] {
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
    `CREATE TABLE approved_profile_changes (
      profile TEXT NOT NULL,
      from_fingerprint TEXT NOT NULL,
      to_fingerprint TEXT NOT NULL,
      -- The profile as it is after the change.
      token_url TEXT NOT NULL,
      request_url TEXT NOT NULL,
      audience TEXT NOT NULL,
      approved_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (profile, from_fingerprint, to_fingerprint)
    )`,
    ...guardRows('inquiry_pauses', 'appendOnly'),
    ...guardRows('approved_profile_changes', 'appendOnly'),
  ];
}
