/** A delivery that receives very many signals continues as new in each of its waits. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { until } from '../hazards/operator-hands.ts';
import { outgrow } from '../support/floods.ts';
import {
  deliveryOf,
  playHeld,
  resendAll,
  startWebhookStage,
  untilDelivery,
  type WebhookStage,
} from '../support/webhook-scenarios.ts';

/** The server's number of the state. */
const CANCEL_REQUESTED = 3;

let stage: WebhookStage;
before(async () => {
  // The delivery retries an event for as long as by default.
  stage = await startWebhookStage({ giveUpAfter: 'P1D' });
});
after(() => stage?.close());

test('a delivery that waits for its next attempt continues as new, and the next run delivers in order', async () => {
  const { receiver } = stage;
  receiver.answer('/hangs', 503);
  const { journeyId } = await playHeld(stage);
  const delivery = deliveryOf(stage, journeyId);
  const waits = (name: string) =>
    untilDelivery(delivery, ({ endpoints }) =>
      endpoints.some(({ endpoint, waiting }) => endpoint === name && waiting === 3),
    );
  await waits('hangs');
  await outgrow(delivery, 'deliverEvents', (padding) => ({ events: [{ padding }] }));
  await waits('hangs');
  receiver.answer('/hangs', 204);
  const accepted = await receiver.accepted('/hangs', journeyId, 3);
  assert.deepEqual(
    accepted.map(({ event }) => event?.type),
    ['inquiry.held', 'hold.resolved', 'journey.ended'],
  );
});

test('a delivery with more events than one payload holds delivers first, and continues as new after that', async () => {
  const { receiver } = stage;
  receiver.answer('/hangs', 503);
  const { journeyId } = await playHeld(stage);
  const delivery = deliveryOf(stage, journeyId);
  const waits = (count: number) =>
    untilDelivery(delivery, ({ endpoints }) => endpoints.some(({ waiting }) => waiting === count));
  await waits(3);
  const { runId } = await delivery.describe();
  const data = { journeyId, environment: 'sandbox', stage: 'PREAPP', padding: 'x'.repeat(50_000) };
  for (let first = 0; first < 100; first += 10) {
    const events = Array.from({ length: 10 }, (_, index) => {
      const event = { id: `evt_${first + index}`, type: 'stage.skipped', timestamp: new Date().toISOString(), data };
      return { ...event, endpoints: ['hangs'] };
    });
    await delivery.signal('deliverEvents', { events });
  }
  await waits(103);
  assert.equal((await delivery.describe()).runId, runId);
  receiver.answer('/hangs', 204);
  await delivery.executeUpdate('resendWebhooks', { args: [{}] });
  const accepted = await receiver.accepted('/hangs', journeyId, 103);
  assert.deepEqual(new Set(accepted.slice(3).map(({ event }) => event?.type)), new Set(['stage.skipped']));
  assert.notEqual((await delivery.describe()).runId, runId);
});

test('events that are sent again while a delivery continues as new need no person in the next run', async () => {
  const { receiver } = stage;
  const onTheWire: ServerResponse[] = [];
  receiver.answer('/hangs', (response) => void onTheWire.push(response));
  receiver.answer('/gone', 410);
  const { journeyId } = await playHeld(stage);
  const delivery = deliveryOf(stage, journeyId);
  const isGone = (failed: number) =>
    untilDelivery(delivery, ({ endpoints }) =>
      endpoints.some((one) => one.endpoint === 'gone' && one.failed.length === failed && one.waiting === 0),
    );
  await isGone(3);
  const leaves = outgrow(delivery, 'deliverEvents', (padding) => ({ events: [{ padding }] }));
  // The attempt on the wire was called back, and the run waits for its end.
  await until(async () => {
    const { pendingActivities } = (await delivery.describe()).raw;
    return pendingActivities?.some(({ state }) => state === CANCEL_REQUESTED) ?? false;
  }, 'no attempt was called back');
  receiver.answer('/gone', 204);
  await resendAll(delivery);
  receiver.answer('/hangs', 503);
  for (const response of onTheWire) response.writeHead(503).end();
  await leaves;
  await isGone(0);
  const { searchAttributes } = await delivery.describe();
  assert.deepEqual(searchAttributes.NeedsAttention ?? [], []);
  await delivery.terminate();
});
