/** What needs a person, in words, with the command that resolves it. Nothing personal is in any of it. */
import { defined } from '../../base/defined.ts';
import type { OpenHold } from '../../client.ts';
import { type Pause, pauseWords } from '../../ledger/pauses.ts';
import { isFailureType } from '../../model/failure-types.ts';
import { ownerOf } from '../../model/owner-id.ts';
import { type DecidedInquiry, holdFacts, holdTitle, reasonWords } from '../../words/holds.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { type Output, tableWithIds, withAge, wrap } from './output.ts';
import { asCalled } from './program-call.ts';

/** The command that resolves it; on a terminal it asks for the options that are missing. */
export function resolveCommand(hold: OpenHold): string {
  const { journeyId, customerTraceNumber, attempt, heldBy } = hold;
  if (heldBy === 'run') {
    // A share that was revoked after posting waits for nothing in its run: a person should look.
    if (attempt === undefined) return `credit-journey status ${journeyId}`;
    return `credit-journey resolve ${journeyId} ${customerTraceNumber} --attempt ${attempt}`;
  }
  const judged = attempt === undefined ? '--action seen' : `--attempt ${attempt}`;
  return `credit-journey resolve --ledger ${customerTraceNumber} ${judged}`;
}

/** In lines that can be copied whole into a shell. */
export function commandLines(command: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of asCalled(command).split(' ')) {
    const longer = line.trim() === '' ? `${line}${word}` : `${line} ${word}`;
    if (line.trim() !== '' && longer.length > width - 2) {
      lines.push(`${line} \\`);
      line = `${indent}    ${word}`;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}

/** Something that needs a person. */
export interface ListedWork {
  kind?: string;
  /** Of the run: its owner's id (model/owner-id.ts). */
  journeyId: string;
  /** A failure type, or what it is in a few words. */
  reason: string;
  /** RFC 3339. */
  since?: string;
  productCode?: string;
  attempt?: number;
  /** What belongs to it alone, in words. */
  detail?: string;
  /** What sees to it. */
  command: string;
}

export function listHold(hold: OpenHold): ListedWork {
  const { journeyId, reason, since, productCode, attempt } = hold;
  const work = { journeyId, reason: reasonWords(reason), productCode, command: resolveCommand(hold) };
  return { ...work, ...defined({ since, attempt }) };
}

/** A row for each, and under it what sees to it. */
export function workTable(list: readonly ListedWork[], width: number): string[] {
  const withKind = list.some(({ kind }) => kind !== undefined);
  const cells = (kind: string, ...others: string[]) => (withKind ? [kind, ...others] : others);
  const rows = list.map(({ kind = '', reason, productCode = '', attempt, since, journeyId }) =>
    cells(kind, reason, productCode, String(attempt ?? ''), since === undefined ? '' : withAge(since), journeyId),
  );
  const head = cells('KIND', 'REASON', 'PRODUCT', 'ATTEMPT', 'SINCE', 'JOURNEY');
  const [first = [], ...shown] = tableWithIds([head, ...rows], width);
  return [
    ...first,
    ...list.flatMap(({ detail, command }, index) => [
      ...(shown[index] ?? []),
      ...(detail === undefined ? [] : wrap(detail, width, '    ')),
      ...commandLines(command, width, '    '),
    ]),
  ];
}

export function holdTable(holds: readonly OpenHold[], width: number): string[] {
  const isLeft = ({ heldBy, attempt }: OpenHold) => heldBy === 'ledger' && attempt !== undefined;
  const list = holds.map((hold) => {
    const work = listHold(hold);
    return isLeft(hold) ? { ...work, journeyId: `${work.journeyId} (no run)` } : work;
  });
  return workTable(list, width);
}

/** Everything about one hold, and the command that resolves it. */
export function holdLines(hold: OpenHold, width: number, indent = ''): string[] {
  return [
    ...wrap(holdTitle(hold, AS_TEXT), width, indent),
    ...holdFacts(hold, AS_TEXT).flatMap(([name, fact]) => wrap(`${name}: ${fact}`, width, `${indent}  `)),
    ...wrap(`May be decided: ${hold.allowedActions.join(', ')}`, width, `${indent}  `),
    ...commandLines(resolveCommand(hold), width, `${indent}  `),
  ];
}

/** The hold as the guide takes it. */
export function decidedInquiry({
  journeyId,
  heldBy,
  reason,
  productCode,
  shareId,
  attempt = 0,
}: OpenHold): DecidedInquiry {
  const failureType = isFailureType(reason) ? reason : null;
  return { run: ownerOf(journeyId).kind, isRunning: heldBy === 'run', failureType, productCode, shareId, attempt };
}

export function pauseLines(pauses: readonly Pause[], { width, colors }: Pick<Output, 'width' | 'colors'>): string[] {
  return pauses.flatMap((pause) => wrap(pauseWords(pause), width).map(colors.yellow));
}

/** A line for each pause in force; none under JSON, and where the environment names no ledger that can be read. */
export async function pauseNotice(output: Output): Promise<string[]> {
  if (output.isJson) return [];
  const { pausesInForce } = await import('../../operator/pauses-in-force.ts');
  return pauseLines(await pausesInForce(process.env), output);
}
