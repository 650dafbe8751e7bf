/** A run's status and its holds as lines for a terminal, each hold with the command that resolves it. Nothing personal is in them. */

import type { HoldStatus } from '../../client.ts';
import type { HoldAction } from '../../model/failure-types.ts';
import { formatRunName } from '../../model/run-key.ts';
import {
  describeProblem,
  formatHoldTitle,
  type HeldInquiry,
  listHoldFacts,
  resolveCommand,
} from '../../words/holds.ts';
import {
  type AnyStatus,
  describeAttention,
  describeNews,
  describeParts,
  describeStanding,
  listGateWays,
  needsPerson,
  readRunKey,
  toRunView,
} from '../../words/runs.ts';
import { AS_TEXT, capitalize } from '../../words/writer.ts';
import { formatTable, type Output, withAge, wrap } from './output.ts';

/** The rest is in `credit-journey holds`. */
const HOLDS_SHOWN = 3;
/** The rest is in `--json`. */
const REFUSED_SHOWN = 3;

export function formatStatus(status: AnyStatus, { colors, width }: Pick<Output, 'colors' | 'width'>): string[] {
  const view = toRunView(status);
  const { environment, holds, problems = [], refusedMessages, refusedMessagesTotal } = status;
  const runKey = readRunKey(status);
  const name = capitalize(formatRunName(runKey));
  const head = `${name}${environment === undefined ? '' : ` · ${environment}`} · ${describeStanding(view)}`;
  const ways = listGateWays(view);
  const notes = [...describeAttention(view, AS_TEXT), ...describeNews(view, AS_TEXT)];
  return [
    ...wrap(head, width).map(needsPerson(status) ? colors.yellow : colors.bold),
    ...problems.flatMap((problem) => wrap(describeProblem(problem, AS_TEXT), width, '  ')),
    ...describeParts(view, AS_TEXT).flatMap(({ title, rows }) => [
      title,
      ...formatTable(withoutEmpty(rows), width, '  '),
    ]),
    ...notes.flatMap((note) => wrap(note, width, '  ')),
    ...formatSection(
      'How to pass the gate',
      ways.flatMap(({ words, command }) => [
        ...(words === undefined ? [] : wrap(words, width, '  ')),
        ...wrap(command.replaceAll(' \\\n', ''), width, '    '),
      ]),
    ),
    ...formatSection(
      holds.length > HOLDS_SHOWN ? `Needs a person (the first ${HOLDS_SHOWN} of ${holds.length})` : 'Needs a person',
      holds.slice(0, HOLDS_SHOWN).flatMap((hold) => formatHold(toListed(runKey, hold), width, '  ')),
    ),
    ...formatSection(
      `Refused messages (${refusedMessagesTotal})`,
      refusedMessages
        .slice(-REFUSED_SHOWN)
        .flatMap(({ message, at, reason }) => wrap(`${message} at ${withAge(at)}: ${reason}`, width, '  ')),
    ),
  ];
}

function formatSection(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

/** Leaves out columns that no row has. */
function withoutEmpty(rows: readonly string[][]): string[][] {
  return rows.map((row) => row.filter((_, column) => rows.some((other) => (other[column] ?? '') !== '')));
}

type ListedInquiry = HeldInquiry & { runKey: string; allowedActions: readonly (HoldAction | 'seen')[] };

/** A hold as the status of a run shows it. */
export function toListed(runKey: string, { attempts, ...hold }: HoldStatus): ListedInquiry {
  return { runKey, ...hold, attempt: attempts };
}

/** Describes one hold in full, with the command that resolves it. */
export function formatHold(hold: ListedInquiry, width: number, indent = ''): string[] {
  return [
    ...wrap(formatHoldTitle(hold, AS_TEXT), width, indent),
    ...listHoldFacts(hold, AS_TEXT).flatMap(([name, fact]) => wrap(`${name}: ${fact}`, width, `${indent}  `)),
    ...wrap(`May be decided: ${hold.allowedActions.join(', ')}`, width, `${indent}  `),
    ...wrap(resolveCommand(hold), width, `${indent}  `),
  ];
}
