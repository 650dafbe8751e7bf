/** Options that choose rows of the work queue: the conditions of `GET /v1/holds`. */
import { holdFilters } from '../../api/routes/holds.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { parseWith } from '../../fields/problems.ts';
import type { WorkFilters } from '../../ledger/holds/work.ts';
import { UsageError } from '../output/errors.ts';
import {
  type GivenOptions,
  type Member,
  membersIn,
  namesByPath,
  readQuery,
  withTypedProblems,
} from '../output/schema-options.ts';

/** `--reason` is why an operator decides. */
export const FILTERS: readonly Member[] = membersIn([holdFilters]).map((member) =>
  member.path === '/reason' ? { ...member, flag: '--type' } : member,
);

/** @throws InvalidInputError, UsageError */
export function readFilters(options: GivenOptions): WorkFilters {
  const given = readQuery(FILTERS, { ...options, since: parseSince(options.since as string | undefined) });
  return withTypedProblems(namesByPath(FILTERS), options, () => parseWith(holdFilters, given));
}

/** `--since`: an instant, or how long ago. Returns RFC 3339. */
export function parseSince(text: string | undefined): string | undefined {
  if (text === undefined || parseInstantMs(text) !== null) return text;
  const durationMs = parseDurationMs(text);
  if (durationMs !== null) return new Date(Date.now() - durationMs).toISOString();
  throw new UsageError('--since must be an instant (2026-01-31T14:00:00Z) or how long ago (PT2H, P1DT12H)');
}
