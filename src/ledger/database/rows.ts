/**
 * Rows and objects: `share_id` of a row is `shareId` of an object, and NULL is an absent member. What a column holds is
 * declared in tables.ts; here it is read and written by that. Also the statements that many subjects share.
 */
import { parseInstantMs, toUtcInstant } from '../../base/instants.ts';
import { LedgerUnavailableError } from '../errors.ts';
import type { SqlDialect, SqlRow, SqlSession, SqlValue } from './sql-session.ts';
import { listColumns, type Row, TABLES, type Table, type TableName } from './tables.ts';

const COLUMNS = Object.values<Table>(TABLES).flatMap(({ columns }) => Object.entries(columns));
/** The meaning of columns that hold more than their type says. The last ones are those of statements, and of no table. */
const HOLDS = new Map([
  ...COLUMNS.flatMap(([name, { holds }]) => (holds ? [[name, holds] as const] : [])),
  ...['has_proof', 'answered_late', 'refusal_kept', 'closed'].map((name) => [name, 'flag'] as const),
  ['oldest', 'instant'] as const,
]);

/**
 * Lets work run statements by the one way that an engine has. It ends with the work: a later statement would not be part
 * of the transaction.
 */
export async function runInSession<T>(
  dialect: SqlDialect,
  run: (text: string, values: readonly (SqlValue | undefined)[]) => Promise<SqlRow[]> | SqlRow[],
  work: (session: SqlSession) => Promise<T>,
): Promise<T> {
  let isOver = false;
  const rows = async (text: string, values: readonly (SqlValue | undefined)[] = []) => {
    if (isOver) throw new LedgerUnavailableError('the transaction is over');
    return run(text, values);
  };
  try {
    return await work({
      dialect,
      rows: rows as SqlSession['rows'],
      read: async (text, values) => (await rows(text, values)).map(toObject) as never,
    });
  } finally {
    isOver = true;
  }
}

export function toObject(row: SqlRow): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    if (value !== null && value !== undefined) members[toMemberName(column)] = decode(column, value);
  }
  return members;
}

function decode(column: string, value: unknown): unknown {
  // A statement may give the name of an instant, too.
  const holds = HOLDS.get(column) ?? (column.endsWith('_at') ? 'instant' : undefined);
  if (holds === 'json') return JSON.parse(String(value));
  if (holds === 'flag') return value === 1;
  return holds === 'instant' && typeof value === 'number' ? toUtcInstant(value) : value;
}

/** The value of a column, as a statement takes it. */
export function encode(column: string, value: unknown): SqlValue {
  if (value === undefined) return null;
  const holds = HOLDS.get(column);
  if (holds === 'json') return JSON.stringify(value);
  if (holds === 'instant' && typeof value === 'string') return parseInstantMs(value);
  return holds === 'flag' ? Number(value) : (value as SqlValue);
}

/** The column that holds this member of an object. */
export function toColumnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const MEMBERS = new Map<string, string>();

/** The member of an object that holds this column. */
export function toMemberName(column: string): string {
  const member = MEMBERS.get(column) ?? column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  MEMBERS.set(column, member);
  return member;
}

/** Makes a value a parameter of a statement, and returns its place: `$3`. */
export type Place = (value: SqlValue) => string;

export interface InsertOptions {
  /** The columns whose value is an expression and no parameter. */
  sql?: (place: Place) => Record<string, string>;
  /** An existing row of this key stays. */
  orKeep?: boolean;
}

/**
 * Inserts an object as a row, with the time of the database's clock; members that the table does not have are left out.
 * Returns the inserted row, if the statement inserted one.
 */
export async function insertRow<Name extends TableName>(
  session: SqlSession,
  table: Name,
  fields: Partial<Row<Name>>,
  options?: InsertOptions,
): Promise<Row<Name> | undefined> {
  const row = await insertRaw(session, table, fields, options);
  return row && (toObject(row) as Row<Name>);
}

