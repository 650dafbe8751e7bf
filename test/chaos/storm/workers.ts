/** Strikes on workers: kills, stops, freezes, and replacements one after the other. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Strike } from './strike.ts';

/** A worker is ready some seconds after its start; the next one is stopped when it can be assumed. */
const BETWEEN_WORKERS_MS = 3_000;

export const killWorker: Strike = async ({ worker = 0, forMs = 0 }, { world }) => {
  await world.workers[worker]?.end('SIGKILL', forMs);
  return true;
};

/** It finishes what it has in flight. */
export const stopWorker: Strike = async ({ worker = 0, forMs = 0 }, { world }) => {
  await world.workers[worker]?.end('SIGTERM', forMs);
  return true;
};

/** No instruction of it runs meanwhile, not even those that would notice. */
export const freezeWorker: Strike = async ({ worker = 0, forMs = 0 }, { world }) => {
  world.workers[worker]?.freeze();
  await delay(forMs);
  world.workers[worker]?.thaw();
  return true;
};

export const rollWorkers: Strike = async (_step, { world }) => {
  for (const worker of world.workers) {
    await worker.end('SIGTERM', 0);
    await delay(BETWEEN_WORKERS_MS);
  }
  return true;
};

/** A worker whose configuration lacks the journeys' profile takes the place of one that has it, and gives it back. */
export const profileAway: Strike = async ({ worker = 0, forMs = 0 }, { world: { fleet, profiles } }) => {
  const restart = (signal: 'SIGKILL' | 'SIGTERM') =>
    Promise.all(fleet.numbered(worker).map((program) => program.end(signal, 0)));
  try {
    await profiles.write(worker, { hasJourneys: false });
    // What it had on the wire is looked up, perhaps by the one that lacks the profile.
    await restart('SIGKILL');
    await delay(forMs);
  } finally {
    await profiles.write(worker, { hasJourneys: true });
    await restart('SIGTERM');
  }
  return true;
};
