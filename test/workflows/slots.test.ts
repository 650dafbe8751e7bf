/** An attempt that finds every connection in use: it goes to the gateway queue, and waits longer each time after that. */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { activityInfo } from '@temporalio/activity';
import { eventsOf } from '../hazards/operator-hands.ts';
import { interceptActivities } from '../support/intercept-activities.ts';
import { type Harness, journeyInput, startHarness, untilStatus } from '../support/journey-harness.ts';
import { assertReplays } from '../support/temporal.ts';

const BACKOFF_MS = 200;
/** The first is on the workflow queue. */
const WITHOUT_SLOT = 5;

let harness: Harness;
let left = WITHOUT_SLOT;
before(async () => {
  harness = await startHarness({ withoutWorker: true, env: { BACKOFF_INITIAL_MS: String(BACKOFF_MS) } });
  interceptActivities(() => ({
    execute: async (input, next) =>
      activityInfo().activityType === 'submitInquiry' && left-- > 0 ? { kind: 'noSlot' } : next(input),
  }));
  await harness.startWorker();
});
after(async () => {
  await harness?.close();
  mock.restoreAll();
});

test('an attempt without a slot goes to the gateway queue at once, and then waits twice as long each time', async () => {
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL'] }));
  const { stages } = await untilStatus(handle, ({ state }) => state === 'completed');
  assert.equal(stages[0]?.attempts, 1);
  assert.equal((await harness.received(handle)).length, 1);
  const events = await eventsOf(handle);
  const waitsMs = events.flatMap(({ timerStartedEventAttributes: timer }) => {
    const { seconds, nanos } = timer?.startToFireTimeout ?? {};
    return timer ? [Number(seconds ?? 0) * 1_000 + Number(nanos ?? 0) / 1_000_000] : [];
  });
  assert.equal(waitsMs.length, WITHOUT_SLOT - 1);
  for (const [round, waitMs] of waitsMs.entries()) {
    const fullMs = BACKOFF_MS * 2 ** round;
    assert.ok(waitMs >= fullMs / 2 && waitMs <= fullMs, `wait ${round + 1} of ${waitMs} ms`);
  }
  await assertReplays(handle);
});
