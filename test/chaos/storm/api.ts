/** Strikes on copies of the API. */
import type { Strike } from './strike.ts';

/** If no call arrives by then, the copy is killed without one. */
const BUSY_WITHIN_MS = 1_500;

/** While it works on a call, if it can be. */
export const killApi: Strike = async ({ copy = 0, forMs = 0 }, { world: { api } }) => {
  const program = api?.copies[copy];
  if (!program) return false;
  await api?.untilBusy(copy, BUSY_WITHIN_MS);
  await program.end('SIGKILL', forMs);
  return true;
};
