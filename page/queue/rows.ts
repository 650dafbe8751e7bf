/** The rows of the queue, as the reader sees them: a refresh moves none of those that are there. Pure. */
import type { Hold } from '../api/schemas.ts';

export interface Row {
  hold: Hold;
  /** It was on the list before, and is no longer: it keeps its place until the reader has it taken off. */
  isGone: boolean;
}

/**
 * @param fresh the list from its beginning, the oldest first
 * @param isWhole whether nothing follows `fresh`
 */
export function mergeRows(shown: readonly Row[], fresh: readonly Hold[], isWhole: boolean): Row[] {
  const now = new Map(fresh.map((hold) => [hold.holdId, hold]));
  const last = fresh.at(-1)?.since ?? '';
  const kept = shown.map((row): Row => {
    const hold = now.get(row.hold.holdId);
    if (hold) return { hold, isGone: false };
    // What lies behind the last that was read may be there still.
    return isWhole || row.hold.since < last ? { ...row, isGone: true } : row;
  });
  const known = new Set(shown.map(({ hold }) => hold.holdId));
  for (const hold of fresh) {
    if (known.has(hold.holdId)) continue;
    const at = kept.findLastIndex((row) => row.hold.since <= hold.since);
    kept.splice(at + 1, 0, { hold, isGone: false });
  }
  return kept;
}

export interface Group {
  kind: 'held' | 'flagged';
  failureType: string;
  rows: Row[];
}

/** What something waits for comes first; then by the oldest of each failure type. */
export function groupsOf(rows: readonly Row[]): Group[] {
  const groups = [...Map.groupBy(rows, ({ hold }) => `${hold.kind} ${hold.failureType}`).values()].flatMap((of) => {
    const first = of[0]?.hold;
    return first ? [{ kind: first.kind, failureType: first.failureType, rows: of }] : [];
  });
  return [...groups.filter(({ kind }) => kind === 'held'), ...groups.filter(({ kind }) => kind === 'flagged')];
}
