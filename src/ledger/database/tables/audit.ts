/** The chain that reveals tampering with consents and decisions (audit-chain.ts), what was disposed of, and legal holds. */
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
    `CREATE TABLE legal_holds (
      hold_id TEXT NOT NULL,
      -- legalHoldSet or legalHoldReleased. Each hold has at most one row of either.
      kind TEXT NOT NULL,
      -- The scope: a run, one row of a review, or a review with every row that it has or will have.
      owner_id TEXT NOT NULL,
      matter TEXT NOT NULL,
      recorded_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL,
      PRIMARY KEY (hold_id, kind)
    )`,
    'CREATE INDEX legal_holds_of_owner ON legal_holds (owner_id)',
    ...guardRows('audit_chain', 'appendOnly'),
    ...guardRows('audit_head', 'keepRows'),
    ...guardRows('retention_events', 'appendOnly'),
    ...guardRows('legal_holds', 'appendOnly'),
  ];
}
