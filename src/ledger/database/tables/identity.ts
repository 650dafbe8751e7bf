/** Which ledger this is, the version of its tables, and how it finds that it was restored. */
import type { SqlDialect } from '../sql-session.ts';

export function identityTables({ bytes, guardRows }: SqlDialect): string[] {
  return [
    `CREATE TABLE ledger_schema (
      version BIGINT PRIMARY KEY,
      applied_at BIGINT NOT NULL,
      -- The lowest version that may write to these tables. NULL: this version asks no more than the one before.
      oldest_writer BIGINT
    )`,
    `CREATE TABLE ledger_identity (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      ledger_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      -- The ledger's own secret, wrapped by the key ring: LedgerCipher derives the digest key from it.
      secret_key_id TEXT NOT NULL,
      secret_wrapped ${bytes} NOT NULL
    )`,
    // The last place in the sequence of all attempts.
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
    ...guardRows('ledger_identity', 'keepRows'),
    ...guardRows('attempt_counter', 'keepRows'),
    ...guardRows('ledger_restores', 'appendOnly'),
  ];
}
