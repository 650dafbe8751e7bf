/** Makes routes of the listings in the table of operations: paths, pages, cursors and what a caller reaches. */
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { LISTINGS } from '../../operations/listings.ts';
import {
  type Listing,
  readRowInstant,
  readRowKey,
  type Totals,
  toCamelCase,
  toOperationId,
} from '../../operations/operation.ts';
import { capitalize } from '../../words/writer.ts';
import { reachesAll, toReadersReach } from '../reach.ts';
import { type Call, defineRoute, type Route } from '../route.ts';
import { afterParameter, createPageSchema, limitParameter, type Page, readPage } from './pages.ts';

type Row = Record<string, unknown> & { runKey: string };

/** The last row of a page: the next page begins after it. */
interface Place {
  at: string;
  key: string;
}

/** The maximum number of rows that one answer counts, which takes some seconds. */
const COUNTED_AT_ONCE = 20_000;

/** The number of rows that are read before their runs are asked which profiles and end users they are for. */
const ROWS_PER_REACH_CHECK = 1_000;

export const listingRoutes: readonly Route[] = LISTINGS.flatMap((listing) => {
  return listing.totals
    ? [createListRoute(listing), createTotalsRoute(listing, listing.totals)]
    : [createListRoute(listing)];
});

function toPath({ name, path = `/v1/audit/${name}` }: Listing): `/v1/${string}` {
  return path;
}

function createListRoute(listing: Listing): Route {
  const { summary, description, input, output, name, scope } = listing;
  const page = createPageSchema(`${toCamelCase(name)}Page`, output, 'The oldest first.');
  return defineRoute({
    ...{ at: `GET ${toPath(listing)}`, operationId: toOperationId(listing), scope },
    summary: capitalize(summary),
    ...omitUndefined({ description }),
    query: z.strictObject({ limit: limitParameter, after: afterParameter, ...input.shape }),
    answer: page,
    run: (call) => readListing(listing, call),
  });
}

function createTotalsRoute(listing: Listing, { summary, description, row, create }: Totals<Row>): Route {
  const schema = z
    .object({
      totals: z.array(row),
      next: z.string().exactOptional().meta({
        description: 'There is more to count: send it as the query parameter `after`, and add up the answers.',
      }),
    })
    .meta({ id: `${z.globalRegistry.get(row)?.id}s` });
  return defineRoute({
    at: `GET ${toPath(listing)}/totals`,
    operationId: toOperationId(listing).replace(/^[a-z]+/, 'count'),
    scope: listing.scope,
    summary,
    ...omitUndefined({ description }),
    query: z.strictObject({ after: afterParameter, ...listing.input.shape }),
    answer: schema,
    done: 'The totals, or a part of them.',
    async run(call) {
      const { data, next } = await readListing(listing, call, { limit: COUNTED_AT_ONCE });
      const totals = create();
      for (const record of data) totals.add(record);
      call.note({ count: totals.list.length });
      return { totals: totals.list, ...omitUndefined({ next }) };
    },
  });
}

/**
 * Reads one page. The ledger leaves out the rows that name a profile or end user out of reach. Whether the caller
 * reaches the other rows, their runs tell.
 */
function readListing(listing: Listing, call: Call, fixed: { limit?: number } = {}): Promise<Page<Row>> {
  const { caller, services } = call;
  const query = call.query as { after?: string; limit?: string };
  const { after: _, limit: __, ...filter } = query;
  return readPage<Row, Place>(call, {
    ...{ name: listing.name, query, ...fixed },
    async *read(place, limit) {
      const from = place ? { from: place.at } : {};
      const rows = listing.read(await services.openLedger(), { ...filter, ...from, ...toReadersReach(caller) });
      yield* batches(
        readRowsAfter(listing, rows, place),
        Math.min(limit, reachesAll(caller) ? limit : ROWS_PER_REACH_CHECK),
      );
    },
    toPlace: (row) => ({ at: readRowInstant(listing, row), key: readRowKey(listing, row) }),
  });
}

/** Yields the rows after the place. If the row at the place is gone, it yields all rows of that instant again. */
async function* readRowsAfter(
  listing: Listing,
  rows: AsyncIterable<Row>,
  place: Place | undefined,
): AsyncGenerator<Row> {
  let before: Row[] = [];
  let isAfter = place === undefined;
  for await (const row of rows) {
    if (isAfter) yield row;
    else if (readRowInstant(listing, row) !== place?.at) {
      isAfter = true;
      yield* [...before, row];
    } else if (readRowKey(listing, row) === place.key) {
      isAfter = true;
      before = [];
    } else before.push(row);
  }
  if (!isAfter) yield* before;
}

/** Yields a full batch only when it has read one more row, which shows that there are more. */
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
