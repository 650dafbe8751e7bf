/** `holds`: the work queue, as `GET /v1/holds` has it, and the options that choose its rows. */
import { checkCall } from '../../api/local-call.ts';
import { holdFilters } from '../../api/routes/holds.ts';
import type { Loose } from '../../messages/message.ts';
import type { Hold } from '../../operator/holds.ts';
import { describeReason, resolveCommand } from '../../words/holds.ts';
import { EXIT } from '../output/exit-codes.ts';
import { formatRowTable, readDocument } from '../output/output.ts';
import {
  type GivenOptions,
  listSchemaMembers,
  type Member,
  mapOptionsByPath,
  readQuery,
  toOptionError,
} from '../output/schema-options.ts';
import { type CallOperation, type CallOptions, createOperations, findRoute } from './call-operation.ts';
import { type CommandRow, type Context, parseSince } from './command.ts';

/** `--reason` is why an operator decides; `--since` takes a duration as well. */
const OWN: Readonly<Record<string, Partial<Member>>> = {
  '/reason': { flag: '--type' },
  '/since': { words: 'only rows since this instant (RFC 3339), or since so long ago (PT2H)' },
};

export const FILTERS: readonly Member[] = listSchemaMembers([holdFilters]).map((member) => ({
  ...member,
  ...OWN[member.path],
}));

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'holds',
    description: 'list what needs a person, with the command that resolves it: exits with 3 if there is anything',
    members: FILTERS,
    common: ['api', 'output'],
    examples: ['credit-journey holds', 'credit-journey holds --type OutcomeUnknown --since PT2H'],
    async run(context: Context<CallOptions & GivenOptions>) {
      const filters = readFilters(context.options);
      const holds = await listHolds(createOperations(context, 'ledger'), filters);
      const list = holds.map(({ guide: _, decideAt: __, ...hold }) => ({ ...hold, command: resolveCommand(hold) }));
      return {
        answer: { list },
        lines: () => (list.length === 0 ? ['nothing needs a person'] : formatHolds(list, context.output.width)),
        exitCode: list.length > 0 ? EXIT.needsPerson : EXIT.done,
      };
    },
  },
];

function formatHolds(list: readonly (Omit<Hold, 'guide'> & { command: string })[], width: number): string[] {
  const rows = list.map(({ kind, runKey, reason, since, productCode, attempt, command }) => ({
    kind,
    runKey,
    reason: describeReason(reason).words,
    since,
    productCode,
    attempt,
    command,
  }));
  return formatRowTable(rows, width);
}

/** @throws InvalidInputError with the options in place of paths, UsageError */
export function readFilters(options: GivenOptions): Loose {
  const query = readQuery(FILTERS, { ...options, since: parseSince(options.since as string | undefined) });
  try {
    checkCall(findRoute('listHolds'), { query });
  } catch (error) {
    throw toOptionError(error, mapOptionsByPath(FILTERS), options);
  }
  return query;
}

/** Reads every page of the rows that the conditions choose, the oldest first. */
export async function listHolds(call: CallOperation, conditions: Loose): Promise<Hold[]> {
  const holds: Hold[] = [];
  let page: { data: Hold[]; next?: string } | undefined;
  do {
    page = readDocument(
      await call('listHolds', { ...conditions, limit: '200', after: page?.next }),
    ) as typeof page & {};
    holds.push(...page.data);
  } while (page.next !== undefined);
  return holds;
}
