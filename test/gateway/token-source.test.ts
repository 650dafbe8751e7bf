import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { TokenSource, type TokenSourceOptions } from '../../src/gateway/token-source.ts';
import type { GatewayFailureType } from '../../src/model/failure-types.ts';
import { profileFor } from './fixtures.ts';
import { deadPort, failure, httpAnswer, startServer } from './scripted-server.ts';

function sourceFor(t: TestContext, options: TokenSourceOptions = {}): TokenSource {
  const source = new TokenSource({ random: () => 0, ...options });
  t.after(() => source.close());
  return source;
}

function tokenBody(changes: Record<string, unknown> = {}): string {
  const body = { access_token: 'token-1', scope: 'grs key-management', expires_in: 28800, token_type: 'Bearer' };
  return JSON.stringify({ ...body, ...changes });
}

/** Answers with token-1, token-2 and so on. */
function counting(changes: Record<string, unknown> = {}) {
  return (socket: Socket, _request: unknown, index: number) =>
    socket.write(httpAnswer(200, tokenBody({ access_token: `token-${index + 1}`, ...changes })));
}

test('asks as the interface says, and says when the token was fetched and when it ends', async (t) => {
  const server = await startServer(t, { onRequest: counting() });
  const nowMs = Date.parse('2026-07-01T10:00:00Z');
  const token = await sourceFor(t, { now: () => nowMs }).get(profileFor(server.url));
  assert.deepEqual(token, {
    accessToken: 'token-1',
    fetchedAt: '2026-07-01T10:00:00.000Z',
    expiresAt: '2026-07-01T18:00:00.000Z',
  });
  const [request] = server.requests;
  assert.deepEqual([request?.method, request?.path], ['POST', '/oauth/token']);
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(request?.body ?? ''), {
    audience: 'servicegateway',
    grant_type: 'client_credentials',
    client_id: 'client-1',
    client_secret: 'secret-1',
  });
});

test('fetches once for all who ask at once, and not again while the token is good', async (t) => {
  const server = await startServer(t, { onRequest: counting() });
  const source = sourceFor(t);
  const profile = profileFor(server.url);
  const tokens = await Promise.all(Array.from({ length: 10 }, () => source.get(profile)));
  tokens.push(await source.get(profile));
  assert.deepEqual(new Set(tokens.map(({ accessToken }) => accessToken)), new Set(['token-1']));
  assert.equal(server.requests.length, 1);
});

test('keeps tokens apart by address, audience and client, and shares them between profiles alike in these', async (t) => {
  const server = await startServer(t, { onRequest: counting() });
  const other = await startServer(t, { onRequest: counting({ access_token: 'other' }) });
  const source = sourceFor(t);
  const first = profileFor(server.url);
  const sameClient = { name: 'x', read: async () => ({ clientId: 'client-1', clientSecret: 'secret-1' }) };
  const otherClient = { name: 'default', read: async () => ({ clientId: 'client-2', clientSecret: 'secret-2' }) };
  const tokenOf = async (profile: GatewayProfile) => (await source.get(profile)).accessToken;
  assert.equal(await tokenOf(first), 'token-1');
  assert.equal(
    await tokenOf(profileFor(server.url, { name: 'b', customerId: 'OTHER', credentials: sameClient })),
    'token-1',
  );
  assert.equal(await tokenOf(profileFor(server.url, { audience: 'another' })), 'token-2');
  assert.equal(await tokenOf(profileFor(server.url, { credentials: otherClient })), 'token-3');
  assert.equal(await tokenOf(profileFor(other.url)), 'other');
  assert.equal(await tokenOf(first), 'token-1');
});

