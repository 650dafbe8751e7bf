/** A journey's first attempt is lost together with its ledger, or is never made. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { startHarness } from '../support/journey-harness.ts';
import { assertSent, prequalOnly, resend, scheduled, startWorld, until, untilHeld } from '../support/process-world.ts';

const activities = ['prepareJourney', 'submitInquiry', 'closeAttempt', 'lookUpInquiry'];

type World = Awaited<ReturnType<typeof startWorld>>;

async function scheduledIn(handle: Awaited<ReturnType<World['start']>>): Promise<Record<string, number>> {
  const counts = await Promise.all(activities.map(async (name) => [name, await scheduled(handle, name)] as const));
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** The address of another ledger, which is empty. */
async function anotherLedger(world: World): Promise<string> {
  const url = `file:${join(dirname(world.ledgerFile), `other-${randomUUID()}.db`)}`;
  const keyRing = await openKeyRing({ keyRingFile: world.workerEnv.KEY_RING_FILE ?? '', keyRingMayBeMade: false });
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing, create: true });
  await ledger.close();
  return url;
}

describe('a first attempt', { concurrency: 4 }, () => {
  test('is held as LedgerChanged when its worker is killed and the next worker has another ledger', async (t) => {
    const world = await startWorld(t);
    const victim = await world.startWorker();
    // Posts, and never answers.
    const input = prequalOnly('4008');
    const handle = await world.start(input);
    await until('the request is at the gateway', async () => (await world.posted(input.journeyId)).length === 1);
    await victim.kill();
    const elsewhere = await world.startWorker({ LEDGER_URL: await anotherLedger(world) });
    await untilHeld(handle, 'LedgerChanged');
    await assertSent(world, input.journeyId, { received: 1, posted: 1 });
    assert.equal((await scheduledIn(handle)).prepareJourney, 1, 'the run keeps the ledger that it began with');

    // On its own ledger again, a resend means to continue: that ledger has the attempt.
    await elsewhere.terminate();
    await world.startWorker();
    await resend(handle, await untilHeld(handle, 'LedgerChanged'), 'unknown');
    await untilHeld(handle, 'OutcomeUnknown');
    await assertSent(world, input.journeyId, { received: 1, posted: 1 });
    await handle.terminate();
  });

  test('is not made when the journey is withdrawn before a worker takes it', async () => {
    const harness = await startHarness({ withoutWorker: true });
    try {
      const input = prequalOnly();
      const handle = await harness.start(input);
      await handle.signal('requestWithdrawal', {
        journeyId: input.journeyId,
        by: 'consumer',
        reason: 'changed their mind',
      });
      await harness.startWorker();
      assert.equal((await handle.result()).outcome, 'withdrawn');
      assert.equal((await harness.received(handle)).length, 0);
      assert.deepEqual(await scheduledIn(handle), { prepareJourney: 1 });
    } finally {
      await harness.close();
    }
  });
});
