/** The tables by which a ledger finds that it was restored (a part of schema.ts). */
import type { SqlDialect } from './sql-session.ts';

/** The statements of migration 8. */
export function restoreTables(dialect: SqlDialect): string[] {
  return [
    // The place in the sequence of all attempts. NULL: claimed before the sequence existed.
    'ALTER TABLE attempts ADD COLUMN position BIGINT',
    'CREATE UNIQUE INDEX attempts_by_position ON attempts (position)',
    `CREATE TABLE attempt_counter (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      last_position BIGINT NOT NULL
    )`,
    'INSERT INTO attempt_counter VALUES (1, 0)',
    `CREATE TABLE ledger_restores (
      restore_id TEXT PRIMARY KEY,
      -- found: this attempt was seen, and is not here. accepted: this one was the ledger's newest then.
      kind TEXT NOT NULL,
      position BIGINT NOT NULL,
      claimed_at BIGINT NOT NULL,
      recorded_by TEXT NOT NULL,
      reason TEXT NOT NULL,
      recorded_at BIGINT NOT NULL
    )`,
    ...dialect.guardRows('attempt_counter', 'keepRows'),
    ...dialect.guardRows('ledger_restores', 'appendOnly'),
  ];
}