test('renews before the end, with jitter', async (t) => {
  const server = await startServer(t, { onRequest: counting({ expires_in: 1000 }) });
  for (const [random, renewsAtS] of [
    [0, 900],
    [0.5, 850],
  ] as const) {
    let nowMs = 0;
    const source = sourceFor(t, { now: () => nowMs, random: () => random });
    const profile = profileFor(server.url);
    const first = await source.get(profile);
    nowMs = renewsAtS * 1000 - 1;
    assert.equal((await source.get(profile)).accessToken, first.accessToken);
    nowMs = renewsAtS * 1000;
    assert.notEqual((await source.get(profile)).accessToken, first.accessToken);
  }
});

test('uses a token that is still good while the token service is down, and not one that is over', async (t) => {
  let up = true;
  const server = await startServer(t, {
    onRequest: (socket) => socket.write(up ? httpAnswer(200, tokenBody({ expires_in: 1000 })) : httpAnswer(503, '')),
  });
  let nowMs = 0;
  const source = sourceFor(t, { now: () => nowMs });
  const profile = profileFor(server.url);
  await source.get(profile);
  up = false;
  nowMs = 950_000;
  assert.equal((await source.get(profile)).accessToken, 'token-1');
  assert.equal((await source.get(profile)).accessToken, 'token-1');
  assert.equal(server.requests.length, 2, 'tries again after a while only');
  nowMs = 1_000_000;
  assert.equal((await failure(source.get(profile))).code, 'TokenUnavailable');
});

test('fetches again for a caller that needs a later token, once for all such callers', async (t) => {
  const server = await startServer(t, { onRequest: counting() });
  let nowMs = 1_000;
  const source = sourceFor(t, { now: () => nowMs });
  const profile = profileFor(server.url);
  await source.get(profile);
  nowMs = 3_000;
  const fetchedAfter = new Date(2_000).toISOString();
  const [a, b] = await Promise.all([source.get(profile, { fetchedAfter }), source.get(profile, { fetchedAfter })]);
  assert.deepEqual([a?.accessToken, b?.accessToken], ['token-2', 'token-2']);
  assert.equal((await source.get(profile, { fetchedAfter })).accessToken, 'token-2');
  assert.equal(server.requests.length, 2);
});

test('does not hang or loop where fetchedAfter is ahead of this clock', async (t) => {
  const server = await startServer(t, { onRequest: counting() });
  const source = sourceFor(t, { now: () => 1_000 });
  const fetchedAfter = new Date(9_000).toISOString();
  assert.equal((await source.get(profileFor(server.url), { fetchedAfter })).accessToken, 'token-1');
  assert.equal(server.requests.length, 1);
});

test('fetches again after a token was refused, and keeps a newer one', async (t) => {
  const server = await startServer(t, { onRequest: counting() });
  const source = sourceFor(t);
  const profile = profileFor(server.url);
  await source.get(profile);
  source.invalidate(profile, 'token-1');
  assert.equal((await source.get(profile)).accessToken, 'token-2');
  source.invalidate(profile, 'token-1');
  assert.equal((await source.get(profile)).accessToken, 'token-2');
  assert.equal(server.requests.length, 2);
});

test('lets no fetch that was overtaken replace the newer token', async (t) => {
  const answers: (() => void)[] = [];
  const server = await startServer(t, {
    onRequest: (socket, _request, index) => {
      const answer = httpAnswer(200, tokenBody({ access_token: `token-${index + 1}` }));
      answers.push(() => socket.write(answer));
    },
  });
  let nowMs = 1_000;
  const source = sourceFor(t, { now: () => nowMs });
  const profile = profileFor(server.url);
  const overtaken = source.get(profile);
  await server.received(1);
  nowMs = 3_000;
  const newer = source.get(profile, { fetchedAfter: new Date(2_000).toISOString() });
  await server.received(2);
  answers[1]?.();
  assert.equal((await newer).accessToken, 'token-2');
  answers[0]?.();
  assert.equal((await overtaken).accessToken, 'token-1');
  assert.equal((await source.get(profile)).accessToken, 'token-2');
  assert.equal(server.requests.length, 2);
});

