/** Selects the rows whose runs the token reaches, by the rule that judges a decision about them. */
import type { Client } from '@temporalio/client';
import { inParallel } from '../../base/in-parallel.ts';
import { type ApiCaller, reaches, reachesAll } from '../caller.ts';
import type { ApiServices } from '../services.ts';

type Services = Pick<ApiServices, 'client' | 'runScope'>;

const TIMEOUT_MS = 2_000;
const AT_ONCE = 16;

/**
 * The ledger has kept most of the others out of the page already, by what it knows of their runs. Each run is asked for
 * all that it is for, also for whom nothing was sent yet. Where Temporal is away the ledger alone tells, as of a run that
 * is lost: a list is needed most then.
 */
export async function withinReach<Row extends { runKey: string }>(
  { client, runScope }: Services,
  caller: ApiCaller,
  rows: readonly Row[],
): Promise<Row[]> {
  if (reachesAll(caller) || rows.length === 0) return [...rows];
  const isTemporalAway = !(await answers(client));
  const mine = new Set<string>();
  await inParallel([...new Set(rows.map(({ runKey }) => runKey))], AT_ONCE, async (runKey) => {
    const scope = await runScope(runKey, { isTemporalAway, ofLate: true });
    if (scope && reaches(caller, scope)) mine.add(runKey);
  });
  return rows.filter(({ runKey }) => mine.has(runKey));
}

/** Asked once for all rows: each would wait for it in vain. */
function answers(client: Client): Promise<boolean> {
  const asked = client.withDeadline(Date.now() + TIMEOUT_MS, () => client.workflowService.getSystemInfo({}));
  return asked.then(
    () => true,
    () => false,
  );
}
