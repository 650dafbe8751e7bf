/** Whether a caller reaches runs that are found while its request is handled. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { inParallel } from '../base/in-parallel.ts';
import { reaches, reachesAll } from './caller.ts';
import { unknownRun } from './problem.ts';
import { NOBODYS_ID } from './required-reach.ts';
import type { Call } from './route.ts';

type Asking = Pick<Call, 'caller' | 'services'>;

const AT_ONCE = 16;
const TIMEOUT_MS = 2_000;

export async function isReached({ caller, services }: Asking, runKey: string): Promise<boolean> {
  if (reachesAll(caller)) return true;
  const required = await services.findRequiredReach(runKey);
  return required !== undefined && reaches(caller, required);
}

/**
 * Returns the rows whose run the caller reaches, in their order, by the rule that judges a message to the run. Each run is
 * asked for all that it is for. Where Temporal is away the ledger alone tells: a list is needed most then.
 */
export async function keepReached<Row>(
  { caller, services }: Asking,
  rows: readonly Row[],
  readOwner: (row: Row) => string,
): Promise<Row[]> {
  if (reachesAll(caller) || rows.length === 0) return [...rows];
  const isTemporalAway = !(await answers(services.client));
  const reached = new Set<string>();
  await inParallel([...new Set(rows.map(readOwner))], AT_ONCE, async (runKey) => {
    const required = await services.findRequiredReach(runKey, { isTemporalAway, ofLate: true });
    if (required && reaches(caller, required)) reached.add(runKey);
  });
  return rows.filter((row) => reached.has(readOwner(row)));
}

/** Asked once for all rows: each would wait for it in vain. */
function answers(client: Client): Promise<boolean> {
  const asked = client.withDeadline(Date.now() + TIMEOUT_MS, () => client.workflowService.getSystemInfo({}));
  return asked.then(
    () => true,
    () => false,
  );
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
