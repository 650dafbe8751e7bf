/** Describes work for operators, with the command that resolves each item. Includes no personal data. */
import type { HoldStatus } from '../../client.ts';
import { pauseWords } from '../../ledger/pauses.ts';
import type { HoldAction } from '../../model/failure-types.ts';
import { type HeldInquiry, holdFacts, holdTitle, resolveCommand } from '../../words/holds.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { commandLines, type Output, wrap } from './output.ts';

type ListedInquiry = HeldInquiry & { runKey: string; allowedActions: readonly (HoldAction | 'seen')[] };

/** A hold as the status of a run shows it. */
export function toListed(runKey: string, { failureType, attempts, ...hold }: HoldStatus): ListedInquiry {
  return { runKey, ...hold, reason: failureType, attempt: attempts };
}

/** Describes one hold in full, with the command that resolves it. */
export function holdLines(hold: ListedInquiry, width: number, indent = ''): string[] {
  return [
    ...wrap(holdTitle(hold, AS_TEXT), width, indent),
    ...holdFacts(hold, AS_TEXT).flatMap(([name, fact]) => wrap(`${name}: ${fact}`, width, `${indent}  `)),
    ...wrap(`May be decided: ${hold.allowedActions.join(', ')}`, width, `${indent}  `),
    ...commandLines(resolveCommand(hold), width, `${indent}  `),
  ];
}

/** Returns a line for each pause in force. Returns none under JSON, or if the environment names no readable ledger. */
export async function pauseNotice({ isJson, width, colors }: Output): Promise<string[]> {
  if (isJson) return [];
  const [{ loadClientLedgerAccess }, { inspect }, { readPauses }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../ledger/inspect-ledger.ts'),
    import('../../ledger/pauses.ts'),
  ]);
  try {
    const { ledger } = loadClientLedgerAccess(process.env, { besideLedger: true });
    const pauses = await inspect(ledger.url, (tx) => readPauses(tx, { inForce: true }));
    return pauses.flatMap((pause) => wrap(pauseWords(pause), width).map(colors.yellow));
  } catch {
    return [];
  }
}
