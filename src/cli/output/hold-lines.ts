/** What needs a person, in words, with the command that resolves it. Nothing personal is in any of it. */
import type { OpenHold } from '../../client.ts';
import { isFailureType } from '../../model/failure-types.ts';
import { ownerOf } from '../../model/owner-id.ts';
import { type DecidedInquiry, holdFacts, holdTitle, reasonWords } from '../../words/holds.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { tableWithIds, withAge, wrap } from './output.ts';
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

/** A row for each, and under it the command. */
export function holdTable(holds: readonly OpenHold[], width: number): string[] {
  const [head = [], ...rows] = tableWithIds(
    [['REASON', 'PRODUCT', 'ATTEMPT', 'SINCE', 'JOURNEY'], ...holds.map(holdRow)],
    width,
  );
  return [...head, ...rows.flatMap((row, index) => [...row, ...commandLines(commandOf(holds[index]), width, '    ')])];
}

function commandOf(hold: OpenHold | undefined): string {
  return hold ? resolveCommand(hold) : '';
}

function holdRow({ reason, productCode, attempt, since, journeyId, heldBy }: OpenHold): string[] {
  return [
    reasonWords(reason),
    productCode,
    attempt === undefined ? '' : String(attempt),
    since === undefined ? '' : withAge(since),
    heldBy === 'ledger' && attempt !== undefined ? `${journeyId} (no run)` : journeyId,
  ];
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
