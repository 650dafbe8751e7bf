/**
 * Columns and fields: `share_id` of a row is `shareId` of an object, and NULL is an absent field. A list of columns says
 * which of them an object has; it is read and written by the same list.
 */
import { utcInstant } from '../../base/instants.ts';
import type { SqlValue } from './sql-session.ts';

type FieldName<Column> = Column extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<FieldName<Rest>>}`
  : Column;
type ColumnName<Field> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnName<Rest>}`
  : Field;

/** The columns that hold an object's fields. */
export type Columns<Fields> = {
  [Field in keyof Fields as ColumnName<Field>]-?: object extends Pick<Fields, Field>
    ? Fields[Field] | null
    : Fields[Field];
};

type FieldsOf<Row, Column extends keyof Row> = {
  [Name in Column as null extends Row[Name] ? never : FieldName<Name>]: Row[Name];
} & { [Name in Column as null extends Row[Name] ? FieldName<Name> : never]?: NonNullable<Row[Name]> };

/** These columns of the row, as fields. */
export function toFields<Row extends object, Column extends keyof Row & string>(
  row: Row,
  columns: readonly Column[],
): FieldsOf<Row, Column> {
  const set = columns.filter((column) => row[column] !== null && row[column] !== undefined);
  return Object.fromEntries(set.map((column) => [fieldName(column), row[column]])) as FieldsOf<Row, Column>;
}

type InstantsOf<Row, Column extends keyof Row> = {
  [Name in Column as null extends Row[Name] ? never : FieldName<Name>]: string;
} & { [Name in Column as null extends Row[Name] ? FieldName<Name> : never]?: string };

/** These columns of the row, which hold milliseconds, as fields in RFC 3339. */
export function toInstants<Column extends string, Row extends { readonly [Name in Column]: number | null }>(
  row: Row,
  columns: readonly Column[],
): InstantsOf<Row, Column> {
  const set = columns.flatMap((column) => {
    const ms = row[column];
    return ms === null ? [] : [[fieldName(column), utcInstant(ms)]];
  });
  return Object.fromEntries(set) as InstantsOf<Row, Column>;
}

/** The columns of a row that holds these fields; any other field of the object is left out. */
export function columnsFrom<Column extends string>(
  fields: NoInfer<{ readonly [Name in Column as FieldName<Name>]?: SqlValue | undefined }>,
  columns: readonly Column[],
): Record<string, SqlValue | undefined> {
  const values = fields as Readonly<Record<string, SqlValue | undefined>>;
  return Object.fromEntries(columns.map((column) => [column, values[fieldName(column)]]));
}

function fieldName(column: string): string {
  return column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
