/** The ledger: there, and no help. */
import type { Conditions } from '../worker-conditions.ts';
import { REFUSED_WRITES } from '../world.ts';
import type { Strike } from './strike.ts';

export const ledgerLocked: Strike = async ({ forMs = 0 }, { world }) => {
  await world.ledger.lock(forMs);
  return true;
};

export const ledgerSlow: Strike = async ({ forMs = 0, delayMs = 0 }, { world }) => {
  await world.ledger.slow(forMs, delayMs);
  return true;
};

export const ledgerFull: Strike = async ({ forMs = 0 }, { world }) => {
  const tell = (ledgerIsFull: boolean) => {
    const programs = [...world.workers, ...(world.api?.copies ?? [])];
    for (const program of programs) program.tell({ ledgerIsFull } satisfies Conditions);
  };
  try {
    world.count(REFUSED_WRITES, await world.ledger.full(forMs, tell));
  } finally {
    await world.ledger.heal();
  }
  return true;
};

export const ledgerUnreachable: Strike = async ({ forMs = 0 }, { world }) => {
  await world.ledger.unreachable(forMs);
  return true;
};

export const commitAnswerLost: Strike = async (_step, { world }) => {
  await world.ledger.loseCommitAnswer();
  return true;
};
