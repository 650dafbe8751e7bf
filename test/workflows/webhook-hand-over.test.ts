/** A delivery that receives very many signals continues as new in each of its waits. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { outgrow } from '../support/floods.ts';
import {
  deliveryOf,
  playHeld,
  startWebhookStage,
  untilDelivery,
  type WebhookStage,
} from '../support/webhook-scenarios.ts';

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
