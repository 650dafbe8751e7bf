/** The version of a ledger's tables, the programs that may write to it, and the way to a newer version. */

import { LedgerChangedError, LedgerSchemaError } from '../errors.ts';
import { readRows } from './rows.ts';
import type { SqlDialect, SqlSession } from './sql-session.ts';
import { createTables, listColumns, type Row, TABLES, type TableName } from './tables.ts';

// The ledger's tables, as a list of versions; both engines run the same ones. Instants are milliseconds since 1970.

/**
 * Until 1.0.0 is tagged the first version changes in place. Afterwards an entry is never changed, so the statements of the
 * first one are kept as text then: a new version is a new entry. Workers of the version before run on beside it (docs/deploy.md, "Upgrading"). So an entry removes nothing that
 * they need to record how an attempt ended. Their columns of `inquiries`, `attempts`, `reports` and `report_references`
 * stay, and new columns take NULL.
 */
export const MIGRATIONS: readonly ((dialect: SqlDialect) => string[])[] = [createTables];

/** The version that this code works on, and under which it writes (transactions.ts). */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * The identity’s members after a migration by this code. `oldestWriter`: the latest version of the tables that brings a
 * fence which older code does not keep, or removes something that it needs. Older code writes nothing more.
 */
export const VERSIONS = { schemaVersion: SCHEMA_VERSION, oldestWriter: 0 };

/** Whether the ledger takes claims and decisions from programs of this version. */
export function mayWrite({ oldestWriter }: Pick<Row<'ledger_identity'>, 'oldestWriter'>): boolean {
  return oldestWriter <= SCHEMA_VERSION;
}

/**
 * Returns the ledger's identity; `undefined` where the database holds no ledger.
 *
 * @throws LedgerSchemaError where another build made the tables under this version's number, before 1.0.0
 */
export async function readIdentity(session: SqlSession): Promise<Row<'ledger_identity'> | undefined> {
  const found = await session.rows<{ name: string; is_required: number }>(session.dialect.columns);
  if (!found.some(({ name }) => name.startsWith('ledger_identity.'))) return undefined;
  const [identity] = await readRows(session, 'ledger_identity', { onlyRow: 1 });
  if (identity?.schemaVersion !== SCHEMA_VERSION) return identity;
  const tables = Object.keys(TABLES) as TableName[];
  const list = (has: Parameters<typeof listColumns>[1]) =>
    tables.flatMap((table) => listColumns(table, has).map((name) => `${table}.${name}`));
  const filled = list(({ isOptional }) => !isOptional);
  // The declared columns that the tables lack, and those that take no NULL and that this code does not fill.
  const lacking = list(() => true).filter((declared) => !found.some(({ name }) => name === declared));
  const required = found.filter(({ name, is_required }) => is_required === 1 && !filled.includes(name));
  const unknown = required.flatMap(({ name }) => (tables.some((table) => name.startsWith(`${table}.`)) ? name : []));
  if (lacking.length + unknown.length === 0) return identity;
  const how = [
    ...(lacking.length > 0 ? [`lack ${lacking.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`ask each row for ${unknown.join(', ')}`] : []),
  ].join(' and ');
  throw new LedgerSchemaError(
    `the ledger's tables ${how}: another build from before 1.0.0 made them, and only that one can use them. This one needs a ` +
      'new ledger, at another LEDGER_URL',
  );
}

/** Returns the identity of a ledger that was opened. @throws LedgerChangedError where it has none any more */
export async function requireIdentity(session: SqlSession, lock = ''): Promise<Row<'ledger_identity'>> {
  const [identity] = await readRows(session, 'ledger_identity', { onlyRow: 1 }, lock);
  if (!identity) throw new LedgerChangedError('the ledger has lost its identity');
  return identity;
}
