/** The tables of what needs a person: runs that hold, and what was flagged. */
import type { SqlDialect } from '../sql-session.ts';

export function workTables({ guardRows }: SqlDialect): string[] {
  return [
    `CREATE TABLE work_for_people (
      work_id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      -- held or flagged
      kind TEXT NOT NULL,
      reason TEXT NOT NULL,
      since BIGINT NOT NULL,
      profile TEXT NOT NULL,
      end_user_code TEXT,
      end_user TEXT,
      product_code TEXT,
      share_id TEXT,
      -- NULL: it is about a run, and about none of its inquiries.
      customer_trace_number TEXT,
      attempt BIGINT,
      -- What else the run says of its hold, as JSON. NULL: the ledger's own rows say it.
      details TEXT,
      -- The run's clock when the run said so last. NULL: a transaction of the ledger has caused it.
      noted_at BIGINT,
      closed_at BIGINT,
      -- decided, overtaken, seen, claimed, replaced, ended or disposed
      closed_how TEXT,
      -- The decision's id.
      closed_by TEXT
    )`,
    // An inquiry waits for one decision at a time.
    `CREATE UNIQUE INDEX work_held_once ON work_for_people (customer_trace_number)
     WHERE kind = 'held' AND closed_at IS NULL`,
    `CREATE UNIQUE INDEX work_flagged_once ON work_for_people (owner_id, reason, (coalesce(customer_trace_number, '')))
     WHERE kind = 'flagged' AND closed_at IS NULL`,
    // A page, and the counts: few are open among all that there ever were.
    'CREATE INDEX work_open ON work_for_people (since, work_id) WHERE closed_at IS NULL',
    'CREATE INDEX work_open_by_reason ON work_for_people (kind, reason, since) WHERE closed_at IS NULL',
    'CREATE INDEX work_of_inquiry ON work_for_people (customer_trace_number)',
    'CREATE INDEX work_of_owner ON work_for_people (owner_id)',
    ...guardRows('work_for_people', 'keepRows'),
    // Runs that were reset, and when they last said so, by their clock: earlier notes of theirs open nothing.
    `CREATE TABLE work_of_resets (
      owner_id TEXT PRIMARY KEY,
      noted_at BIGINT NOT NULL
    )`,
    ...guardRows('work_of_resets', 'keepRows'),
  ];
}
