/** Options that choose rows of the work queue: the conditions of `GET /v1/holds`. */
import { holdFilters } from '../../api/routes/holds.ts';
import { parseWith } from '../../fields/problems.ts';
import type { WorkFilters } from '../../ledger/holds/work.ts';
import { type GivenOptions, withTypedProblems } from '../output/option-names.ts';
import { type Member, membersIn, namesByPath, readQuery } from '../output/schema-options.ts';
import { parseSince } from './since.ts';

/** `--reason` is why an operator decides. */
export const FILTERS: readonly Member[] = membersIn([holdFilters]).map((member) =>
  member.path === '/reason' ? { ...member, flag: '--type' } : member,
);

/** @throws InvalidInputError, UsageError */
export function readFilters(options: GivenOptions): WorkFilters {
  const given = readQuery(FILTERS, { ...options, since: parseSince(options.since as string | undefined) });
  return withTypedProblems(namesByPath(FILTERS), options, () => parseWith(holdFilters, given));
}
