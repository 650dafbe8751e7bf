/** The order of inquiries that wait for the gateway's rate limit, on a real server. The sandbox gateway counts them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { CreditJourneys, type JourneyHandle, type WorkClass } from '../../src/client.ts';
import { toGatewayQueue } from '../../src/model/work-class.ts';
import { type Harness, journeyInput, type PostedInquiry, startHarness } from '../support/journey-harness.ts';
import { until } from '../support/process-world.ts';

const ACTIVITY = proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY;
const LIMIT = 10;
/** The number of tasks that the server dispatches at once after it was idle: a second's worth, and one. */
const BURST = LIMIT + 1;

let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  // One slot: what the server hands out first is posted first.
  harness = await startHarness({ env: { GATEWAY_CONNECTIONS: '1', GATEWAY_MAX_INQUIRIES_PER_SECOND: String(LIMIT) } });
  const { temporal: server, taskQueue } = harness.config;
  journeys = await CreditJourneys.connect({ address: server.address, namespace: server.namespace, taskQueue });
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

/** While the gate is closed, the server dispatches no task of the queue. */
async function setGate(isOpen: boolean): Promise<void> {
  const { temporal: server, taskQueue } = harness.config;
  await harness.client.workflowService.updateTaskQueueConfig({
    namespace: server.namespace,
    taskQueue: toGatewayQueue(taskQueue, 'default'),
    taskQueueType: ACTIVITY,
    updateQueueRateLimit: isOpen ? {} : { rateLimit: { requestsPerSecond: 0 } },
  });
}

/** Returns when the attempt of each journey waits in the gateway's queue. */
async function untilQueued(runs: JourneyHandle[]): Promise<void> {
  for (const { workflowId } of runs) {
    await until(`${workflowId} waits in the queue`, async () => {
      const { raw } = await harness.client.workflow.getHandle(workflowId).describe();
      return raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'submitInquiry') ?? false;
    });
  }
}

async function startQueued(endUserCode: string, count: number, workClass: WorkClass): Promise<JourneyHandle[]> {
  const inputs = Array.from({ length: count }, () => journeyInput({ endUserCode, stages: ['PREQUAL'] }));
  const runs = await Promise.all(inputs.map((input) => journeys.start(input, { workClass })));
  await untilQueued(runs);
  return runs;
}

test('interactive journeys are sent before batches, end users take turns, and the rate limit holds', async () => {
  await setGate(false);
  const runs = [
    ...(await startQueued('EUFLOOD', 16, 'batch')),
    ...(await startQueued('EUSMALL', 5, 'batch')),
    ...(await startQueued('EUURGENT', 4, 'interactive')),
  ];
  const openedAt = Date.now();
  await setGate(true);
  await Promise.all(runs.map((run) => run.result()));
  const answer = await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`);
  const posted = (await answer.json()) as PostedInquiry[];

  const order = posted.map(({ endUserCode }) => endUserCode);
  assert.equal(order.length, runs.length);
  // One more than there must be: the server may have had one in hand already.
  assert.ok(order.lastIndexOf('EUURGENT') <= 4, `interactive journeys waited: ${order}`);
  // After the four each of the five is preceded by one of the flood at most, and so by five, not by sixteen.
  assert.ok(order.lastIndexOf('EUSMALL') <= 4 + 5 + 5, `an end user waited for another's flood: ${order}`);
  const tookMs = Date.parse(posted.at(-1)?.postedAt ?? '') - openedAt;
  assert.ok(tookMs >= ((runs.length - BURST) / LIMIT) * 1_000, `${runs.length} were posted in ${tookMs} ms`);
});

test('a journey that another program starts without a fairness key has its end user as the key', async () => {
  const input = journeyInput({ endUserCode: 'EURAW', stages: ['PREQUAL'] });
  const run = await harness.start(input);
  await run.result();
  const { events } = await run.fetchHistory();
  const scheduled = events?.flatMap(({ activityTaskScheduledEventAttributes: attributes }) =>
    attributes?.activityType?.name === 'submitInquiry' ? [attributes.priority?.fairnessKey] : [],
  );
  assert.deepEqual(scheduled, ['EURAW']);
});

test('an inquiry that waited in the queue for longer than retries last is still retried', async () => {
  // These settings of the next runs stand for a day in the queue and a day of retries.
  Object.assign(harness.config.protocol, { giveUpAfterMs: 5_000, submitTimeoutMs: 4_000, backoffInitialMs: 100 });
  await setGate(false);
  const [run] = await startQueued('EULATE', 1, 'interactive');
  assert.ok(run);
  await delay(5_000);
  await harness.addFaults([{ fault: 'status', status: 429, times: 1 }]);
  await setGate(true);
  const { stages } = await run.result();
  assert.deepEqual(
    stages.map(({ state, attempts }) => ({ state, attempts })),
    [{ state: 'record', attempts: 2 }],
  );
});
