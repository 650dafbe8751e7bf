/** `limit` of lists in pages. */
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
