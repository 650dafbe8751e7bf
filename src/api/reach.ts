/** Whether a caller reaches a run that is found while its request is handled. */
import { reaches, reachesAll } from './caller.ts';
import { unknownRun } from './problem.ts';
import type { Call } from './route.ts';

type Asking = Pick<Call, 'caller' | 'services'>;

export async function isReached({ caller, services }: Asking, ownerId: string): Promise<boolean> {
  if (reachesAll(caller)) return true;
  const scope = await services.runScope(ownerId);
  return scope !== undefined && reaches(caller, scope);
}

/** @throws Refusal 404, as for an unknown id */
export async function requireReach(asking: Asking, ownerId: string): Promise<void> {
  if (!(await isReached(asking, ownerId))) throw unknownRun();
}
