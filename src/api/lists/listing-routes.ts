/** Prints the listings of the table of operations as routes: paths, pages, cursors and what a caller reaches. */
import { z } from 'zod';
import {
  camelCase,
  instantOfRow,
  keyOfRow,
  type Listing,
  type Totals,
  toOperationId,
} from '../../operations/operation.ts';
import { LISTINGS } from '../../operations/table.ts';
import { capitalize } from '../../words/writer.ts';
import { reachesAll, readersReach } from '../caller.ts';
import { keepReached } from '../reach.ts';
import type { Call, Reply, Route } from '../route.ts';
import { cursorsFor, describeCursor, fillPage, limitIn, limitParameter, pageSchema, toPage } from './pages.ts';

type Row = Record<string, unknown>;

/** The last row of a page: the next page begins after it. */
interface Place {
  at: string;
  key: string;
}

/** One answer counts at most so many attempts: some seconds of reading. */
const COUNTED_AT_ONCE = 20_000;

/** Rows that are read before the runs are asked whose they are. */
const JUDGED_TOGETHER = 1_000;

export const listingRoutes: readonly Route[] = LISTINGS.flatMap((listing) => {
  return listing.totals ? [listRoute(listing), totalsRoute(listing, listing.totals)] : [listRoute(listing)];
});

function frame(listing: Listing): Pick<Route, 'method' | 'path' | 'operationId' | 'scope'> {
  const { name, path = `/v1/audit/${name}` as const, scope } = listing;
  return { method: 'GET', path, operationId: toOperationId(listing), scope };
}

function listRoute(listing: Listing): Route {
  const { summary, description, input, output, name } = listing;
  const page = pageSchema(`${camelCase(name)}Page`, output, 'The oldest first.');
  return {
    ...frame(listing),
    summary: capitalize(summary),
    ...(description === undefined ? {} : { description }),
    query: z.strictObject({ limit: limitParameter, after: describeCursor(z.string()), ...input.shape }),
    answers: { 200: { description: 'One page.', schema: page } },
    async handle(call): Promise<Reply<200>> {
      const { rows, next } = await readPage(listing, call, limitIn(call.query as { limit?: string }));
      call.note({ count: rows.length });
      return { status: 200, body: toPage(rows, next) };
    },
  };
}

function totalsRoute(listing: Listing, { summary, description, row, create }: Totals<Row>): Route {
  const { path, operationId, ...rest } = frame(listing);
  const schema = z
    .object({
      totals: z.array(row),
      next: z.string().exactOptional().meta({
        description: 'There is more to count: send it as the query parameter `after`, and add up the answers.',
      }),
    })
    .meta({ id: `${z.globalRegistry.get(row)?.id}s` });
  return {
    ...rest,
    path: `${path}/totals`,
    operationId: operationId.replace(/^[a-z]+/, 'count'),
    summary,
    ...(description === undefined ? {} : { description }),
    query: z.strictObject({ after: describeCursor(z.string()), ...listing.input.shape }),
    answers: { 200: { description: 'The totals, or a part of them.', schema } },
    async handle(call): Promise<Reply<200>> {
      const { rows, next } = await readPage(listing, call, COUNTED_AT_ONCE);
      const totals = create();
      for (const record of rows) totals.add(record);
      call.note({ count: totals.list.length });
      return { status: 200, body: { totals: totals.list, ...(next === undefined ? {} : { next }) } };
    },
  };
}

/** The ledger leaves out what names another profile or end user. Of the others the runs say whose they are. */
async function readPage(listing: Listing, call: Call, limit: number): Promise<{ rows: Row[]; next?: string }> {
  const { caller, services } = call;
  const { after, limit: _, ...filter } = call.query as { after?: string; limit?: string };
  const cursors = cursorsFor(call, listing.name, call.query as Row);
  const place = after === undefined ? undefined : ((await cursors.open(after)) as Place);
  const query = { ...filter, ...(place ? { from: place.at } : {}), ...readersReach(caller) };
  const rows = listing.read(await services.openLedger(), query);
  const isAll = reachesAll(caller);
  const { rows: page, last } = await fillPage(
    batches(rowsBehind(listing, rows, place), isAll ? limit : Math.min(limit, JUDGED_TOGETHER)),
    { limit, judge: isAll ? null : (batch) => keepReached(call, batch, (row: Row) => String(row[listing.owner])) },
  );
  if (last === undefined) return { rows: page };
  const end: Place = { at: instantOfRow(listing, last), key: keyOfRow(listing, last) };
  return { rows: page, next: await cursors.seal(end) };
}

/** A row that is gone hides none of its instant: then all of them come once more. */
async function* rowsBehind(listing: Listing, rows: AsyncIterable<Row>, place: Place | undefined): AsyncGenerator<Row> {
  let before: Row[] = [];
  let isBehind = place === undefined;
  for await (const row of rows) {
    if (isBehind) yield row;
    else if (instantOfRow(listing, row) !== place?.at) {
      isBehind = true;
      yield* [...before, row];
    } else if (keyOfRow(listing, row) === place.key) {
      isBehind = true;
      before = [];
    } else before.push(row);
  }
  if (!isBehind) yield* before;
}

/** A batch is given out once it is full and one more row is seen. */
async function* batches(all: AsyncIterable<Row>, size: number) {
  let rows: Row[] = [];
  for await (const row of all) {
    if (rows.length === size) {
      yield { rows, hasMore: true };
      rows = [];
    }
    rows.push(row);
  }
  yield { rows, hasMore: false };
}
