/** Lists in pages, so that a million rows are never in memory at once. Each page begins after the last row of the one before. */
import { pick } from '../../base/defined.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { type Condition, encode, hasMembers, toColumnName } from './rows.ts';
import type { SqlSession, SqlValue } from './sql-session.ts';

/** A page of a list; `end` is its place, where another page may follow. */
export interface Page<Item, Place> {
  items: Item[];
  end?: Place | undefined;
}

/** Rows of a list between two instants, RFC 3339: from then on, and before then. */
interface Period {
  from?: string;
  before?: string;
}

interface Keyset<Row> {
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

/**
 * The conditions on rows whose member `time` lies in the query's period, and that have its values of these members.
 * `place` adds a value.
 *
 * @throws RangeError where an end of the period is no instant
 */
export function selectPeriod<Query extends Period>(
  time: string,
  query: Query,
  members: readonly (keyof Query & string)[],
) {
  const fromMs = query.from === undefined ? 0 : parseInstantMs(query.from);
  const beforeMs = query.before === undefined ? Number.MAX_SAFE_INTEGER : parseInstantMs(query.before);
  if (fromMs === null || beforeMs === null) {
    throw new RangeError('from and before must be RFC 3339 instants with offset');
  }
  const isInPeriod: Condition = (column, place) => `${column} >= ${place(fromMs)} AND ${column} < ${place(beforeMs)}`;
  const wanted = members.filter((name) => query[name] !== undefined);
  const { sql, values, place } = hasMembers({ [time]: isInPeriod, ...pick(query, wanted) });
  return { where: [sql], values, place };
}
