/** The parts of which tables.ts declares a table, and the types of its rows and of the objects that they hold. */

/** Marks a text or a number whose meaning only the type knows. */
declare const HOLDS: unique symbol;
/** JSON text of a value. */
export type Json<Value> = string & { readonly [HOLDS]: Value };
/** 1 for yes. */
export type Flag<Held extends boolean> = (0 | 1) & { readonly [HOLDS]: Held };

/** A column, and what a row has in it. */
export interface Column<Value> {
  type: 'TEXT' | 'BIGINT' | 'BYTES';
  holds?: 'json' | 'flag';
  isOptional?: boolean;
  /** The database's clock fills it when the row is inserted. */
  isStamp?: boolean;
  /** It changes, so no guard and no hash of the audit chain covers it. */
  isState?: boolean;
  constraint?: string;
  readonly value?: Value;
}

export const text = <Text extends string = string>(constraint?: string): Column<Text> => define('TEXT', constraint);
/** Whole numbers, and instants in milliseconds since 1970. */
export const int = (constraint?: string): Column<number> => define('BIGINT', constraint);
export const stamp = (): Column<number> => ({ type: 'BIGINT', isStamp: true });
export const bytes = (): Column<Uint8Array> => ({ type: 'BYTES' });
export const json = <Value>(): Column<Json<Value>> => ({ type: 'TEXT', holds: 'json' });
export const flag = <Held extends boolean = boolean>(): Column<Flag<Held>> => ({ type: 'BIGINT', holds: 'flag' });
/** NULL where an object lacks the member. */
export const optional = <Value>(column: Column<Value>): Column<Value | null> => ({ ...column, isOptional: true });
export const state = <Value>(column: Column<Value>): Column<Value | null> => ({ ...optional(column), isState: true });

function define(type: 'TEXT' | 'BIGINT', constraint = ''): { type: typeof type; constraint: string } {
  return { type, constraint };
}

/**
 * The rows that no statement deletes. `appendOnly`: nor does any change them. `keepSealed`: a `body` is never replaced,
 * only destroyed. `none`: rows may go.
 */
type Guard = 'appendOnly' | 'keepRows' | 'keepSealed' | 'none';

export interface Table {
  columns: Readonly<Record<string, Column<unknown>>>;
  /** The primary key. */
  key: readonly string[];
  /** Default: `appendOnly`, and where a column is state, every other column refuses a change. */
  guard?: Guard;
  /** The audit chain has an entry for each row (audit-chain.ts). */
  isChained?: boolean;
  constraints?: readonly string[];
  /** Each is the rest of a statement that begins with `CREATE INDEX` or `CREATE UNIQUE INDEX`. */
  indexes?: readonly string[];
  uniqueIndexes?: readonly string[];
}

/** The rows of a table. */
export type RowOf<T extends Table> = {
  [Name in keyof T['columns']]: T['columns'][Name] extends Column<infer Value> ? Value : never;
};

export type FieldName<Name> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<FieldName<Rest>>}`
  : Name;

type Decoded<Name, Value> =
  // A time in milliseconds is read as RFC 3339; one that a message brought is kept as it came.
  Value extends { readonly [HOLDS]: infer Held }
    ? Held
    : Name extends `${string}_at` | `${string}since` | 'resend_from'
      ? string
      : Value;

/** The object that these columns of a row hold: NULL is an absent member. */
export type FieldsOf<Row, Name extends keyof Row = keyof Row> = {
  [Each in Name as null extends Row[Each] ? never : FieldName<Each>]: Decoded<Each, Row[Each]>;
} & {
  [Each in Name as null extends Row[Each] ? FieldName<Each> : never]?: Decoded<Each, NonNullable<Row[Each]>>;
};

type Encoded<Value> = Value extends { readonly [HOLDS]: infer Held } ? Held : Value;

/** The members that a statement writes into a row. Times are milliseconds there. */
export type FieldsToWrite<Row> = {
  readonly [Name in keyof Row as FieldName<Name>]?:
    | Encoded<Row[Name]>
    | Decoded<Name, NonNullable<Row[Name]>>
    | undefined;
};
