/** The holds of one run, as the list has them. */
import { get, withQuery } from '../api/call.ts';
import type { Hold, HoldList } from '../api/schemas.ts';

export interface RunHolds {
  holds: readonly Hold[];
  /** Whether it is no longer on the list; `undefined`: it may lie behind the last that was read. */
  isGone(hold: Hold): boolean | undefined;
}

/** Of a run, by the ledger alone: at once, also where its story cannot be told. */
export async function holdsOfRun(runKey: string, signal: AbortSignal): Promise<RunHolds> {
  const { data: holds, next } = await get<HoldList>(withQuery('/v1/holds', { runKey, limit: '200' }), signal);
  const known = new Set(holds.map(({ holdId }) => holdId));
  const last = holds.at(-1)?.since ?? '';
  return {
    holds,
    isGone({ holdId, since }) {
      if (known.has(holdId)) return false;
      return next === undefined || since < last ? true : undefined;
    },
  };
}