/** Does what `insertRow` does, and returns the row as the database has it. */
export async function insertRaw<Name extends TableName>(
  session: SqlSession,
  table: Name,
  fields: Partial<Row<Name>>,
  { sql = () => ({}), orKeep = false }: InsertOptions = {},
): Promise<SqlRow | undefined> {
  const given: Readonly<Record<string, unknown>> = fields;
  const columns = listColumns(table, (_, column) => (given[toMemberName(column)] ?? null) !== null);
  const values = columns.map((column) => encode(column, given[toMemberName(column)]));
  const places = values.map((_, index) => `$${index + 1}`);
  const stamps = listColumns(table, ({ isStamp }) => isStamp === true).map((column) => [column, session.dialect.now]);
  const expressions = { ...Object.fromEntries(stamps), ...sql((value) => `$${values.push(value)}`) };
  const [row] = await session.rows(
    `INSERT INTO ${table} (${[...columns, ...Object.keys(expressions)].join(', ')})
     VALUES (${[...places, ...Object.values(expressions)].join(', ')})
     ${orKeep ? 'ON CONFLICT DO NOTHING' : ''} RETURNING *`,
    values,
  );
  return row;
}

/** A condition on the column of this name. */
export type Condition = (column: string, place: Place) => string;

/** The column has one of these values. PostgreSQL takes no empty list, and an empty one finds nothing. */
export function isIn(values: readonly SqlValue[]): Condition {
  return (column, place) => (values.length === 0 ? '1 = 0' : `${column} IN (${values.map(place).join(', ')})`);
}

export function isAtMost(value: number): Condition {
  return (column, place) => `${column} <= ${place(value)}`;
}

export const IS_SET: Condition = (column) => `${column} IS NOT NULL`;

/** The members that rows are found by: `null` finds those that lack it. */
export type Members<Row> = { readonly [Member in keyof Row]?: Row[Member] | null | Condition };

/** The conditions on these members of the rows of an alias, with their values at `$1` and so on. `place` adds a value. */
export function hasMembers(members: object, alias = '') {
  const values: SqlValue[] = [];
  const place: Place = (value) => `$${values.push(value)}`;
  const conditions = Object.entries(members).map(([member, value]: [string, unknown]) => {
    const column = toColumnName(member);
    // A caller that lost a value would find other rows.
    if (value === undefined) throw new Error(`a condition on ${column} without a value`);
    if (typeof value === 'function') return (value as Condition)(`${alias}${column}`, place);
    return `${alias}${column} ${value === null ? 'IS NULL' : `= ${place(encode(column, value))}`}`;
  });
  return { sql: conditions.join(' AND '), values, place };
}

/** Reads the rows of a table that have these members. @param then the end of the statement: order, limit, lock */
export function readRows<Name extends TableName>(
  session: SqlSession,
  table: Name,
  members: Members<Row<Name>>,
  then = '',
): Promise<Row<Name>[]> {
  const { sql, values } = hasMembers(members);
  return session.read(`SELECT * FROM ${table} WHERE ${sql} ${then}`, values);
}

/** In an update: an expression, given that of the database's clock. */
export type Expression = (now: string, place: Place, column: string) => string;

/** In an update: the time of the database's clock. */
export const NOW: Expression = (now) => now;

/** In an update: this value, where the column has none yet. */
export function ifUnset(value: SqlValue): Expression {
  return (_now, place, column) => `coalesce(${column}, ${place(value)})`;
}

/**
 * Updates the rows that have these members, and returns how many there were. A member that is `undefined` becomes NULL.
 */
export async function updateRows<Name extends TableName>(
  session: SqlSession,
  table: Name,
  members: Members<Row<Name>>,
  change: { readonly [Member in keyof Row<Name>]?: Row<Name>[Member] | Expression | undefined },
): Promise<number> {
  const { sql, values, place } = hasMembers(members);
  const set = Object.entries(change).map(([member, value]) => {
    const column = toColumnName(member);
    const isExpression = typeof value === 'function';
    return `${column} = ${isExpression ? value(session.dialect.now, place, column) : place(encode(column, value))}`;
  });
  return (await session.rows(`UPDATE ${table} SET ${set.join(', ')} WHERE ${sql} RETURNING 1`, values)).length;
}
