/** Lists in pages, so that a million rows are never in memory at once. Each page begins after the last row of the one before. */
import { encode, toColumnName } from './rows.ts';
import type { SqlSession, SqlValue } from './sql-session.ts';

/** A page of a list; `end` is its place, where another page may follow. */
export interface Page<Item, Place> {
  items: Item[];
  end?: Place | undefined;
}

export interface Keyset<Row> {
  /** A table, or a subquery with its name. */
  from: string;
  /** Default: all. */
  columns?: string;
  /** Conditions on rows, with the values of their places. */
  where?: readonly string[];
  values?: readonly SqlValue[];
  /** The members that order the rows; together they are unique. */
  order: readonly (keyof Row & string)[];
  /** The last row of the page before. */
  after?: Partial<Row> | undefined;
  limit: number;
}

export async function readKeyset<Row>(
  session: SqlSession,
  { from, columns = '*', where = [], values = [], order, after, limit }: Keyset<Row>,
): Promise<Page<Row, Row>> {
  const ordered = order.map(toColumnName);
  const last = after ? order.map((member, index) => encode(ordered[index] ?? '', after[member])) : [];
  const places = last.map((_, index) => `$${values.length + index + 1}`).join(', ');
  const conditions = ['1 = 1', ...where, ...(after ? [`(${ordered.join(', ')}) > (${places})`] : [])];
  const items = await session.read<Row>(
    `SELECT ${columns} FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${ordered.join(', ')} LIMIT ${limit}`,
    [...values, ...last],
  );
  return { items, end: items.length < limit ? undefined : items.at(-1) };
}

/** Reads page after page of one list in one transaction, to the last one. */
export function iterateKeyset<Row>(session: SqlSession, keyset: Keyset<Row>): AsyncGenerator<Row[]> {
  return iteratePages((after: Row | undefined) => readKeyset(session, { ...keyset, after }));
}

/** Reads page after page, to the last one. */
export async function* iteratePages<Item, Place>(
  readPage: (after: Place | undefined) => Promise<Page<Item, Place>>,
): AsyncGenerator<Item[]> {
  let after: Place | undefined;
  do {
    const { items, end }: Page<Item, Place> = await readPage(after);
    yield items;
    after = end;
  } while (after !== undefined);
}