test('reads the credentials again for each fetch, and follows a client id that changed', async (t) => {
  let generation = 1;
  const read = async () => ({ clientId: `client-${generation}`, clientSecret: `secret-${generation}` });
  const server = await startServer(t, {
    onRequest: (socket, request, index) => {
      const refused = request.body.includes('secret-1');
      socket.write(refused ? httpAnswer(401, '') : httpAnswer(200, tokenBody({ access_token: `token-${index + 1}` })));
    },
  });
  const source = sourceFor(t);
  const profile = profileFor(server.url, { credentials: { name: 'default', read } });
  assert.equal((await failure(source.get(profile))).code, 'CredentialsRefused');
  generation = 2;
  assert.equal((await source.get(profile)).accessToken, 'token-2');
  assert.equal((await source.get(profile)).accessToken, 'token-2');
  assert.match(server.requests[1]?.body ?? '', /client-2/);
});

test('ends the waiting of one caller at his signal, and not the fetch that others share', async (t) => {
  let answer = () => {};
  const server = await startServer(t, {
    onRequest: (socket) => {
      answer = () => socket.write(httpAnswer(200, tokenBody()));
    },
  });
  const source = sourceFor(t);
  const profile = profileFor(server.url);
  const abort = new AbortController();
  const reason = new Error('cancelled');
  const impatient = source.get(profile, { signal: abort.signal });
  const patient = source.get(profile);
  await server.received(1);
  abort.abort(reason);
  await assert.rejects(impatient, (error) => error === reason);
  answer();
  assert.equal((await patient).accessToken, 'token-1');
  assert.equal(server.requests.length, 1);
});

const STATUSES: [status: number, code: GatewayFailureType][] = [
  [301, 'CredentialsRefused'],
  [400, 'CredentialsRefused'],
  [401, 'CredentialsRefused'],
  [403, 'CredentialsRefused'],
  [404, 'CredentialsRefused'],
  [408, 'TokenUnavailable'],
  [429, 'TokenUnavailable'],
  [500, 'TokenUnavailable'],
  [503, 'TokenUnavailable'],
];

for (const [status, code] of STATUSES) {
  test(`treats status ${status} of the token service as ${code}, after one request`, async (t) => {
    const elsewhere = await startServer(t, { onRequest: counting() });
    const headers = { 'retry-after': '7', location: `${elsewhere.url}/oauth/token` };
    const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(status, '{}', headers)) });
    const error = await failure(sourceFor(t).get(profileFor(server.url)));
    assert.deepEqual([error.code, error.httpStatus, error.sent], [code, status, 'nothing']);
    assert.equal(error.retryAfterMs, code === 'TokenUnavailable' ? 7_000 : undefined);
    assert.equal(server.requests.length, 1);
    assert.equal(elsewhere.connections, 0, 'a redirect would carry the secret elsewhere');
  });
}

const NO_BEARER_TOKENS: [title: string, body: string][] = [
  ['is not JSON', '<html>log in</html>'],
  ['is empty', ''],
  ['is no object', '[]'],
  ['has another token type', tokenBody({ token_type: 'mac' })],
  ['has no token type', tokenBody({ token_type: undefined })],
  ['has no token', tokenBody({ access_token: undefined })],
  ['has an empty token', tokenBody({ access_token: '' })],
  ['has a token with a line break', tokenBody({ access_token: 'a\r\nx: y' })],
  ['has a token that is not ASCII', tokenBody({ access_token: 'tökén' })],
  ['has a token beyond every header limit', tokenBody({ access_token: 'x'.repeat(9_000) })],
  ['has a life of zero', tokenBody({ expires_in: 0 })],
  ['has a negative life', tokenBody({ expires_in: -1 })],
  ['has a life that is no whole number', tokenBody({ expires_in: 1.5 })],
  ['has a life in text', tokenBody({ expires_in: '28800' })],
  ['has a life beyond reason', tokenBody({ expires_in: 1e300 })],
  ['brings its members by a prototype', `{"__proto__":${tokenBody()}}`],
];

