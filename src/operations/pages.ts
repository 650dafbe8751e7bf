/** Lists in pages: their parameters `limit` and `after`, the one shape of an answer, and how a page is filled. */
import { z } from 'zod';
import { parseJson } from '../base/json-safety.ts';
import { Refusal } from '../http/refusal.ts';
import { SealBrokenError } from '../protection/errors.ts';
import type { Call } from './operation.ts';
import { keepReached, toReadersReach } from './reach.ts';

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;

export const limitParameter = z
  .string()
  .regex(/^(?:[1-9]\d?|1\d\d|200)$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
  .optional()
  .describe(`The most entries in one page, from 1 to ${MAX_LIMIT}. Default ${DEFAULT_LIMIT}.`);

/** A page of a list, as every list has it. @param others further members, before the rows */
export function createPageSchema<Row extends z.ZodType>(
  id: string,
  row: Row,
  order: string,
  others: z.ZodRawShape = {},
) {
  return z
    .object({
      ...others,
      data: z.array(row).describe(order),
      hasMore: z.boolean(),
      next: z
        .string()
        .optional()
        .describe('Send it as the query parameter `after` to get the next page. Absent on the last page.'),
    })
    .meta({ id });
}

export interface Page<Row> {
  data: Row[];
  hasMore: boolean;
  next?: string;
}

/** A list that has one page. */
export function toPage<Row>(data: Row[]): Page<Row> {
  return { data, hasMore: false };
}

// Cursors of lists: `next` of one page, `after` of the request for the following page.

const MAX_CURSOR_CHARACTERS = 6_000;

export const afterParameter = z
  .string()
  .max(MAX_CURSOR_CHARACTERS)
  .optional()
  .describe('The `next` of the previous page.');

export type Asking = Pick<Call, 'caller' | 'services' | 'note'>;

/** The ledger's key seals it. A program beside the ledger reads lists for its own user: it needs no seal, and so no ledger. */
async function sealPlace({ caller, services }: Asking, place: unknown, use: string): Promise<string> {
  if (caller.isLocal) return Buffer.from(JSON.stringify(place)).toString('base64url');
  return (await services.openLedger()).sealCursor(place, use);
}

/** @throws Refusal 400 where the cursor was changed, or belongs to another caller, list or filter */
async function openPlace({ caller, services }: Asking, after: string, use: string): Promise<unknown> {
  if (caller.isLocal) return parseJson(Buffer.from(after, 'base64url').toString('utf8'))?.[0] ?? {};
  const ledger = await services.openLedger();
  try {
    return ledger.openCursor(after, use);
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    const problem = { path: '/after', rule: 'must be the next of a previous page', parameter: 'after' };
    throw new Refusal('after', undefined, { problems: [problem] });
  }
}

/** A page without a row of the caller's ends after so many rows of others: a second or two of questions. */
const MOST_JUDGED_IN_VAIN = 20_000;

/** A list of rows, of which each is about a run. */
interface PagedList<Row, Place> {
  name: string;
  query: { after?: string | undefined; limit?: string | undefined };
  /** Reads all rows behind the place, or from the first, at most `limit` at once, and the place of those that follow. */
  read(place: Place | undefined, limit: number): AsyncIterable<{ rows: readonly Row[]; next: Place | undefined }>;
}

/** Returns the first rows that the caller reaches. The page ends with the rows that were read at once, full or not. */
export async function readPage<Row extends { runKey: string }, Place>(
  asking: Asking,
  { name, query, read }: PagedList<Row, Place>,
): Promise<Page<Row>> {
  const { after, limit = DEFAULT_LIMIT, ...filter } = query;
  const { issuer, subject } = asking.caller;
  // A cursor is good for one caller, list and filter. The query's schema has put the members in their order.
  const use = JSON.stringify([name, issuer, subject, toReadersReach(asking.caller), filter]);
  const place = after === undefined ? undefined : ((await openPlace(asking, after, use)) as Place);
  let judged = 0;
  for await (const { rows, next } of read(place, Number(limit))) {
    const data = await keepReached(asking, rows);
    judged += rows.length;
    if (next !== undefined && data.length === 0 && judged < MOST_JUDGED_IN_VAIN) continue;
    asking.note({ count: data.length });
    return next === undefined ? toPage(data) : { data, hasMore: true, next: await sealPlace(asking, next, use) };
  }
  return toPage<Row>([]);
}
