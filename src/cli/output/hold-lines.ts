/** Describes work for operators, with the command that resolves each item. Includes no personal data. */
import { omitUndefined } from '../../base/defined.ts';
import type { HoldStatus } from '../../client.ts';
import { pauseWords } from '../../ledger/pauses.ts';
import type { HoldAction } from '../../model/failure-types.ts';
import { type HeldInquiry, holdFacts, holdTitle, reasonWords } from '../../words/holds.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { commandLines, type Output, wrap } from './output.ts';

/** A row of the ledger, or a hold as the status of a run shows it. */
interface Listed {
  runKey: string;
  reason: string;
  since?: string;
  productCode?: string;
  customerTraceNumber?: string;
  attempt?: number;
  allowedActions: readonly (HoldAction | 'seen')[];
}

type ListedInquiry = HeldInquiry & Pick<Listed, 'runKey' | 'allowedActions'>;

/** A hold as the status of a run shows it. */
export function toListed(runKey: string, { failureType, attempts, ...hold }: HoldStatus): ListedInquiry {
  return { runKey, ...hold, reason: failureType, attempt: attempts };
}

/** The command that resolves it; on a terminal it asks for the options that are missing. */
export function resolveCommand({ runKey, reason, customerTraceNumber, attempt, allowedActions }: Listed): string {
  if (allowedActions.includes('seen')) {
    const about =
      customerTraceNumber === undefined ? `run ${runKey} --flag ${reason}` : `inquiry ${customerTraceNumber}`;
    return `credit-journey seen ${about} --by <name> --reason <why>`;
  }
  // The cause of other flags has to be mended.
  if (customerTraceNumber === undefined) return `credit-journey status ${runKey}`;
  return `credit-journey resolve ${runKey} ${customerTraceNumber} --attempt ${attempt}`;
}

/** An item of work for operators. */
export interface ListedWork {
  /** The run key (model/run-key.ts). */
  runKey: string;
  /** A failure type, or a short description. */
  reason: string;
  /** RFC 3339. */
  since?: string;
  productCode?: string;
  attempt?: number;
  /** Details that only this item has, in words. */
  detail?: string;
  /** The command that resolves the item. */
  command: string;
}

export function listHold(hold: Listed): ListedWork {
  const { runKey, reason, since, productCode, attempt } = hold;
  const work = { runKey, reason: reasonWords(reason), command: resolveCommand(hold) };
  return { ...work, ...omitUndefined({ productCode, attempt, since }) };
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
  const { pausesInForce } = await import('../../operator/pauses-in-force.ts');
  const pauses = await pausesInForce(process.env);
  return pauses.flatMap((pause) => wrap(pauseWords(pause), width).map(colors.yellow));
}
