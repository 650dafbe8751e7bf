import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { Caller, CREDENTIALS, call, json, REQUEST_PATH, reportRequest } from './caller.ts';

test('the token service issues a bearer JWT with the scope and lifetime of the interface', async (t) => {
  const caller = await Caller.start(t);
  const reply = await caller.askForToken();
  assert.equal(reply.status, 200);
  const { access_token, ...rest } = json(reply);
  assert.deepEqual(rest, { scope: 'grs key-management', expires_in: 28_800, token_type: 'Bearer' });
  const claims = decodeJwt(String(access_token));
  assert.equal(claims.aud, 'servicegateway');
  assert.equal((claims.exp ?? 0) - (claims.iat ?? 0), 28_800);
});

test('the token service answers each token request with a new token', async (t) => {
  const caller = await Caller.start(t);
  const replies = await Promise.all(Array.from({ length: 4 }, () => caller.askForToken()));
  assert.equal(new Set(replies.map((reply) => json(reply).access_token)).size, 4);
});

const REFUSED = [
  ['a wrong client secret', { client_secret: 'guessed' }, 401, 'invalid_client'],
  ['an unknown client', { client_id: 'somebody' }, 401, 'invalid_client'],
  ['another audience', { audience: 'elsewhere' }, 403, 'invalid_target'],
  ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
  ['a missing field', { audience: undefined }, 400, 'invalid_request'],
  ['an unknown field', { extra: 'x' }, 400, 'invalid_request'],
  ['a field that is not text', { client_id: 7 }, 400, 'invalid_request'],
] as const;

test('the token service refuses wrong credentials and malformed requests', async (t) => {
  const caller = await Caller.start(t, { with: ['own-rules'] });
  for (const [what, change, status, error] of REFUSED) {
    const reply = await caller.askForToken({ ...CREDENTIALS, ...change });
    assert.deepEqual([reply.status, json(reply).error], [status, error], what);
  }
});

test('the token service refuses a body that is not JSON, without quoting it', async (t) => {
  const caller = await Caller.start(t);
  const reply = await caller.askForToken('client_secret=sandbox-secret');
  assert.equal(reply.status, 400);
  assert.ok(!reply.text.includes('sandbox-secret'));
  const form = await caller.askForToken('a=b', { headers: { 'content-type': 'application/x-www-form-urlencoded' } });
  assert.equal(form.status, 415);
});

test('the token service takes credentials, audience and token lifetime from its options', async (t) => {
  const options = { clientId: 'me', clientSecret: 'mine', audience: 'here', tokenLifetimeSeconds: 60 };
  const caller = await Caller.start(t, options);
  assert.equal((await caller.askForToken()).status, 401);
  const own = { ...CREDENTIALS, client_id: 'me', client_secret: 'mine', audience: 'here' };
  assert.equal(json(await caller.askForToken(own)).expires_in, 60);
});

test('a gateway request without a token gets 401 and is listed as not authorized', async (t) => {
  const caller = await Caller.start(t);
  const reply = await call(`${caller.url}${REQUEST_PATH}`, { method: 'POST', body: reportRequest() });
  assert.equal(reply.status, 401);
  assert.match(String(reply.headers['www-authenticate']), /^Bearer/);
  const [listed] = await caller.requests();
  assert.equal(listed?.authorized, false);
  assert.equal(listed?.status, 401);
  assert.deepEqual(await caller.inquiries(), []);
});

test('a damaged token or a token of another sandbox is refused', async (t) => {
  const [caller, other] = [await Caller.start(t), await Caller.start(t)];
  const foreign = await other.renewToken();
  const own = await caller.renewToken();
  for (const token of [foreign, `${own.slice(0, -4)}AAAA`, 'x']) {
    const reply = await caller.post(reportRequest(), { headers: { authorization: `Bearer ${token}` } });
    assert.equal(reply.status, 401);
  }
});

test('an expired token is refused', async (t) => {
  const caller = await Caller.start(t, { tokenLifetimeSeconds: 1 });
  await sleep(1100);
  const reply = await caller.post(reportRequest());
  assert.equal(reply.status, 401);
  assert.match(reply.text, /expired/);
});

test('a revocation without id revokes all tokens issued so far, and none issued later', async (t) => {
  const caller = await Caller.start(t);
  assert.deepEqual(json(await caller.admin('POST', 'tokens/revoke')), { revoked: 1 });
  assert.equal((await caller.post(reportRequest())).status, 401);
  await caller.renewToken();
  assert.equal((await caller.post(reportRequest())).status, 200);
});

test('a revocation by id revokes only that token', async (t) => {
  const caller = await Caller.start(t);
  const first = await caller.renewToken();
  await caller.renewToken();
  assert.deepEqual(json(await caller.admin('POST', 'tokens/revoke', { tokenId: 'T2' })), { revoked: 1 });
  assert.equal((await caller.post(reportRequest(), { headers: { authorization: `Bearer ${first}` } })).status, 401);
  assert.equal((await caller.post(reportRequest())).status, 200);
  const tokens = json(await caller.admin('GET', 'tokens'));
  const issued = tokens.issued as { tokenId: string; revoked: boolean }[];
  assert.deepEqual(
    issued.map(({ tokenId, revoked }) => [tokenId, revoked]),
    [
      ['T1', false],
      ['T2', true],
      ['T3', false],
    ],
  );
  assert.equal((await caller.admin('POST', 'tokens/revoke', { tokenId: 7 })).status, 400);
});
