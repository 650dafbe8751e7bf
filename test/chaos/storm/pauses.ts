/** A person pauses the inquiries of one profile, or of all, and resumes them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { wakeRuns } from '../../../src/operator/wake-runs.ts';
import type { World } from '../world.ts';
import type { Strike } from './strike.ts';

const AUTHORIZATION = { by: 'chaos', reason: 'a pause' };
/** The ledger may be away when the pause is over: an operator says it again. */
const SAYS_AGAIN_MS = 500;

export const pauseInquiries: Strike = async ({ forMs = 0, pick = 0 }, { world }) => {
  const scope = pick < 0.5 ? {} : { profile: 'default' };
  const isNew = await withLedger(world, async ({ identity, pauses }) => {
    return !(await pauses.begin(identity.ledgerId, scope, AUTHORIZATION)).duplicate;
  });
  if (!isNew) return false;
  await delay(forMs);
  for (;;) {
    try {
      await withLedger(world, async (ledger) => {
        await ledger.pauses.end(ledger.identity.ledgerId, scope, AUTHORIZATION);
        await wakeRuns(world.client, ledger);
      });
      return true;
    } catch {
      await delay(SAYS_AGAIN_MS);
    }
  }
};

async function withLedger<T>(
  { ledger: house, keyRing, newer }: World,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const options = { url: house.ownUrl, environment: 'sandbox', keyRing } as const;
  const ledger = await (newer ? newer.openLedger(options) : openLedger(options));
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}
