/** Lists in pages: their parameter `limit`, and the one shape of an answer. */
import { z } from 'zod';

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
      next: z.string().exactOptional().meta({ description: 'For the query parameter `after`, where there is more.' }),
    })
    .meta({ id });
}

export interface Page<Row> {
  data: Row[];
  hasMore: boolean;
  next?: string;
}

export function pageOf<Row>(data: Row[], next: string | undefined): Page<Row> {
  return next === undefined ? { data, hasMore: false } : { data, hasMore: true, next };
}
