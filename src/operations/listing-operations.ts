/** Makes an operation of each listing in the table of operations: its path, pages, cursors and what a caller reaches. */
import { z } from 'zod';
import { Refusal } from '../http/refusal.ts';
import { capitalize, toCamelCase } from '../words/writer.ts';
import { LISTINGS, type Listing, toOperationId } from './listings.ts';
import { defineOperation, type Operation } from './operation.ts';
import { afterParameter, createPageSchema, limitParameter, readPage } from './pages.ts';
import { keepReached, reachesAll, toReadersReach } from './reach.ts';

type Row = Record<string, unknown> & { runKey: string };

/** The last row of a page, by its instant and its key: the next page begins after it. */
interface Place {
  at: string;
  key: string;
}

/** The number of rows that are read before the API checks whether the caller reaches their runs. */
const ROWS_PER_REACH_CHECK = 1_000;

/** Callers and proxies give up by then. */
const LONGEST_SUM_MS = 60_000;
const TOO_LONG = 'it took too long: ask for a shorter period, by from and before';

export const listingOperations: readonly Operation[] = LISTINGS.flatMap((listing) => {
  const { name, path = `/v1/audit/${name}` as const, summary, description, scope, input, output, totals } = listing;
  const list = defineOperation({
    at: `GET ${path}`,
    operationId: toOperationId(listing),
    scope,
    summary: capitalize(summary),
    description,
    query: z.strictObject({ limit: limitParameter, after: afterParameter, ...input.shape }),
    answer: createPageSchema(`${toCamelCase(name)}Page`, output, 'The oldest first.'),
    // The ledger leaves out the rows that name a profile or end user out of reach. Of the others, the page keeps those
    // whose run the caller reaches.
    run(call) {
      const { caller, services } = call;
      const { after, limit, ...filter } = call.query as { after?: string; limit?: string };
      return readPage<Row, Place>(call, {
        name,
        query: { after, limit, ...filter },
        async *read(place, size) {
          const from = place ? { from: place.at } : {};
          const rows = listing.read(await services.openLedger(), { ...filter, ...from, ...toReadersReach(caller) });
          yield* readBatches(listing, rows, place, reachesAll(caller) ? size : Math.min(size, ROWS_PER_REACH_CHECK));
        },
      });
    },
  });
  if (!totals) return [list];
  const sums = defineOperation({
    at: `GET ${path}/totals`,
    operationId: `count${capitalize(name)}`,
    scope,
    summary: totals.summary,
    description: 'Counts only what the token reaches.',
    query: z.strictObject(input.shape),
    answer: z.object({ totals: z.array(totals.row) }).meta({ id: `${name}Totals` }),
    async run(call) {
      const sum = totals.create();
      const endsAt = performance.now() + LONGEST_SUM_MS;
      const { caller, services, query, sending } = call;
      const rows = listing.read(await services.openLedger(), { ...query, ...toReadersReach(caller) });
      for await (const batch of readBatches(listing, rows, undefined, ROWS_PER_REACH_CHECK)) {
        for (const row of await keepReached(call, batch.rows)) sum.add(row);
        if (sending.signal.aborted) throw new Refusal('gone');
        if (performance.now() > endsAt) throw new Refusal('outOfTime', TOO_LONG);
      }
      call.note({ count: sum.list.length });
      return { totals: sum.list };
    },
  });
  return [list, sums];
});

/** Yields a full batch only when it has read one more row, which shows that there are more. */
async function* readBatches(listing: Listing, all: AsyncIterable<Row>, place: Place | undefined, size: number) {
  let rows: Row[] = [];
  for await (const row of readRowsAfter(listing, all, place)) {
    if (rows.length === size) {
      yield { rows, next: toPlace(listing, rows.at(-1) as Row) };
      rows = [];
    }
    rows.push(row);
  }
  yield { rows, next: undefined };
}

/**
 * Yields the rows after the place: leaves out the rows of its instant up to the row at the place. If that row is gone,
 * yields all rows of that instant, so that a page may repeat rows but misses none.
 */
async function* readRowsAfter(listing: Listing, rows: AsyncIterable<Row>, place?: Place): AsyncGenerator<Row> {
  let upToPlace: Row[] = [];
  let isAfter = place === undefined;
  for await (const row of rows) {
    const { at, key } = toPlace(listing, row);
    if (!isAfter && at === place?.at) {
      isAfter = key === place.key;
      if (isAfter) upToPlace = [];
      else upToPlace.push(row);
      continue;
    }
    isAfter = true;
    yield* [...upToPlace, row];
    upToPlace = [];
  }
  yield* upToPlace;
}

function toPlace({ at, key }: Listing, row: Row): Place {
  return { at: String(row[at]), key: JSON.stringify(key.map((name) => row[name] ?? null)) };
}
