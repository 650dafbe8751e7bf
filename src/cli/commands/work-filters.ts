/** The work queue, as `GET /v1/holds` has it, and the options that choose its rows. */
import { holdFilters } from '../../api/routes/holds.ts';
import { omitUndefined } from '../../base/defined.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { parseWith } from '../../fields/problems.ts';
import type { WorkFilters } from '../../ledger/holds/work.ts';
import type { Hold } from '../../operator/holds.ts';
import { UsageError } from '../output/errors.ts';
import { readDocument } from '../output/output.ts';
import {
  type GivenOptions,
  listSchemaMembers,
  type Member,
  mapOptionsByPath,
  readQuery,
  withTypedProblems,
} from '../output/schema-options.ts';
import type { CallOperation } from './call-operation.ts';

/** `--reason` is why an operator decides; `--since` takes a duration as well. */
const OWN: Readonly<Record<string, Partial<Member>>> = {
  '/reason': { flag: '--type' },
  '/since': { words: 'only rows since this instant (RFC 3339), or since so long ago (PT2H)' },
};

export const FILTERS: readonly Member[] = listSchemaMembers([holdFilters]).map((member) => ({
  ...member,
  ...OWN[member.path],
}));

/** @throws InvalidInputError, UsageError */
export function readFilters(options: GivenOptions): WorkFilters {
  const given = readQuery(FILTERS, { ...options, since: parseSince(options.since as string | undefined) });
  return withTypedProblems(mapOptionsByPath(FILTERS), options, () => parseWith(holdFilters, given));
}

/** `--since`: an instant, or how long ago. Returns RFC 3339. */
export function parseSince(text: string | undefined): string | undefined {
  if (text === undefined || parseInstantMs(text) !== null) return text;
  const durationMs = parseDurationMs(text);
  if (durationMs !== null) return new Date(Date.now() - durationMs).toISOString();
  throw new UsageError('--since must be an instant (2026-01-31T14:00:00Z) or how long ago (PT2H, P1DT12H)');
}

/** Reads every page of the rows that the conditions choose, the oldest first. */
export async function listHolds(call: CallOperation, conditions: WorkFilters): Promise<Hold[]> {
  const holds: Hold[] = [];
  let page: { data: Hold[]; next?: string } | undefined;
  do {
    const query = { ...conditions, limit: '200', ...omitUndefined({ after: page?.next }) };
    page = readDocument(await call('listHolds', query)) as { data: Hold[]; next?: string };
    holds.push(...page.data);
  } while (page.next !== undefined);
  return holds;
}