for (const [title, body] of NO_BEARER_TOKENS) {
  test(`takes no token from an answer that ${title}`, async (t) => {
    const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(200, body)) });
    assert.equal((await failure(sourceFor(t).get(profileFor(server.url)))).code, 'CredentialsRefused');
  });
}

test('takes bearer in whatever case it is written', async (t) => {
  const server = await startServer(t, { onRequest: counting({ token_type: 'bEARER' }) });
  assert.equal((await sourceFor(t).get(profileFor(server.url))).accessToken, 'token-1');
});

test('calls a token service unavailable that cannot be reached, breaks off, is silent or talks too much', async (t) => {
  const dead = profileFor(`http://127.0.0.1:${await deadPort()}`);
  assert.equal((await failure(sourceFor(t).get(dead))).code, 'TokenUnavailable');
  const whole = httpAnswer(200, tokenBody());
  const silent = () => undefined;
  const endless = (socket: Socket) => socket.write(httpAnswer(200, 'x'.repeat(70_000)));
  const broken = (socket: Socket) => socket.end(whole.subarray(0, -5));
  const reset = (socket: Socket) => socket.resetAndDestroy();
  for (const onRequest of [silent, endless, broken, reset]) {
    const server = await startServer(t, { onRequest });
    const profile = profileFor(server.url, { limits: { headersTimeoutMs: 100, bodyTimeoutMs: 100 } });
    assert.equal((await failure(sourceFor(t).get(profile))).code, 'TokenUnavailable');
    assert.equal(server.requests.length, 1);
  }
});

test('tries again after a failure', async (t) => {
  const server = await startServer(t, {
    onRequest: (socket, _request, index) =>
      socket.write(index === 0 ? httpAnswer(503, '') : httpAnswer(200, tokenBody())),
  });
  const source = sourceFor(t);
  const profile = profileFor(server.url);
  await failure(source.get(profile));
  assert.equal((await source.get(profile)).accessToken, 'token-1');
});

test('shows no secret, no token and nothing of the credentials’ own errors', async (t) => {
  const echo = (socket: Socket, request: { body: string }, index: number) => {
    const body = index === 0 ? request.body : tokenBody({ access_token: 'SENTINEL-TOKEN', token_type: 'mac' });
    socket.write(httpAnswer([400, 200][index] ?? 503, body, { 'x-echo': 'SENTINEL-HEADER' }));
  };
  const server = await startServer(t, { onRequest: echo });
  const source = sourceFor(t);
  const credentials = { clientId: 'SENTINEL-CLIENT', clientSecret: 'SENTINEL-SECRET' };
  const profile = profileFor(server.url, { credentials: { name: 'default', read: async () => credentials } });
  const unreadable = async () => {
    throw new Error('cannot parse SENTINEL-FILE');
  };
  const errors = [
    await failure(source.get(profile)),
    await failure(source.get(profile)),
    await failure(source.get(profile)),
    await failure(source.get(profileFor(server.url, { credentials: { name: 'x', read: unreadable } }))),
  ];
  for (const error of errors) {
    const shown = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }) + JSON.stringify(error);
    assert.ok(!shown.includes('SENTINEL'), shown);
    assert.equal(error.cause, undefined);
  }
  assert.equal(errors.at(-1)?.code, 'CredentialsRefused');
  await delay(1);
});

test('shows no token when the source itself is printed', async (t) => {
  const server = await startServer(t, { onRequest: counting({ access_token: 'SENTINEL-TOKEN' }) });
  const source = sourceFor(t);
  await source.get(profileFor(server.url));
  assert.ok(!inspect(source, { depth: Number.POSITIVE_INFINITY, showHidden: true }).includes('SENTINEL'));
});
