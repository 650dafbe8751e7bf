/** An upgrade as in docs/deploy.md, whose migration adds a fence. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Strike } from './strike.ts';

/** `setup` of the newer version while the older workers run, then the newer workers and copies of the API, one after the other. */
export const upgrade: Strike = async ({ worker: first = 0, forMs = 0 }, { world }) => {
  const { newer, fleet, plan, api } = world;
  if (!newer || newer.isMigrated) return false;
  await newer.migrate(world.setupEnv);
  const size = plan.world.workersAheadMs.length;
  for (let nth = 0; nth < size; nth++) {
    // Meanwhile the others are beside a ledger that takes no claim from them.
    await delay(forMs);
    const worker = (first + nth) % size;
    newer.upgrade(worker);
    await Promise.all(fleet.numbered(worker).map((program) => program.end('SIGTERM', 0)));
  }
  for (const copy of api?.copies ?? []) await copy.end('SIGTERM', 0);
  return true;
};
