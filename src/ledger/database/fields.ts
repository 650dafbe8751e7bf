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

/** A time in milliseconds is read as RFC 3339; one that a message brought is kept as it came. */
type FieldValue<Name, Value> = Name extends `${string}_at` ? string : Value;

type FieldsOf<Row, Column extends keyof Row> = {
  [Name in Column as null extends Row[Name] ? never : FieldName<Name>]: FieldValue<Name, Row[Name]>;
} & {
  [Name in Column as null extends Row[Name] ? FieldName<Name> : never]?: FieldValue<Name, NonNullable<Row[Name]>>;
};

/** These columns of the row, as fields; without a list all of them. */
export function toFields<Row extends object, Column extends keyof Row & string>(
  row: Row,
  columns: readonly Column[] = Object.keys(row) as Column[],
): FieldsOf<Row, Column> {
  const fields = columns.flatMap((column) => {
    const value: unknown = row[column];
    if (value === null || value === undefined) return [];
    const isTime = column.endsWith('_at') && typeof value === 'number';
    return [[fieldName(column), isTime ? utcInstant(value) : value]];
  });
  return Object.fromEntries(fields) as FieldsOf<Row, Column>;
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
