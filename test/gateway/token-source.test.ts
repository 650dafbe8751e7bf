import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { readTokenResponse, TokenSource, type TokenSourceOptions } from '../../src/gateway/token-source.ts';
import { profileFor } from './fixtures.ts';
import { deadPort, failure, httpAnswer, type Script, startServer } from './scripted-server.ts';

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

/** Starts a token service that plays the script, and a token source for it. */
async function startSource(t: TestContext, onRequest: Script['onRequest'] = counting(), options?: TokenSourceOptions) {
  const server = await startServer(t, { onRequest });
  const source = sourceFor(t, options);
  const profile = profileFor(server.url);
  const get = async (more?: Parameters<TokenSource['get']>[1]) => (await source.get(profile, more)).accessToken;
  return { server, source, profile, get, fail: () => failure(get()) };
}

test('the token request has the method, path and body of the interface', async (t) => {
  const { server, get } = await startSource(t);
  assert.equal(await get(), 'token-1');
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

test('concurrent callers share a single token fetch, and a valid token is not fetched again', async (t) => {
  const { server, get } = await startSource(t);
  const tokens = await Promise.all(Array.from({ length: 10 }, () => get()));
  assert.deepEqual(new Set([...tokens, await get()]), new Set(['token-1']));
  assert.equal(server.requests.length, 1);
});

test('each profile has its own token', async (t) => {
  const { server, source, profile: first } = await startSource(t);
  const tokenOf = async (profile: GatewayProfile) => (await source.get(profile)).accessToken;
  assert.equal(await tokenOf(first), 'token-1');
  assert.equal(await tokenOf(profileFor(server.url, { name: 'b', customerId: 'OTHER' })), 'token-2');
  assert.equal(await tokenOf(first), 'token-1');
});

test('a token is renewed before it expires, with jitter', async (t) => {
  for (const [random, renewsAtS] of [
    [0, 900],
    [0.5, 850],
  ] as const) {
    let nowMs = 0;
    const clock = { now: () => nowMs, random: () => random };
    const { get } = await startSource(t, counting({ expires_in: 1000 }), clock);
    assert.equal(await get(), 'token-1');
    nowMs = renewsAtS * 1000 - 1;
    assert.equal(await get(), 'token-1');
    nowMs = renewsAtS * 1000;
    assert.equal(await get(), 'token-2');
  }
});

for (const [what, bad, code, retriesAfterS] of [
  ['is down', httpAnswer(503, ''), 'TokenUnavailable', 10],
  ['asks for a pause', httpAnswer(429, '', { 'Retry-After': '30' }), 'TokenUnavailable', 30],
  ['refuses the secret', httpAnswer(401, ''), 'CredentialsRefused', 60],
  ['shows a page', httpAnswer(200, '<html>maintenance</html>'), 'CredentialsRefused', 60],
] as const) {
  test(`while the token service ${what}, a valid token is still used and an expired token is not`, async (t) => {
    let up = true;
    const good = httpAnswer(200, tokenBody({ expires_in: 1000 }));
    const upOrDown = (socket: Socket) => socket.write(up ? good : bad);
    let nowMs = 0;
    const { server, get, fail } = await startSource(t, upOrDown, { now: () => nowMs });
    await get();
    up = false;
    nowMs = 910_000;
    assert.equal(await get(), 'token-1');
    nowMs += retriesAfterS * 1000 - 1;
    assert.equal(await get(), 'token-1');
    assert.equal(server.requests.length, 2, 'tries again after a while only');
    nowMs += 1;
    assert.equal(await get(), 'token-1');
    assert.equal(server.requests.length, 3);
    nowMs = 1_000_000;
    assert.equal((await fail()).code, code);
  });
}

test('a token that expires or is refused while its renewal fails is not used', async (t) => {
  let end = () => {};
  let nowMs = 0;
  const good = httpAnswer(200, tokenBody({ expires_in: 1000 }));
  const { source, profile, get, fail } = await startSource(
    t,
    (socket, _request, index) => {
      if (index % 2 === 1) end();
      socket.write(index % 2 === 0 ? good : httpAnswer(503, ''));
    },
    { now: () => nowMs },
  );
  for (const endToken of [() => (nowMs += 60_000), () => source.invalidate(profile, 'token-1')]) {
    await get();
    nowMs += 950_000;
    end = endToken;
    assert.equal((await fail()).code, 'TokenUnavailable');
  }
});

test('callers that need a later token share a single new fetch', async (t) => {
  let nowMs = 1_000;
  const { server, get } = await startSource(t, counting(), { now: () => nowMs });
  await get();
  nowMs = 3_000;
  const fetchedAfter = new Date(2_000).toISOString();
  assert.deepEqual(await Promise.all([get({ fetchedAfter }), get({ fetchedAfter })]), ['token-2', 'token-2']);
  assert.equal(await get({ fetchedAfter }), 'token-2');
  assert.equal(server.requests.length, 2);
});

test('a fetchedAfter ahead of the local clock causes no hang and no loop', async (t) => {
  const { server, get } = await startSource(t, counting(), { now: () => 1_000 });
  assert.equal(await get({ fetchedAfter: new Date(9_000).toISOString() }), 'token-1');
  assert.equal(server.requests.length, 1);
});

test('a refused token is fetched again, but its refusal does not discard a newer token', async (t) => {
  const { server, source, profile, get } = await startSource(t);
  await get();
  source.invalidate(profile, 'token-1');
  assert.equal(await get(), 'token-2');
  source.invalidate(profile, 'token-1');
  assert.equal(await get(), 'token-2');
  assert.equal(server.requests.length, 2);
});

test('a fetch that ends after a later fetch does not replace the newer token', async (t) => {
  const answers: (() => void)[] = [];
  const whenTold: Script['onRequest'] = (...asked) => void answers.push(() => counting()(...asked));
  let nowMs = 1_000;
  const { server, get } = await startSource(t, whenTold, { now: () => nowMs });
  const overtaken = get();
  await server.received(1);
  nowMs = 3_000;
  const newer = get({ fetchedAfter: new Date(2_000).toISOString() });
  await server.received(2);
  answers[1]?.();
  assert.equal(await newer, 'token-2');
  answers[0]?.();
  assert.equal(await overtaken, 'token-1');
  assert.equal(await get(), 'token-2');
  assert.equal(server.requests.length, 2);
});

test('each fetch reads the credentials again and uses a changed client id', async (t) => {
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

test('an abort signal ends the wait of its own caller but not the shared fetch', async (t) => {
  let answer = () => {};
  const { server, get } = await startSource(t, (socket) => {
    answer = () => socket.write(httpAnswer(200, tokenBody()));
  });
  const abort = new AbortController();
  const reason = new Error('cancelled');
  const impatient = get({ signal: abort.signal });
  const patient = get();
  await server.received(1);
  abort.abort(reason);
  await assert.rejects(impatient, (error) => error === reason);
  answer();
  assert.equal(await patient, 'token-1');
  assert.equal(server.requests.length, 1);
});

const STATUSES = [
  ...[301, 400, 401, 403, 404].map((status) => [status, 'CredentialsRefused'] as const),
  ...[408, 429, 500, 503].map((status) => [status, 'TokenUnavailable'] as const),
];

for (const [status, code] of STATUSES) {
  test(`status ${status} of the token service is reported as ${code} after a single request`, async (t) => {
    const elsewhere = await startServer(t, { onRequest: counting() });
    const headers = { 'retry-after': '7', location: `${elsewhere.url}/oauth/token` };
    const { server, fail } = await startSource(t, (socket) => socket.write(httpAnswer(status, '{}', headers)));
    const error = await fail();
    assert.deepEqual([error.code, error.httpStatus, error.sent], [code, status, 'nothing']);
    assert.equal(error.retryAfterMs, code === 'TokenUnavailable' ? 7_000 : undefined);
    assert.equal(server.requests.length, 1);
    assert.equal(elsewhere.connections, 0, 'a redirect would carry the secret elsewhere');
  });
}

const NO_BEARER_TOKENS: [title: string, body: string][] = [
  ['is not JSON', '<html>log in</html>'],
  ['is empty', ''],
  ['is not an object', '[]'],
  ['has another token type', tokenBody({ token_type: 'mac' })],
  ['has a token with a line break', tokenBody({ access_token: 'a\r\nx: y' })],
  ['has a token that is not ASCII', tokenBody({ access_token: 'tökén' })],
  ['has a token longer than any header limit', tokenBody({ access_token: 'x'.repeat(9_000) })],
  ['has a lifetime of zero', tokenBody({ expires_in: 0 })],
  ['has a negative lifetime', tokenBody({ expires_in: -1 })],
  ['has a lifetime that is not an integer', tokenBody({ expires_in: 1.5 })],
  ['has a lifetime in text', tokenBody({ expires_in: '28800' })],
  ['has an absurdly long lifetime', tokenBody({ expires_in: 1e300 })],
  ['has its members in a prototype', `{"__proto__":${tokenBody()}}`],
];

test('an answer that is not a valid bearer token is refused', async (t) => {
  for (const [title, body] of NO_BEARER_TOKENS) assert.equal(readTokenResponse(body), null, title);
  const { fail } = await startSource(t, (socket) => socket.write(httpAnswer(200, '[]')));
  assert.equal((await fail()).code, 'CredentialsRefused');
});

test('the token type Bearer is accepted in any letter case', async (t) => {
  const { get } = await startSource(t, counting({ token_type: 'bEARER' }));
  assert.equal(await get(), 'token-1');
});

test('an unreachable, interrupted, silent or endless token service is reported as unavailable', async (t) => {
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

test('the token source fetches again after a failure', async (t) => {
  const { get, fail } = await startSource(t, (socket, _request, index) =>
    socket.write(index === 0 ? httpAnswer(503, '') : httpAnswer(200, tokenBody())),
  );
  await fail();
  assert.equal(await get(), 'token-1');
});

test('errors show no secret, no token and nothing of the error of reading credentials', async (t) => {
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

test('a printed token source shows no token', async (t) => {
  const { source, get } = await startSource(t, counting({ access_token: 'SENTINEL-TOKEN' }));
  await get();
  assert.ok(!inspect(source, { depth: Number.POSITIVE_INFINITY, showHidden: true }).includes('SENTINEL'));
});
