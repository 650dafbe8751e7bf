/** An attempt is dispatched on the workflow queue if a slot is free, and else on the profile's gateway queue. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventsOf, schedulesAttempt } from '../hazards/operator-hands.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
} from '../support/journey-harness.ts';
import { ON_GATEWAY_QUEUE } from '../support/short-timeouts.ts';

let harness: Harness;
before(async () => {
  // The workflow queue has one slot.
  harness = await startHarness({ env: { GATEWAY_CONNECTIONS: '2' } });
});
after(() => harness?.close());

function oneStage(lastFour = '0001') {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

/** Returns the queue of each scheduled `submitInquiry`. */
async function queuesOf(handle: JourneyHandle): Promise<('workflow' | 'gateway')[]> {
  const scheduled = (await eventsOf(handle)).flatMap((event) =>
    schedulesAttempt(event) ? [event.activityTaskScheduledEventAttributes?.taskQueue?.name ?? ''] : [],
  );
  return scheduled.map((name) => (/-gateway-default$/.test(name) ? 'gateway' : 'workflow'));
}

describe('an attempt', () => {
  test('is dispatched on its run’s workflow queue', async () => {
    const handle = await harness.start(oneStage());
    await handle.result();
    assert.deepEqual(await queuesOf(handle), ['workflow']);
  });

  test('is dispatched on the gateway queue if no slot is free, and is sent once', async () => {
    await harness.addFaults([{ fault: 'slowAfterPosting', delayMs: 400 }]);
    const handles = await Promise.all(Array.from({ length: 6 }, () => harness.start(oneStage())));
    await Promise.all(handles.map((handle) => handle.result()));
    const queues = await Promise.all(handles.map(queuesOf));
    assert.ok(queues.some((those) => !those.includes('gateway')));
    assert.ok(queues.some((those) => those[0] === 'workflow' && those.includes('gateway')));
    for (const handle of handles) assert.equal((await harness.received(handle)).length, 1);
  });

  test('waits in the gateway queue if its run was started as a batch', async () => {
    const input = oneStage();
    const handle = await harness.client.workflow.start('lendingJourney', {
      workflowId: `journey-${input.journeyId}`,
      taskQueue: harness.config.taskQueue,
      args: [input],
      priority: { priorityKey: 5 },
    });
    await handle.result();
    assert.deepEqual(await queuesOf(handle as JourneyHandle), ['gateway']);
  });
});

test('every attempt waits in the gateway queue if there is a rate limit', async () => {
  const limited = await startHarness({ env: ON_GATEWAY_QUEUE });
  try {
    const handle = await limited.start(oneStage());
    await handle.result();
    assert.deepEqual(await queuesOf(handle), ['gateway']);
    assert.equal((await limited.received(handle)).length, 1);
  } finally {
    await limited.close();
  }
});
