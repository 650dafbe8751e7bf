/** The version of a ledger's tables, the programs that may write to it, and the way to a newer version. */

import type { SqlDialect, SqlSession } from './sql-session.ts';
import { createTables } from './tables.ts';

// The ledger's tables, as a list of versions; both engines run the same ones. Instants are milliseconds since 1970.

/**
 * Until 1.0.0 is tagged the first version changes in place. Afterwards an entry is never changed, so the statements of the
 * first one are kept as text then: a new version is a new entry. Workers of the version before run on beside it (docs/deploy.md, "Upgrading"). So an entry removes nothing that
 * they need to record how an attempt ended. Their columns of `inquiries`, `attempts`, `reports` and `report_references`
 * stay, and new columns take NULL.
 */
const MIGRATIONS: readonly ((dialect: SqlDialect) => string[])[] = [createTables];

/**
 * Versions of the tables that bring a fence which older code does not keep, or remove something that it needs. Code
 * below the highest of them writes nothing more.
 */
export const WITHOUT_OLDER_WRITERS: readonly number[] = [];

/** The version that this code works on, and under which it writes (transactions.ts). */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The present version of the tables; 0 where there are none. */
export async function readSchemaVersion(session: SqlSession, dialect: SqlDialect): Promise<number> {
  const found = await session.rows(dialect.tableExists, ['ledger_identity']);
  if (found.length === 0) return 0;
  const [row] = await session.rows<{ schema_version: number }>('SELECT schema_version FROM ledger_identity');
  return row?.schema_version ?? 0;
}

/** Returns the lowest version that may write; 0: any. */
export async function readOldestWriter(session: SqlSession): Promise<number> {
  const [row] = await session.rows<{ oldest_writer: number }>('SELECT oldest_writer FROM ledger_identity');
  return row?.oldest_writer ?? 0;
}

/** Migrates the tables to the version of this code, within the caller's transaction. */
export async function migrate(session: SqlSession, dialect: SqlDialect, from: number): Promise<void> {
  for (const statement of MIGRATIONS.slice(from).flatMap((migration) => migration(dialect))) {
    await session.rows(statement);
  }
}

/** Notes in the ledger's identity which version its tables have now, and which one may write to them. */
export async function noteVersion(session: SqlSession, dialect: SqlDialect): Promise<void> {
  await session.rows(
    `UPDATE ledger_identity SET schema_version = $1, oldest_writer = $2, migrated_at = ${dialect.now}`,
    [SCHEMA_VERSION, Math.max(0, ...WITHOUT_OLDER_WRITERS)],
  );
}
