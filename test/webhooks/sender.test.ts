/** Tests the signature, the limits and the permitted addresses of the webhook sender. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { WebhookEndpoint } from '../../src/messages/webhooks/delivery.ts';
import { type SenderOptions, WebhookError, WebhookSender } from '../../src/webhooks/sender.ts';
import { newWebhookSecret, startWebhookReceiver } from '../support/webhook-receiver.ts';

const MESSAGE = { id: 'evt_1', body: '{"type":"journey.ended","data":{"journeyId":"J-1","text":"ö…"}}' };

async function meet(t: TestContext, options: SenderOptions = {}) {
  const secret = newWebhookSecret();
  const receiver = await startWebhookReceiver(secret);
  const sender = new WebhookSender(options);
  t.after(async () => {
    await sender.close();
    await receiver.close();
  });
  const endpoint = (path: string, more: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
    name: 'ops',
    url: `${receiver.url}${path}`,
    readSecrets: async () => [secret],
    allowPrivateAddresses: true,
    ...more,
  });
  return { secret, receiver, sender, endpoint };
}

function failsWith(code: string, more: object = {}) {
  return (error: unknown) => {
    assert.ok(error instanceof WebhookError, String(error));
    const { name, ...details } = JSON.parse(JSON.stringify(error)) as object & { name?: string };
    assert.deepEqual(details, { code, ...more });
    return true;
  };
}

test('the sender signs exactly the bytes that it sends', async (t) => {
  const { receiver, sender, endpoint } = await meet(t);
  assert.equal(await sender.send(endpoint('/ok'), MESSAGE), 204);
  const [one] = receiver.received;
  assert.equal(one?.body, MESSAGE.body);
  assert.equal(one?.id, MESSAGE.id);
  assert.ok(one?.event, 'the library verifies it');
});

test('the sender signs with every current secret, so that a receiver can verify with any of them', async (t) => {
  const { secret, receiver, sender, endpoint } = await meet(t);
  const next = newWebhookSecret();
  await sender.send(endpoint('/ok', { readSecrets: async () => [next, secret] }), MESSAGE);
  const [one] = receiver.received;
  assert.ok(one?.event);
  assert.equal(String(one.headers['webhook-signature']).split(' ').length, 2);
  assert.ok(new Webhook(next).verify(one.body, one.headers as Record<string, string>));
  // A malformed secret prevents sending, since a receiver with only that secret would refuse the message.
  const broken = endpoint('/ok', { readSecrets: async () => [secret, 'whsec_short'] });
  await assert.rejects(sender.send(broken, MESSAGE), failsWith('WebhookSecretUnreadable'));
  assert.equal(receiver.received.length, 1);
});

test('the sender treats only a 2xx status as delivered, and follows no redirect', async (t) => {
  const { receiver, sender, endpoint } = await meet(t);
  receiver.answer('/gone', 410);
  receiver.answer('/busy', (response) => response.writeHead(503, { 'retry-after': '7' }).end('come back'));
  receiver.answer('/moved', (response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end());
  await assert.rejects(sender.send(endpoint('/gone'), MESSAGE), failsWith('WebhookGone', { httpStatus: 410 }));
  await assert.rejects(
    sender.send(endpoint('/busy'), MESSAGE),
    failsWith('WebhookRefused', { httpStatus: 503, retryAfterMs: 7_000 }),
  );
  await assert.rejects(sender.send(endpoint('/moved'), MESSAGE), failsWith('WebhookRefused', { httpStatus: 307 }));
  assert.ok(!receiver.received.some(({ path }) => path === '/elsewhere'), 'a redirect is not followed');
});

test('the sender waits only until its time-out for an answer that is endless or missing', async (t) => {
  const { receiver, sender, endpoint } = await meet(t, { timeoutMs: 300 });
  receiver.answer('/endless', (response) => {
    response.writeHead(200);
    const more = () => {
      if (!response.destroyed) response.write(Buffer.alloc(65_536), more);
    };
    more();
  });
  receiver.answer('/slow', (response) => response.writeHead(200).write('begun, and no more'));
  receiver.answer('/hang', 'hang');
  assert.equal(await sender.send(endpoint('/endless'), MESSAGE), 200);
  assert.equal(await sender.send(endpoint('/slow'), MESSAGE), 200);
  await assert.rejects(sender.send(endpoint('/hang'), MESSAGE), failsWith('WebhookTimedOut'));
});

test('an endpoint that hangs does not use up the slots of other endpoints', async (t) => {
  const { receiver, sender, endpoint } = await meet(t, { timeoutMs: 300 });
  receiver.answer('/hang', 'hang');
  const sends = Array.from({ length: 9 }, () => sender.send(endpoint('/hang'), MESSAGE).catch((error) => error));
  const codes = (await Promise.all(sends)).map((error: WebhookError) => error.code);
  assert.equal(codes.filter((code) => code === 'WebhookBusy').length, 1);
  assert.equal(await sender.send(endpoint('/ok'), MESSAGE), 204);
});

test('a name whose look-up gets no answer keeps one of the process’s two threads for look-ups, and not both', async (t) => {
  const lookups: (() => void)[] = [];
  const { receiver, sender, endpoint } = await meet(t, {
    isPermitted: () => true,
    lookup: (_, __, callback) => void lookups.push(() => callback(null, [{ address: '127.0.0.1', family: 4 }])),
  });
  const named = endpoint('/ok', { url: `http://slow.example.com:${new URL(receiver.url).port}/ok` });
  const sends = [named, named, { ...named, allowPrivateAddresses: false }].map((one) => sender.send(one, MESSAGE));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(lookups.length, 1);
  lookups[0]?.();
  assert.deepEqual(await Promise.all(sends), [204, 204, 204]);
});

test('the sender does not connect to a private address, given by name or by number', async (t) => {
  const lookups: string[] = [];
  const { receiver, sender, endpoint } = await meet(t, {
    lookup: (hostname, _, callback) => {
      lookups.push(hostname);
      const inner = { address: '127.0.0.1', family: 4 };
      callback(null, hostname.startsWith('both') ? [{ address: '1.1.1.1', family: 4 }, inner] : [inner]);
    },
  });
  const { port } = new URL(receiver.url);
  const hosts = ['inner.example.com', 'both.example.com', 'localhost', '127.0.0.1', '2130706433', '0x7f.1', '[::1]'];
  for (const host of [...hosts, '[::ffff:127.0.0.1]', '169.254.169.254']) {
    const inner = endpoint('/ok', { url: `http://${host}:${port}/ok`, allowPrivateAddresses: false });
    await assert.rejects(sender.send(inner, MESSAGE), failsWith('WebhookAddressRefused'), host);
  }
  assert.deepEqual(lookups, ['inner.example.com', 'both.example.com', 'localhost']);
  assert.deepEqual(receiver.received, [], 'nothing was connected to');
});

test('the sender connects only to the address that it checked, even if the name then resolves to another', async (t) => {
  const answers = ['127.0.0.1', '127.0.0.2'];
  const { receiver, sender, endpoint } = await meet(t, {
    lookup: (_, __, callback) => callback(null, [{ address: answers.shift() ?? '127.0.0.2', family: 4 }]),
    isPermitted: (address) => address === '127.0.0.1',
  });
  const { port } = new URL(receiver.url);
  const rebound = endpoint('/ok', { url: `http://rebound.example.com:${port}/ok`, allowPrivateAddresses: false });
  receiver.answer('/ok', (response) => response.writeHead(200, { connection: 'close' }).end());
  assert.equal(await sender.send(rebound, MESSAGE), 200, 'looked up once');
  assert.equal(answers.length, 1);
  await assert.rejects(sender.send(rebound, MESSAGE), failsWith('WebhookAddressRefused'));
  assert.equal(receiver.received.length, 1);
});

test('the sender closes a connection whose remote address is not permitted', async (t) => {
  const verdicts = [true, false];
  const { receiver, sender, endpoint } = await meet(t, {
    lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    isPermitted: () => verdicts.shift() ?? false,
  });
  const { port } = new URL(receiver.url);
  const url = `http://elsewhere.example.com:${port}/ok`;
  const elsewhere = endpoint('/ok', { url, allowPrivateAddresses: false });
  await assert.rejects(sender.send(elsewhere, MESSAGE), failsWith('WebhookAddressRefused'));
  assert.deepEqual(receiver.received, []);
});

test('errors of the sender contain neither the path nor the secret of an endpoint', async (t) => {
  const { sender, endpoint } = await meet(t);
  const secretive = endpoint('/ok', { url: 'http://127.0.0.1:1/hooks/TOKEN-IN-PATH' });
  await assert.rejects(sender.send(secretive, MESSAGE), (error: Error) => {
    assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`, /TOKEN-IN-PATH|whsec_/);
    return failsWith('WebhookUnreachable')(error);
  });
});
