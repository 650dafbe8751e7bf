/** `limit` of lists in pages. */
import { z } from 'zod';
import { InvalidInputError } from '../model/problems.ts';

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;
const RULE = `must be a whole number from 1 to ${MAX_LIMIT}`;

export const limitParameter = z
  .string()
  .regex(/^\d{1,3}$/, RULE)
  .exactOptional()
  .describe(`At most so many in one page, from 1 to ${MAX_LIMIT}. Default ${DEFAULT_LIMIT}.`);

/** @throws InvalidInputError */
export function limitIn({ limit = String(DEFAULT_LIMIT) }: { limit?: string }): number {
  const count = Number(limit);
  if (count < 1 || count > MAX_LIMIT) throw new InvalidInputError([{ path: '/limit', rule: RULE }]);
  return count;
}
