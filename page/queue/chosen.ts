/** Holds of one failure type that were chosen for a decision together. */
import type { Hold } from '../api/schemas.ts';
import { whenForgotten } from '../base/kept.ts';
import { observed } from '../base/observed.ts';

export const chosen = observed<ReadonlyMap<string, Hold>>(new Map());

/** What a decision together is about: an inquiry that a run or the ledger holds. */
export function canBeChosen(hold: Hold, among: ReadonlyMap<string, Hold>): boolean {
  if (hold.kind !== 'held' || hold.customerTraceNumber === undefined || !hold.attempt) return false;
  const [first] = among.values();
  return first === undefined || first.failureType === hold.failureType;
}

export function toggle(hold: Hold): void {
  const next = new Map(chosen.get());
  if (!next.delete(hold.holdId) && canBeChosen(hold, next)) next.set(hold.holdId, hold);
  chosen.set(next);
}

export function chooseAll(holds: readonly Hold[]): void {
  const next = new Map(chosen.get());
  for (const hold of holds) if (canBeChosen(hold, next)) next.set(hold.holdId, hold);
  chosen.set(next);
}

export function chooseNone(): void {
  chosen.set(new Map());
}

whenForgotten(chooseNone);
