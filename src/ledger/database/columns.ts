/** The parts of which tables.ts declares a table, and the types of the objects that hold its rows. */

/** A column, and the value of the member that holds it. */
export interface Column<Value> {
  /** A type of PostgreSQL. SQLite keeps texts, numbers and bytes under these names as they are. */
  type: 'TEXT' | 'BIGINT' | 'BYTEA';
  /** The meaning of the text or the number. */
  holds?: 'json' | 'flag' | 'instant';
  isOptional?: boolean;
  /** The database's clock fills it when the row is inserted. */
  isStamp?: boolean;
  /** The column may change, so no guard and no hash of the audit chain covers it. */
  isState?: boolean;
  constraint?: string;
  readonly value?: Value;
}

export const text = <Text extends string = string>(): Column<Text> => ({ type: 'TEXT' });
export const int = (constraint?: string): Column<number> => ({ type: 'BIGINT', constraint });
/** Milliseconds since 1970; RFC 3339 in an object. A time that a message brought is text, and stays as it came. */
export const instant = (): Column<string> => ({ type: 'BIGINT', holds: 'instant' });
export const stamp = (): Column<string> => ({ ...instant(), isStamp: true });
export const bytes = (): Column<Uint8Array> => ({ type: 'BYTEA' });
export const json = <Value>(): Column<Value> => ({ type: 'TEXT', holds: 'json' });
export const flag = <Held extends boolean = boolean>(): Column<Held> => ({ type: 'BIGINT', holds: 'flag' });
/** NULL where an object lacks the member. */
export const optional = <Value>(column: Column<Value>): Column<Value | null> => ({ ...column, isOptional: true });
export const state = <Value>(column: Column<Value>): Column<Value | null> => ({ ...optional(column), isState: true });

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
  /** Each is the rest of a statement that begins with `CREATE`. */
  indexes?: readonly string[];
}

type MemberName<Name> = Name extends `${infer Word}_${infer Rest}` ? `${Word}${Capitalize<MemberName<Rest>>}` : Name;
type ValueIn<C> = C extends Column<infer Value> ? Value : never;

/** The objects that hold the rows of a table: NULL is an absent member. */
export type RowOf<T extends Table, C = T['columns']> = {
  [Name in keyof C as null extends ValueIn<C[Name]> ? never : MemberName<Name>]: ValueIn<C[Name]>;
} & {
  [Name in keyof C as null extends ValueIn<C[Name]> ? MemberName<Name> : never]?: NonNullable<ValueIn<C[Name]>>;
};
