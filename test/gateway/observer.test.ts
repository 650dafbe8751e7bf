/** An observer of the gateway's exchanges sees their kind and changes nothing. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ExchangeBegun, ExchangeEnded, ExchangeObserver } from '../../src/gateway/observer.ts';
import { TokenSource } from '../../src/gateway/token-source.ts';
import { profileFor, recordBody } from './fixtures.ts';
import { clientFor, httpAnswer, startServer } from './scripted-server.ts';

/** The first request is answered, the second refused. */
async function exchanges(t: TestContext, observer: ExchangeObserver) {
  const server = await startServer(t, {
    onRequest: (socket, _request, index) =>
      socket.write(index === 0 ? httpAnswer(200, recordBody()) : httpAnswer(403, '{}')),
  });
  const profile = profileFor(server.url);
  const { submit } = clientFor(t, profile, undefined, observer);
  const reply = await submit({ attempt: 1 });
  await assert.rejects(submit({ attempt: 2 }), { code: 'NotEntitled' });
  return { reply, server };
}

test('an observer is notified of the start and end of each exchange', async (t) => {
  const seen: [ExchangeBegun, ExchangeEnded][] = [];
  const { server } = await exchanges(t, (begun) => (ended) => seen.push([begun, ended]));
  const refused = { httpStatus: 403, answer: undefined };
  assert.deepEqual(
    seen.map(([{ profile, productCode, attempt, url }, { durationMs, ...ended }]) => {
      assert.ok(durationMs > 0);
      return [profile.name, productCode, attempt, url.origin, ended];
    }),
    [
      ['default', 'PREQUAL', 1, server.url, { httpStatus: 200, answer: 'outcome', startsAreUnreported: false }],
      ['default', 'PREQUAL', 2, server.url, { ...refused, failure: 'NotEntitled', startsAreUnreported: false }],
    ],
  );
});

test('an observer that throws does not fail the attempt', async (t) => {
  const thrown = () => {
    throw new Error('broken');
  };
  const { reply } = await exchanges(t, thrown);
  assert.equal(reply.answer.kind, 'outcome');
  await exchanges(t, () => thrown);
});

test('an observer is notified of a token fetch, but not when a cached token is used', async (t) => {
  const answers = [401, 200];
  const token = JSON.stringify({ access_token: 'a-token', token_type: 'Bearer', expires_in: 3600, scope: 's' });
  const server = await startServer(t, {
    onRequest: (socket, _request, index) => socket.write(httpAnswer(answers[index] ?? 500, token)),
  });
  const profile = profileFor(server.url);
  const seen: unknown[] = [];
  const tokens = new TokenSource({
    observer:
      ({ productCode }) =>
      ({ failure }) =>
        seen.push([productCode, failure]),
  });
  t.after(() => tokens.close());
  await assert.rejects(tokens.get(profile), { code: 'CredentialsRefused' });
  await tokens.get(profile);
  await tokens.get(profile);
  assert.deepEqual(seen, [
    [undefined, 'CredentialsRefused'],
    [undefined, undefined],
  ]);
});
