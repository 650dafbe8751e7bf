/** The options that choose rows of the work queue, and those of `resolve` that make up a decision: members of its message. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { holdFilters } from '../../api/routes/holds.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { parseWith } from '../../fields/problems.ts';
import type { WorkFilters } from '../../ledger/holds/work.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { type Decision, decision } from '../../messages/resolve-inquiry.ts';
import type { ServerOptions } from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import { readObject } from '../output/json-input.ts';
import {
  applyOptions,
  type GivenOptions,
  listSchemaMembers,
  type Member,
  mapOptionsByPath,
  readQuery,
  withTypedProblems,
} from '../output/schema-options.ts';

/** Lists and the argument have no option of their own here. */
const WITHOUT_OPTION = ['/applicants', '/customerTraceNumber'];

/** @internal The members of a decision that options give. */
export const DECISION_MEMBERS = listSchemaMembers([decision.schema(z.unknown() as never)]).filter(
  ({ path }) => !WITHOUT_OPTION.includes(path),
);

/** A decision as far as it has been given. */
export type DraftDecision = { decisionId: string } & Partial<Omit<Decision, 'decisionId' | 'customerTraceNumber'>>;

export interface ResolveOptions extends ServerOptions, GivenOptions {
  /** Files. */
  file?: string;
  answers?: string;
  yes?: boolean;
  all?: boolean;
}

/** Reads the decision as the file says, and the options say above it. */
export async function readDraft(options: ResolveOptions): Promise<DraftDecision> {
  const base = { decisionId: `D-${randomUUID()}`, ...(await readObject(options.file)) };
  return applyOptions(DECISION_MEMBERS, options, base) as DraftDecision;
}

const NAMES = { ...mapOptionsByPath(DECISION_MEMBERS), '/customerTraceNumber': '<customerTraceNumber>' };

/**
 * Checks a decision before the command connects to a server.
 *
 * @param given the command's options, by which errors name a member
 * @throws InvalidInputError with every problem
 */
export function checkDecision(draft: DraftDecision, customerTraceNumber: string, given: GivenOptions = {}): void {
  withTypedProblems(NAMES, given, () => parseMessage(decision, { ...draft, customerTraceNumber }));
}

/** `--reason` is why an operator decides; `--since` takes a duration as well. */
const OWN: Readonly<Record<string, Partial<Member>>> = {
  '/reason': { flag: '--type' },
  '/since': { words: 'only rows from this instant on (RFC 3339), or from so long ago on (PT2H)' },
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
