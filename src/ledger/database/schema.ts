/** The version of a ledger's tables, the programs that may write to it, and the way to a newer version. */

import type { SqlDialect, SqlSession } from './sql-session.ts';
import { firstTables } from './tables.ts';

// The ledger's tables, as a list of versions; both engines run the same ones. Instants are milliseconds since 1970.

/**
 * Until 1.0.0 is tagged the first version changes in place. Afterwards an entry is never changed: a new version is a new
 * entry. Workers of the version before run on beside it (docs/deploy.md, "Upgrading"). So an entry removes nothing that
 * they need to record how an attempt ended. Their columns of `inquiries`, `attempts`, `reports` and `report_references`
 * stay, and new columns take NULL.
 */
const MIGRATIONS: readonly ((dialect: SqlDialect) => string[])[] = [firstTables];

/**
 * Versions of the tables that bring a fence which older code does not keep, or remove something that it needs. Code
 * below the highest of them writes nothing more.
 */
export const WITHOUT_OLDER_WRITERS: readonly number[] = [];

/** The version that this code works on, and under which it writes (transactions.ts). */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The present version of the tables; 0 where there are none. */
export async function schemaVersionOf(session: SqlSession, dialect: SqlDialect): Promise<number> {
  const found = await session.rows(dialect.tableExists, ['ledger_schema']);
  if (found.length === 0) return 0;
  const [row] = await session.rows<{ version: number | null }>('SELECT max(version) AS version FROM ledger_schema');
  return row?.version ?? 0;
}

/** The lowest version that may write; 0: any. */
export async function oldestWriterOf(session: SqlSession): Promise<number> {
  const [row] = await session.rows<{ oldest: number | null }>(`SELECT (${OLDEST_WRITER}) AS oldest`);
  return row?.oldest ?? 0;
}

/** Scalar subquery for that version, for statements that also read something else. */
export const OLDEST_WRITER = 'SELECT coalesce(max(oldest_writer), 0) FROM ledger_schema';

/** The names of all tables at a version. */
export function tablesAt(version: number, dialect: SqlDialect): string[] {
  const statements = MIGRATIONS.slice(0, version).flatMap((migration) => migration(dialect));
  const dropped = statements.map((statement) => /^DROP TABLE (\w+)/.exec(statement)?.[1]);
  return statements
    .flatMap((statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1] ?? [])
    .filter((table) => !dropped.includes(table));
}

/** Brings the tables from one version to this code's own. The caller's transaction makes it all or nothing. */
export async function migrate(
  session: SqlSession,
  dialect: SqlDialect,
  from: number,
  to = SCHEMA_VERSION,
  onVersion: (version: number) => void = () => {},
): Promise<void> {
  for (const [index, statements] of MIGRATIONS.entries()) {
    if (index < from || index >= to) continue;
    onVersion(index + 1);
    for (const statement of statements(dialect)) await session.rows(statement);
    const version = index + 1;
    await session.rows(`INSERT INTO ledger_schema (version, applied_at) VALUES ($1, ${dialect.now})`, [version]);
    if (!WITHOUT_OLDER_WRITERS.includes(version)) continue;
    await session.rows('UPDATE ledger_schema SET oldest_writer = $1 WHERE version = $1', [version]);
  }
}
