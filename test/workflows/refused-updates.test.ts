/**
 * A workflow task whose only message is a refused update leaves no event, so no replay has it. The run may do nothing
 * in that task, at any clock and history size of the SDK.
 */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { eventsOf, traceOf, until } from '../hazards/operator-hands.ts';
import { interceptActivities } from '../support/intercept-activities.ts';
import {
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { reportPull, startPull } from '../support/pull-scenarios.ts';
import { MESSAGE_MS } from '../support/short-timeouts.ts';
import { runsSlowParts } from '../support/slow-parts.ts';
import { assertAllReplay, assertReplays } from '../support/temporal.ts';
import { startWebhookStage } from '../support/webhook-scenarios.ts';

/** The first activity alone takes so many events. With fewer, a run continues as new before it does anything. */
const FEWEST_EVENTS = 4;
const VALID_FOR_MS = 3_000;
const PULLS = runsSlowParts ? 20 : 6;
/** Quick runs test only counts of events near the one at which a run at the gate continues as new. */
const NEAR_THE_GATE = 4;
/** The server accepts ten updates in flight for a run. */
const SENDERS = 4;

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness?.close());

/** Sends an advance that is refused, since there is no gate before PREQUAL. */
function refusedAdvance(handle: JourneyHandle, journeyId: string): Promise<string> {
  return refusalOf(update(handle, 'advance', { journeyId, to: 'PREQUAL' }));
}

/** Empties the worker's cache, so that the run's next workflow task replays the whole history. */
async function restartWorker(): Promise<void> {
  await harness.stopWorker();
  await harness.startWorker();
}

async function failedTasks(handle: JourneyHandle): Promise<unknown[]> {
  return (await eventsOf(handle)).filter((event) => event.workflowTaskFailedEventAttributes);
}

test('a refused update at a gate makes no journey continue as new, at any count of events at which that is due', async () => {
  const gated = async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    return { journeyId: input.journeyId, handle };
  };
  const { length } = await eventsOf((await gated()).handle);
  const configured = harness.config.protocol.handOverAfterEvents;
  const journeys: Awaited<ReturnType<typeof gated>>[] = [];
  const fewest = runsSlowParts ? FEWEST_EVENTS : length - NEAR_THE_GATE;
  for (let count = fewest; count <= length + 2; count++) {
    Object.assign(harness.config.protocol, { handOverAfterEvents: count });
    const journey = await gated();
    journeys.push(journey);
    await refusedAdvance(journey.handle, journey.journeyId);
    await assertAllReplay(harness.client, journey.handle);
  }
  Object.assign(harness.config.protocol, { handOverAfterEvents: configured });
  await restartWorker();
  for (const { journeyId, handle } of journeys) {
    const latest = harness.client.workflow.getHandle(handle.workflowId) as JourneyHandle;
    await update(latest, 'advance', { journeyId, to: 'PREAPP' });
    assert.equal((await latest.result()).outcome, 'completed');
    assert.deepEqual(await failedTasks(latest), []);
  }
});

test('a refused update does not end the wait of a share whose grant has become too old meanwhile', async () => {
  const shares = [{ shareId: 'S1', endUserCode: 'EU999', consentValidFor: `PT${VALID_FOR_MS / 1_000}S` }];
  const input = journeyInput({ stages: ['PREQUAL'], shares });
  const { journeyId: runKey } = input;
  const customerTraceNumber = traceOf(harness, runKey, 'SECONDUSE', 'S1');
  await harness.addFaults([{ customerTraceNumber, fault: 'status', status: 429, retryAfter: 600 }]);
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  const grant = consentMessage(runKey, { applicantId: '1A', decidedAt: new Date().toISOString() });
  await update(handle, 'recordConsent', grant);
  await untilStatus(handle, ({ waitingFor = '' }) => /429|rate|again/i.test(waitingFor));
  const before = (await eventsOf(handle)).length;
  await sleep(VALID_FOR_MS - 1_000);
  // Only the grant's own timer shows that the grant is too old.
  for (let isOver = false; !isOver; ) {
    await refusedAdvance(handle, runKey);
    await assertReplays(handle);
    isOver = (await eventsOf(handle)).length > before;
    await sleep(300);
  }
  const waiting = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  assert.deepEqual(waiting.shares[0]?.waitingFor, ['1A']);
  assert.ok((await eventsOf(handle)).some((event) => event.timerFiredEventAttributes));
  await restartWorker();
  await update(handle, 'withdraw', { journeyId: runKey, by: 'test', reason: 'done' });
  assert.equal((await handle.result()).shares[0]?.state, 'abandoned');
  assert.deepEqual(await failedTasks(handle), []);
});

/** A run's last workflow task may also have a refused update, which a replay does not have. */
test('a run with webhooks ends normally although it refuses updates without pause', async () => {
  const stage = await startWebhookStage();
  try {
    const ends = Array.from({ length: PULLS }, async () => {
      const pull = await startPull(stage.harness, reportPull());
      let isOver = false;
      const senders = Array.from({ length: SENDERS }, async () => {
        while (!isOver) await pull.executeUpdate('withdraw', { args: [{}] }).catch(() => undefined);
      });
      await pull.result();
      isOver = true;
      await Promise.all(senders);
      return pull;
    });
    for (const pull of await Promise.all(ends)) await assertReplays(pull);
  } finally {
    await stage.close();
  }
});

/**
 * The end of an activity, a refused update and an accepted one come in one task, while the run is about to end. Between
 * the two updates the SDK looks at the run's conditions.
 */
test('a run that ends replays although an update was refused before another one in the same task', {
  skip: !runsSlowParts,
}, async (t) => {
  const held = new Map<string, Promise<void>>();
  const hold = (activityType: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.set(activityType, promise);
    return () => {
      held.delete(activityType);
      resolve();
    };
  };
  t.after(() => mock.restoreAll());
  interceptActivities(() => ({
    execute: async (input, next) => {
      await held.get(activityInfo().activityType);
      return next(input);
    },
  }));
  const stage = await startWebhookStage();
  t.after(() => stage.close());
  const handle = await stage.harness.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'] }));
  const { journeyId } = await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const withdraw = () => update(handle, 'withdraw', { journeyId, by: 'test', reason: 'bought elsewhere' });
  const untilInFlight = (wanted: readonly string[]) =>
    until(async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      const names = (pendingActivities ?? []).map(({ activityType }) => activityType?.name ?? '');
      return names.toSorted().join() === wanted.join();
    }, `the activities in flight are not ${wanted.join()}`);
  const queue = hold('queueWebhooks');
  await withdraw();
  const record = hold('recordRunDecisions');
  const second = withdraw();
  await untilInFlight(['queueWebhooks', 'recordRunDecisions']);
  queue();
  await untilInFlight(['recordRunDecisions']);
  const stopped = stage.harness.stopWorker();
  await sleep(MESSAGE_MS);
  record();
  await stopped;
  const refused = assert.rejects(update(handle, 'withdraw', {}));
  await sleep(MESSAGE_MS);
  const third = withdraw();
  await sleep(MESSAGE_MS);
  await stage.harness.startWorker();
  await Promise.all([second, refused, third, handle.result()]);
  await assertReplays(handle);
});
