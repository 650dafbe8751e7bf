/** Servers: killed at any instant, and back on what they had written. */
import type { Strike } from './strike.ts';

export const killTemporal: Strike = async ({ forMs = 0 }, { world }) => {
  await world.temporal.restart(forMs);
  return true;
};

export const killPostgres: Strike = async ({ forMs = 0 }, { world }) => {
  await world.ledger.restart(forMs);
  return true;
};

/** Kills the sandbox, also in the middle of an answer. It comes back with its postings and without its tokens. */
export const killSandbox: Strike = async ({ forMs = 0 }, { world }) => {
  await world.sandbox.end('SIGKILL', forMs);
  await world.setFaults(world.plan.world.gatewayFaults);
  return true;
};
