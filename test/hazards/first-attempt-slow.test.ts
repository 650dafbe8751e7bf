/** A journey's first activity checks its input and makes its first attempt: it is lost, says nothing, or is called back. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { startHarness, untilStatus } from '../support/journey-harness.ts';
import {
  assertOwnRecord,
  assertSent,
  prequalOnly,
  resend,
  scheduled,
  startWorld,
  until,
  untilHeld,
} from '../support/process-world.ts';
import { workflowBundle } from '../support/temporal.ts';
import { eventsOf } from './operator-hands.ts';

const activities = ['beginJourney', 'prepareJourney', 'submitInquiry', 'closeAttempt', 'lookUpInquiry'];

type World = Awaited<ReturnType<typeof startWorld>>;

async function scheduledIn(handle: Awaited<ReturnType<World['start']>>): Promise<Record<string, number>> {
  const counts = await Promise.all(activities.map(async (name) => [name, await scheduled(handle, name)] as const));
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** The address of another ledger, which has nothing. */
async function anotherLedger(world: World): Promise<string> {
  const url = `file:${join(dirname(world.ledgerFile), `other-${randomUUID()}.db`)}`;
  const keyRing = await openKeyRing({ keyRingFile: world.workerEnv.KEY_RING_FILE ?? '', keyRingMayBeMade: false });
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing, create: true });
  await ledger.close();
  return url;
}

/** A worker whose first activity fails before it does anything, as one does that Temporal cannot take the result of. */
async function startSpeechlessWorker(t: TestContext, world: World): Promise<() => Promise<void>> {
  const connection = await NativeConnection.connect({ address: world.workerEnv.TEMPORAL_ADDRESS ?? '' });
  const worker = await Worker.create({
    connection,
    namespace: world.workerEnv.TEMPORAL_NAMESPACE ?? '',
    taskQueue: world.workerEnv.TASK_QUEUE ?? '',
    workflowBundle: (await workflowBundle()) as { code: string },
    activities: {
      beginJourney: async () => {
        throw ApplicationFailure.create({ message: 'the result could not be sent', type: 'Other' });
      },
    },
    stickyQueueScheduleToStartTimeout: 1_000,
  });
  const done = worker.run();
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    worker.shutdown();
    await done;
    await connection.close();
  };
  t.after(stop);
  return stop;
}

describe('a first attempt', { concurrency: 4 }, () => {
  test('whose worker is killed is held where another ledger stands in the place of its own', async (t) => {
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
    assert.equal((await scheduledIn(handle)).prepareJourney, undefined, 'the run knows what it had begun with');

    // On its own ledger again, a resend means to go on: the attempt is there.
    await elsewhere.terminate();
    await world.startWorker();
    await resend(handle, await untilHeld(handle, 'LedgerChanged'), 'unknown');
    await untilHeld(handle, 'OutcomeUnknown');
    await assertSent(world, input.journeyId, { received: 1, posted: 1 });
    await handle.terminate();
  });

  test('that fails without a word is held: nobody knows what was sent', async (t) => {
    const world = await startWorld(t);
    const stop = await startSpeechlessWorker(t, world);
    const input = prequalOnly();
    const handle = await world.start(input);
    await until('it has failed', async () =>
      (await eventsOf(handle)).some((event) => event.activityTaskFailedEventAttributes),
    );
    await stop();
    await world.startWorker();
    const hold = await untilHeld(handle, 'LedgerChanged');
    await assertSent(world, input.journeyId, { received: 0, posted: 0 });
    assert.deepEqual(await scheduledIn(handle), { beginJourney: 1, prepareJourney: 1, lookUpInquiry: 1 });
    await resend(handle, hold);
    await assertOwnRecord(world, handle);
    await assertSent(world, input.journeyId, { received: 1, posted: 1 });
  });

  test('is not made where the journey is withdrawn before a worker has it', async () => {
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

  test('has an activity of its own where a process may be silent for longer than a check', async () => {
    const harness = await startHarness({ env: { HEARTBEAT_TIMEOUT_MS: '11000' } });
    try {
      const handle = await harness.start(prequalOnly());
      assert.equal((await handle.result()).outcome, 'completed');
      assert.deepEqual(await scheduledIn(handle), { beginJourney: 1, submitInquiry: 1 });
      const held = await harness.start(prequalOnly('4002'));
      const { holds } = await untilStatus(held, ({ state }) => state === 'held');
      assert.equal(holds[0]?.failureType, 'OutcomeUnknown');
      await held.terminate();
    } finally {
      await harness.close();
    }
  });
});
