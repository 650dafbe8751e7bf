/** Whether a caller reaches runs that are found while its request is handled. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../base/in-parallel.ts';
import { reaches, reachesAll } from './caller.ts';
import { unknownRun } from './problem.ts';
import type { Call } from './route.ts';
import { NOBODYS_ID } from './run-scope.ts';

type Asking = Pick<Call, 'caller' | 'services'>;

const AT_ONCE = 8;

export async function isReached({ caller, services }: Asking, runKey: string): Promise<boolean> {
  if (reachesAll(caller)) return true;
  const scope = await services.runScope(runKey);
  return scope !== undefined && reaches(caller, scope);
}

/** Returns the runs that the caller reaches. Each run is asked about once. */
async function reachedAmong(asking: Asking, runKeys: readonly string[]): Promise<ReadonlySet<string>> {
  const reached = new Set<string>();
  await inParallel([...new Set(runKeys)], AT_ONCE, async (runKey) => {
    if (await isReached(asking, runKey)) reached.add(runKey);
  });
  return reached;
}

/** The rows whose run the caller reaches, in their order. */
export async function keepReached<Row>(
  asking: Asking,
  rows: readonly Row[],
  readOwner: (row: Row) => string,
): Promise<Row[]> {
  const reached = await reachedAmong(asking, rows.map(readOwner));
  return rows.filter((row) => reached.has(readOwner(row)));
}

/**
 * A refusal takes a multiple of this time. To find another caller's run takes a millisecond longer than to find none,
 * and no caller may measure that.
 */
const STEP_MS = 25;

export async function untilNextStep({ startedAt }: Pick<Call, 'startedAt'>): Promise<void> {
  await sleep(Math.ceil(STEP_MS - ((performance.now() - startedAt) % STEP_MS)));
}

/** @throws Refusal 404, as for an unknown id */
export async function requireReach(asking: Asking, runKey: string): Promise<void> {
  if (!(await isReached(asking, runKey))) throw unknownRun();
}

/**
 * Whether the caller reaches the run of an inquiry that was looked up; where there is none, the same is asked.
 *
 * @throws Refusal 404
 */
export async function requireFound<Inquiry extends { runKey: string }>(
  asking: Asking,
  inquiry: Inquiry | null,
): Promise<Inquiry> {
  await requireReach(asking, inquiry?.runKey ?? NOBODYS_ID);
  if (!inquiry) throw unknownRun();
  return inquiry;
}
