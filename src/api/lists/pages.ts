/** Lists in pages: their parameters `limit` and `after`, the one shape of an answer, and how a page is filled. */
import { z } from 'zod';
import { parseJson } from '../../base/json-safety.ts';
import { Refusal } from '../../http/refusal.ts';
import { SealBrokenError } from '../../protection/errors.ts';
import type { ApiCaller, Reach } from '../caller.ts';
import type { ApiServices } from '../services.ts';

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;
const RULE = `must be a whole number from 1 to ${MAX_LIMIT}`;

export const limitParameter = z
  .string()
  .regex(/^(?:[1-9]\d?|1\d\d|200)$/, RULE)
  .exactOptional()
  .describe(`At most so many in one page, from 1 to ${MAX_LIMIT}. Default ${DEFAULT_LIMIT}.`);

export function limitIn({ limit = String(DEFAULT_LIMIT) }: { limit?: string }): number {
  return Number(limit);
}

/** A page of a list, as every list has it. @param others further members, before the rows */
export function pageSchema<Row extends z.ZodType>(id: string, row: Row, order: string, others: z.ZodRawShape = {}) {
  return z
    .object({
      ...others,
      data: z.array(row).meta({ description: order }),
      hasMore: z.boolean(),
      next: z
        .string()
        .exactOptional()
        .meta({ description: 'Send it as the query parameter `after` to get the next page. Absent on the last page.' }),
    })
    .meta({ id });
}

export interface Page<Row> {
  data: Row[];
  hasMore: boolean;
  next?: string;
}

export function toPage<Row>(data: Row[], next: string | undefined): Page<Row> {
  return next === undefined ? { data, hasMore: false } : { data, hasMore: true, next };
}

// Cursors of lists: `next` of one page, `after` of the request for the following page.

const MAX_CURSOR_CHARACTERS = 6_000;

/** Adds the parameter `after` to the schema of a query. */
export function describeCursor(schema: z.ZodString) {
  return schema.max(MAX_CURSOR_CHARACTERS).exactOptional().describe('The `next` of the page before.');
}

const CURSOR_PROBLEM = { path: '/after', rule: 'must be the next of a page before', parameter: 'after' };

/** The cursors of one list: sealed by the ledger's key, for one caller and one filter. */
interface Cursors {
  seal(place: unknown): Promise<string>;
  /** @throws Refusal 400 where the cursor was changed, or belongs to another caller, list or filter */
  open(after: string): Promise<unknown>;
}

interface Asking {
  caller: ApiCaller;
  services: Pick<ApiServices, 'openLedger'>;
}

/**
 * A program beside the ledger reads lists for its own user: it needs no seal, and so no ledger.
 *
 * @param list names the list. Operations with one name and one filter may share cursors.
 */
export function cursorsFor({ caller, services }: Asking, list: string, query: Record<string, unknown>): Cursors {
  const { after: _after, limit: _limit, ...filter } = query;
  const bound = JSON.stringify([
    ...[list, caller.issuer, caller.subject, namesIn(caller.profiles), namesIn(caller.endUsers)],
    Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
  if (caller.isLocal) {
    return {
      seal: async (place) => Buffer.from(JSON.stringify(place)).toString('base64url'),
      open: async (after) => parseJson(Buffer.from(after, 'base64url').toString('utf8'))?.[0] ?? {},
    };
  }
  return {
    async seal(place) {
      return (await services.openLedger()).sealCursor(place, bound);
    },
    async open(after) {
      const ledger = await services.openLedger();
      try {
        return ledger.openCursor(after, bound);
      } catch (error) {
        if (error instanceof SealBrokenError)
          throw new Refusal('after', 'after must be the next of a page before', { problems: [CURSOR_PROBLEM] });
        throw error;
      }
    },
  };
}

function namesIn(reach: Reach): string | readonly string[] {
  return reach === '*' ? reach : [...reach].sort();
}

/** A page ends behind about so many judged rows, a second or two of questions; one without a row of the caller's reads on. */
const MOST_JUDGED = 1_000;
const MOST_JUDGED_IN_VAIN = 20_000;

interface Batch<Row> {
  rows: readonly Row[];
  hasMore: boolean;
}

/**
 * Fills a page with rows that the caller reaches. `last` is the row after which the next page begins. It is absent where
 * no reached row follows. Among many rows of others the page ends early, at a row that may be another's.
 */
export async function fillPage<Row>(
  batches: AsyncIterable<Batch<Row>>,
  { limit, judge }: { limit: number; judge: ((rows: readonly Row[]) => Promise<readonly Row[]>) | null },
): Promise<{ rows: Row[]; last?: Row }> {
  const found: Row[] = [];
  let judged = 0;
  for await (const { rows, hasMore } of batches) {
    found.push(...(judge === null ? rows : await judge(rows)));
    judged += rows.length;
    const isFull = found.length > limit || (found.length === limit && judge === null && hasMore);
    const page = found.slice(0, limit);
    const isLong = judged >= (page.length > 0 ? MOST_JUDGED : MOST_JUDGED_IN_VAIN);
    const last = isFull ? page.at(-1) : hasMore && isLong ? rows.at(-1) : undefined;
    if (last !== undefined) return { rows: page, last };
  }
  return { rows: found };
}
