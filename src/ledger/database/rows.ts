/**
 * Rows and objects: `share_id` of a row is `shareId` of an object, and NULL is an absent member. What a column holds is
 * declared in tables.ts; here it is read and written by that.
 */
import { utcInstant } from '../../base/instants.ts';
import type { FieldsOf, FieldsToWrite } from './columns.ts';
import type { SqlRow, SqlSession, SqlValue } from './sql-session.ts';
import { listColumns, type RawRow, TABLES, type TableName } from './tables.ts';

type ColumnName<Field> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnName<Rest>}`
  : Field;

/** The columns that hold an object's members, where a statement and no table gives them their names. */
export type Columns<Fields> = {
  [Field in keyof Fields as ColumnName<Field>]-?: object extends Pick<Fields, Field>
    ? Fields[Field] | null
    : Fields[Field];
};

const NAMES = Object.keys(TABLES) as TableName[];
const JSON_COLUMNS = new Set(NAMES.flatMap((name) => listColumns(name, ({ holds }) => holds === 'json')));
const FLAGS = new Set(['has_proof', ...NAMES.flatMap((name) => listColumns(name, ({ holds }) => holds === 'flag'))]);

/** The two ways to run a statement, over the one that an engine has. */
export function makeSession(
  rows: (text: string, values?: readonly (SqlValue | undefined)[]) => Promise<SqlRow[]>,
): SqlSession {
  return {
    rows: (text, values) => rows(text, values) as never,
    read: async (text, values) => (await rows(text, values)).map((row) => toFields(row)) as never,
  };
}

/** These columns of the row, as an object; without a list all of them. */
export function toFields<Row extends object, Column extends keyof Row & string>(
  row: Row,
  columns: readonly Column[] = Object.keys(row) as Column[],
): FieldsOf<Row, Column> {
  const fields = columns.flatMap((column) => {
    const value: unknown = row[column];
    return value === null || value === undefined ? [] : [[toFieldName(column), decode(column, value)]];
  });
  return Object.fromEntries(fields) as FieldsOf<Row, Column>;
}

function decode(column: string, value: unknown): unknown {
  if (JSON_COLUMNS.has(column)) return JSON.parse(String(value));
  if (FLAGS.has(column)) return value === 1;
  return column.endsWith('_at') && typeof value === 'number' ? utcInstant(value) : value;
}

/** The table's columns that hold this object; any other member of the object is left out. */
function toColumns<Name extends TableName>(
  table: Name,
  fields: FieldsToWrite<RawRow<Name>>,
  only: readonly string[] = listColumns(table, () => true),
): Record<string, SqlValue> {
  const values: Readonly<Record<string, unknown>> = fields;
  const columns = only.flatMap((column) => {
    const value = values[toFieldName(column)];
    return value === null || value === undefined ? [] : [[column, encode(column, value)]];
  });
  return Object.fromEntries(columns);
}

function encode(column: string, value: unknown): SqlValue {
  if (JSON_COLUMNS.has(column)) return JSON.stringify(value);
  return FLAGS.has(column) ? Number(value) : (value as SqlValue);
}

/** The column that holds this member of an object. */
export function toColumnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const MEMBERS = new Map<string, string>();

/** The member of an object that holds this column. */
function toFieldName(column: string): string {
  const known = MEMBERS.get(column);
  if (known !== undefined) return known;
  const member = column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  MEMBERS.set(column, member);
  return member;
}

/** Makes a value a parameter of a statement, and returns its place: `$3`. */
export type Place = (value: SqlValue) => string;

interface InsertOptions<Name extends TableName> {
  /** The columns whose value is an expression and no parameter. */
  sql?: (place: Place) => Record<string, string>;
  /** An existing row of this key stays. */
  orKeep?: boolean;
  /** Default: every column that the object has. */
  only?: readonly (keyof RawRow<Name> & string)[];
}

/** Inserts an object as a row. Returns the inserted row, if the statement inserted one. */
export async function insertRow<Name extends TableName>(
  session: SqlSession,
  table: Name,
  fields: FieldsToWrite<RawRow<Name>>,
  { sql = () => ({}), orKeep = false, only }: InsertOptions<Name> = {},
): Promise<RawRow<Name> | undefined> {
  const columns = toColumns(table, fields, only);
  const values = Object.values(columns);
  const places = values.map((_, index) => `$${index + 1}`);
  const expressions = sql((value) => `$${values.push(value)}`);
  const names = [...Object.keys(columns), ...Object.keys(expressions)].join(', ');
  const [row] = await session.rows<RawRow<Name>>(
    `INSERT INTO ${table} (${names}) VALUES (${[...places, ...Object.values(expressions)].join(', ')})
     ${orKeep ? 'ON CONFLICT DO NOTHING' : ''} RETURNING *`,
    values,
  );
  return row;
}
