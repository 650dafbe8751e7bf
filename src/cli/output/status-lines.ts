/** A run's status as lines for a terminal. Nothing personal is in a status. */
import { runName } from '../../model/run-key.ts';
import { describeProblem } from '../../words/holds.ts';
import { findNextSteps } from '../../words/next-steps.ts';
import {
  type AnyStatus,
  describeAttention,
  describeNews,
  describeParts,
  describeStanding,
  needsPerson,
  runKeyIn,
  viewStatus,
} from '../../words/runs.ts';
import { AS_TEXT, capitalize } from '../../words/writer.ts';
import { holdLines, toListed } from './hold-lines.ts';
import { commandLines, type Output, table, withAge, wrap } from './output.ts';

/** `credit-journey holds` has all. */
const HOLDS_SHOWN = 3;
/** The rest is in `--json`. */
const REFUSED_SHOWN = 3;

export function statusLines(status: AnyStatus, { colors, width }: Pick<Output, 'colors' | 'width'>): string[] {
  const view = viewStatus(status);
  const { environment, holds, problems = [], refusedMessages, refusedMessagesTotal } = status;
  const runKey = runKeyIn(status);
  const name = capitalize(runName(runKey));
  const head = `${name}${environment === null ? '' : ` · ${environment}`} · ${describeStanding(view)}`;
  const steps = view.gate ? findNextSteps(view).filter(({ update }) => update === 'advance') : [];
  const notes = [...describeAttention(view, AS_TEXT), ...describeNews(view, AS_TEXT)];
  return [
    ...wrap(head, width).map(needsPerson(status) ? colors.yellow : colors.bold),
    ...problems.flatMap((problem) => wrap(describeProblem(problem, AS_TEXT), width, '  ')),
    ...describeParts(view, AS_TEXT).flatMap(({ title, rows }) => [title, ...table(withoutEmpty(rows), width, '  ')]),
    ...notes.flatMap((note) => wrap(note, width, '  ')),
    ...steps.flatMap(({ title, ways }) => [
      title,
      ...ways.flatMap(({ words, command }) => [
        ...(words === undefined ? [] : wrap(words, width, '  ')),
        ...commandLines(command.replaceAll(' \\\n', ''), width, '    '),
      ]),
    ]),
    ...section(
      holds.length > HOLDS_SHOWN ? `Needs a person (the first ${HOLDS_SHOWN} of ${holds.length})` : 'Needs a person',
      holds.slice(0, HOLDS_SHOWN).flatMap((hold) => holdLines(toListed(runKey, hold), width, '  ')),
    ),
    ...section(
      `Refused messages (${refusedMessagesTotal})`,
      refusedMessages
        .slice(-REFUSED_SHOWN)
        .flatMap(({ message, at, reason }) => wrap(`${message} at ${withAge(at)}: ${reason}`, width, '  ')),
    ),
  ];
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

/** Leaves out columns that no row has. */
function withoutEmpty(rows: readonly string[][]): string[][] {
  return rows.map((row) => row.filter((_, column) => rows.some((other) => (other[column] ?? '') !== '')));
}
