/** Events of journeys on their way to endpoints that answer, that do not, and that want no more. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { WorkflowHandle } from '@temporalio/client';
import type { WebhookDeliveryResult, WebhookDeliveryStatus } from '../../src/model/webhook-delivery.ts';
import { webhookEventSchema } from '../../src/validation/webhook-schemas.ts';
import { eventsOf, resetTo } from '../hazards/operator-hands.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
  update,
  WAIT_LIMIT_MS,
} from '../support/journey-harness.ts';
import { newWebhookSecret, startWebhookReceiver, typesOf, type WebhookReceiver } from '../support/webhook-receiver.ts';

let directory: string;
let receiver: WebhookReceiver;
let harness: Harness;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-webhooks-'));
  const secret = newWebhookSecret();
  receiver = await startWebhookReceiver(secret);
  const [secretFile, profiles] = [join(directory, 'secret'), join(directory, 'profiles.json')];
  await writeFile(secretFile, `${secret}\n`);
  const endpoint = (name: string, more: object = {}) => ({
    name,
    url: `${receiver.url}/${name}`,
    secretFile,
    allowPrivateAddresses: true,
    ...more,
  });
  const mixed = [endpoint('steady'), endpoint('hangs'), endpoint('gone'), endpoint('inner')];
  await writeFile(
    profiles,
    JSON.stringify({
      profiles: {
        default: { webhooks: [endpoint('all'), endpoint('ends', { events: ['journey.ended'] })] },
        mixed: {
          environment: 'sandbox',
          customerId: 'SANDBOX0001',
          webhooks: mixed.map((one) => (one.name === 'inner' ? { ...one, allowPrivateAddresses: false } : one)),
        },
      },
    }),
  );
  // Shorter than the first wait of the retries: what fails is given up, unless its endpoint asks for an earlier time.
  harness = await startHarness({ env: { GATEWAY_PROFILES_FILE: profiles, WEBHOOK_GIVE_UP_AFTER: 'PT4S' } });
});

after(async () => {
  await harness?.close();
  await receiver?.close();
  await rm(directory, { recursive: true, force: true });
});

type Delivery = WorkflowHandle<() => Promise<WebhookDeliveryResult>>;

function deliveryOf(journeyId: string): Delivery {
  return harness.client.workflow.getHandle(`webhooks-journey-${journeyId}`) as Delivery;
}

async function untilDelivery(journeyId: string, isWanted: (status: WebhookDeliveryStatus) => boolean) {
  const endsAt = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const status = await deliveryOf(journeyId).query<WebhookDeliveryStatus>('webhookStatus');
    if (isWanted(status)) return status;
    if (performance.now() > endsAt) throw new Error(`waited in vain: ${JSON.stringify(status)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function playFully(): Promise<{ handle: JourneyHandle; journeyId: string; personal: string[] }> {
  const [ssn, shareId] = [newSsn(), 'S1'];
  const input = journeyInput({
    stages: ['PREQUAL', 'PREAPP'],
    applicants: [applicant('1A', ssn)],
    shares: [{ shareId, endUserCode: 'EU999' }],
  });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ waitingFor }) => waitingFor === 'PREAPP');
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A' }));
  await handle.result();
  const { stages, shares } = await statusOf(handle);
  const references = [...stages, ...shares].map(({ reportReferenceNumber = '' }) => reportReferenceNumber);
  return { handle, journeyId, personal: [ssn, 'Casey', 'Sample-', '@example.com', 'Springfield', ...references] };
}

const ALL_OF_IT = [
  'stage.answered',
  'gate.reached',
  'stage.answered',
  'consent.missing',
  'share.posted',
  'journey.ended',
];

test('a journey is told in its order, signed, with nothing personal; and again after a reset, under the same ids', async () => {
  receiver.answer('/all', 204);
  // The first is refused once: what comes after it waits for it.
  let refusals = 0;
  receiver.answer('/ends', (response) => {
    response.writeHead(refusals++ === 0 ? 503 : 200, { 'retry-after': '1' }).end();
  });
  const { handle, journeyId, personal } = await playFully();
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
  assert.equal((await deliveryOf(journeyId).result()).lost, 0);
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
  const hanging: ServerResponse[] = [];
  receiver.answer('/hangs', (response) => void hanging.push(response));
  receiver.answer('/gone', 410);
  const input = journeyInput({ stages: ['PREQUAL'], profile: 'mixed', applicants: [applicant('1A', newSsn('4002'))] });
  const { journeyId } = input;
  const handle = await harness.start(input);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  await update(handle, 'resolveInquiry', {
    journeyId,
    decisionId: 'D1',
    customerTraceNumber: holds[0]?.customerTraceNumber,
    attempt: 1,
    action: 'abandon',
    by: 'operator',
    reason: 'asked the provider',
    providerSaid: 'notPosted',
  });
  await handle.result();
  const types = ['inquiry.held', 'hold.resolved', 'journey.ended'];
  const steady = await receiver.accepted('/steady', journeyId, types.length);
  assert.deepEqual(typesOf(steady), types);
  assert.equal(steady[1]?.event?.data.action, 'abandon');
  assert.ok(!steady.some(({ body }) => /operator|asked/.test(body)), 'not who decided, nor why');

  // All of it came to pass while the first event was still held there.
  receiver.answer('/hangs', 503);
  for (const response of hanging) response.destroy();
  const failed = await untilDelivery(journeyId, ({ endpoints }) => endpoints.every(({ waiting }) => waiting === 0));
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
  const { searchAttributes } = await deliveryOf(journeyId).describe();
  assert.deepEqual(searchAttributes.NeedsAttention, ['WebhookFailed']);

  receiver.answer('/hangs', 204);
  receiver.answer('/gone', 204);
  const ask = (name: string, choice: object) =>
    deliveryOf(journeyId).executeUpdate<{ events: number }, [object]>(name, { args: [choice] });
  assert.deepEqual(await ask('resendWebhooks', { endpoint: 'hangs' }), { events: 3 });
  const missed = await receiver.accepted('/hangs', journeyId, types.length);
  assert.deepEqual(
    missed.map(({ id }) => id),
    steady.map(({ id }) => id),
    'in their order, under the same ids',
  );
  assert.deepEqual(await ask('resendWebhooks', { endpoint: 'gone' }), { events: 3 });
  await receiver.accepted('/gone', journeyId, types.length);
  await assert.rejects(ask('dropWebhooks', { endpoint: 'nobody' }));
  assert.deepEqual(await ask('dropWebhooks', {}), { events: 3 });
  assert.deepEqual(await deliveryOf(journeyId).result(), { delivered: 9, dropped: 3, lost: 0 });
});
