/** Events of journeys on their way to endpoints that answer, that do not, and that want no more. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { webhookEventSchema } from '../../src/validation/webhook-schemas.ts';
import { eventsOf, resetTo } from '../hazards/operator-hands.ts';
import { typesOf } from '../support/webhook-receiver.ts';
import {
  ALL_OF_IT,
  askDelivery,
  deliveryOf,
  nothingWaits,
  playFully,
  playHeld,
  startWebhookStage,
  untilDelivery,
  type WebhookStage,
} from '../support/webhook-scenarios.ts';

let stage: WebhookStage;
before(async () => {
  stage = await startWebhookStage();
});
after(() => stage?.close());

test('a journey is told in its order, signed, with nothing personal; and again after a reset, under the same ids', async () => {
  const { harness, receiver } = stage;
  // The first is refused once: what comes after it waits for it.
  let refusals = 0;
  receiver.answer('/ends', (response) => {
    response.writeHead(refusals++ === 0 ? 503 : 200, { 'retry-after': '1' }).end();
  });
  const { handle, journeyId, personal } = await playFully(stage);
  const told = await receiver.accepted('/all', journeyId, ALL_OF_IT.length);
  assert.deepEqual(typesOf(told), ALL_OF_IT);
  assert.equal(new Set(told.map(({ id }) => id)).size, told.length);
  for (const { body, headers, event } of told) {
    for (const word of personal)
      assert.ok(word.length > 3 && !body.includes(word), `${event?.type} holds nothing personal`);
    assert.deepEqual(webhookEventSchema.parse(JSON.parse(body)), event);
    assert.match(String(headers['webhook-id']), /^evt_[A-Z2-7]{26}$/);
  }
  assert.deepEqual(told.at(-1)?.event?.data, { journeyId, environment: 'sandbox', outcome: 'completed' });
  // Both endpoints have everything: nothing is left to do, and the run has ended.
  assert.equal((await deliveryOf(stage, journeyId).result()).lost, 0);
  const ends = receiver.received.filter(({ path, body }) => path === '/ends' && body.includes(journeyId));
  assert.deepEqual(typesOf(ends), ['journey.ended', 'journey.ended'], 'it takes that type alone, and was asked twice');
  assert.equal(ends[0]?.id, ends[1]?.id);

  const prepared = (await eventsOf(handle)).filter((event) => event.workflowTaskCompletedEventAttributes);
  const [, afterPreparing] = prepared;
  assert.ok(afterPreparing?.eventId);
  const again = await resetTo(harness, handle, afterPreparing.eventId);
  await again.result();
  // Its messages are there from the beginning: it waits for nothing, and has nothing to say of that.
  const repeated = told.filter(({ event }) => !['gate.reached', 'consent.missing'].includes(event?.type ?? ''));
  const both = await receiver.accepted('/all', journeyId, told.length + repeated.length);
  const idsOf = (webhooks: typeof told) => webhooks.map(({ id }) => id);
  assert.deepEqual(idsOf(both.slice(told.length)), idsOf(repeated));
});

test('a dead endpoint delays neither the journey nor another endpoint; what it missed is sent again, or dropped', async () => {
  const { receiver } = stage;
  const hanging: ServerResponse[] = [];
  receiver.answer('/hangs', (response) => void hanging.push(response));
  receiver.answer('/gone', 410);
  const { journeyId } = await playHeld(stage);
  const types = ['inquiry.held', 'hold.resolved', 'journey.ended'];
  const steady = await receiver.accepted('/steady', journeyId, types.length);
  assert.deepEqual(typesOf(steady), types);
  assert.equal(steady[1]?.event?.data.action, 'abandon');
  assert.ok(!steady.some(({ body }) => /operator|asked/.test(body)), 'not who decided, nor why');

  // All of it came to pass while the first event was still held there.
  receiver.answer('/hangs', 503);
  for (const response of hanging) response.destroy();
  const delivery = deliveryOf(stage, journeyId);
  const failed = await untilDelivery(delivery, nothingWaits);
  const found = Object.fromEntries(failed.endpoints.map((one) => [one.endpoint, one]));
  const failures = (name: string) => found[name]?.failed.map(({ failureType }) => failureType);
  assert.deepEqual(failures('steady'), []);
  assert.deepEqual(failures('inner'), Array(3).fill('WebhookAddressRefused'));
  assert.deepEqual(failures('gone'), Array(3).fill('WebhookGone'));
  assert.equal(receiver.received.filter(({ path }) => path === '/gone').length, 1, 'asked once, and never again');
  assert.deepEqual(
    found.hangs?.failed.map(({ type }) => type),
    types,
  );
  const { searchAttributes } = await delivery.describe();
  assert.deepEqual(searchAttributes.NeedsAttention, ['WebhookFailed']);

  receiver.answer('/hangs', 204);
  receiver.answer('/gone', 204);
  assert.deepEqual(await askDelivery(delivery, 'resendWebhooks', { endpoint: 'hangs' }), { events: 3 });
  const missed = await receiver.accepted('/hangs', journeyId, types.length);
  assert.deepEqual(
    missed.map(({ id }) => id),
    steady.map(({ id }) => id),
    'in their order, under the same ids',
  );
  assert.deepEqual(await askDelivery(delivery, 'resendWebhooks', { endpoint: 'gone' }), { events: 3 });
  await receiver.accepted('/gone', journeyId, types.length);
  await assert.rejects(askDelivery(delivery, 'dropWebhooks', { endpoint: 'nobody' }));
  assert.deepEqual(await askDelivery(delivery, 'dropWebhooks'), { events: 3 });
  assert.deepEqual(await delivery.result(), { delivered: 9, dropped: 3, lost: 0 });
});
