/** What a receiver makes of a message: an event, or a reason not to believe it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { constructEvent, InvalidInputError, WebhookEventError, type WebhookEventErrorCode } from '../../src/client.ts';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { signedHeaders } from '../../src/webhooks/signature.ts';
import { newWebhookSecret, startWebhookReceiver } from '../support/webhook-receiver.ts';

const ID = 'evt_3QVYBMU4DZKJ2CTXLNC7WGSRQA';
const BODY = JSON.stringify({
  type: 'gate.reached',
  timestamp: '2026-01-05T10:00:00.000Z',
  data: { journeyId: 'J-ö', environment: 'uat', stage: 'PREAPP', until: '2026-02-04T10:00:00.000Z', later: 'member' },
});

function message(secret: string, { body = BODY, sentAt = new Date() } = {}) {
  return { body, headers: signedHeaders([secret], { id: ID, body, sentAt }) };
}

function failsAs(code: WebhookEventErrorCode, call: () => unknown): void {
  assert.throws(call, (error) => error instanceof WebhookEventError && error.code === code);
}

test('makes a typed event of a message as the sender sends it', async (t: TestContext) => {
  const secret = newWebhookSecret();
  const receiver = await startWebhookReceiver(secret);
  const sender = new WebhookSender();
  t.after(async () => {
    await sender.close();
    await receiver.close();
  });
  const endpoint = {
    name: 'ops',
    url: `${receiver.url}/`,
    readSecrets: async () => [secret],
    allowPrivateAddresses: true,
  };
  await sender.send(endpoint, { id: ID, body: BODY });
  const [received] = receiver.received;
  assert.ok(received);
  const event = constructEvent(received.body, received.headers, secret);
  assert.equal(event.id, ID);
  assert.ok(event.type === 'gate.reached');
  // The compiler knows by now which event it is.
  const { journeyId, stage, until } = event.data;
  assert.deepEqual(
    { journeyId, stage, until },
    { journeyId: 'J-ö', stage: 'PREAPP', until: '2026-02-04T10:00:00.000Z' },
  );
  assert.deepEqual({ ...event, id: undefined }, { ...JSON.parse(BODY), id: undefined });
});

test('takes text and bytes, the headers of Node and of fetch, and each secret of a rotation', () => {
  const [old, next] = [newWebhookSecret(), newWebhookSecret()];
  const { body, headers } = message(next);
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  for (const given of [headers, upper, new Headers(headers)]) {
    assert.equal(constructEvent(body, given, next).id, ID);
    assert.equal(constructEvent(new TextEncoder().encode(body), given, [old, next]).id, ID);
  }
  const unknown = message(next, { body: '{"type":"of.tomorrow","timestamp":"","data":{}}' });
  assert.equal(constructEvent(unknown.body, unknown.headers, next).type as string, 'of.tomorrow');
});

test('says why a message is not to be believed, and nothing of it', () => {
  const secret = newWebhookSecret();
  const { body, headers } = message(secret);
  failsAs('signatureWrong', () => constructEvent(body, headers, newWebhookSecret()));
  failsAs('signatureWrong', () => constructEvent(JSON.stringify(JSON.parse(body), null, 1), headers, secret));
  failsAs('signatureWrong', () => constructEvent(body, { ...headers, 'webhook-id': 'evt_other' }, secret));
  failsAs('signatureWrong', () => constructEvent(body, { ...headers, 'webhook-signature': 'v1' }, secret));
  for (const name of Object.keys(headers)) {
    failsAs('headersMissing', () => constructEvent(body, { ...headers, [name]: undefined }, secret));
  }
  const at = (ms: number) => message(secret, { sentAt: new Date(Date.now() + ms) });
  failsAs('tooOld', () => constructEvent(body, at(-3_600_000).headers, secret));
  failsAs('tooNew', () => constructEvent(body, at(3_600_000).headers, secret));
  for (const text of ['not JSON: sentinel', '[]', '{"type":1,"data":{}}', '{"type":"ping"}']) {
    const signed = message(secret, { body: text });
    failsAs('bodyUnreadable', () => constructEvent(signed.body, signed.headers, secret));
  }
});

test('refuses a parsed body and a secret of another form, by path', () => {
  const { body, headers } = message(newWebhookSecret());
  const cases: [unknown, string | string[], string][] = [
    [JSON.parse(body), newWebhookSecret(), '/rawBody'],
    [body, 'whsec_short', '/secret'],
    [body, [newWebhookSecret(), ''], '/secret/1'],
    [body, [], '/secret'],
  ];
  for (const [given, secret, path] of cases) {
    assert.throws(
      () => constructEvent(given as string, headers, secret),
      (error) => error instanceof InvalidInputError && error.problems[0]?.path === path,
    );
  }
});
