/** The chain that reveals tampering with consents and decisions (audit-chain.ts), and what was disposed of or held. */
import type { SqlDialect } from '../sql-session.ts';

export function auditTables({ guardRows }: SqlDialect): string[] {
  return [
    `CREATE TABLE audit_chain (
      position BIGINT PRIMARY KEY,
      row_table TEXT NOT NULL,
      -- The row's primary key, as a JSON list.
      row_key TEXT NOT NULL,
      previous TEXT NOT NULL,
      hash TEXT NOT NULL,
      UNIQUE (row_table, row_key)
    )`,
    // `migrateLedger` makes its one row, since that takes the ledger's key.
    `CREATE TABLE audit_head (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      entries BIGINT NOT NULL,
      hash TEXT NOT NULL,
      mac TEXT NOT NULL
    )`,
    `CREATE TABLE retention_events (
      event_id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      -- NULL: all of it.
      product_code TEXT,
      kind TEXT NOT NULL,
      recorded_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      details TEXT,
      recorded_at BIGINT NOT NULL
    )`,
    'CREATE INDEX retention_events_of_owner ON retention_events (owner_id, kind)',
    ...guardRows('audit_chain', 'appendOnly'),
    ...guardRows('audit_head', 'keepRows'),
    ...guardRows('retention_events', 'appendOnly'),
  ];
}
