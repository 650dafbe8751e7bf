import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { Caller, type Json, json, type Reply, reportRequest } from './caller.ts';

const CASES: readonly [rule: Json, status: number, check?: (reply: Reply) => void][] = [
  [{ fault: 'unavailable', retryAfter: 3 }, 503, (reply) => assert.equal(reply.headers['retry-after'], '3')],
  [{ fault: 'throttled', retryAfter: 4 }, 429, (reply) => assert.equal(reply.headers['retry-after'], '4')],
  [{ fault: 'refused' }, 401],
  [{ fault: 'status', status: 502 }, 502],
  [{ fault: 'slow', delayMs: 50 }, 200, (reply) => assert.ok(decodeJwt(String(json(reply).access_token)))],
  [{ fault: 'hang' }, 0, (reply) => assert.equal(reply.error, 'PATIENCE')],
  [{ fault: 'reset' }, 0, (reply) => assert.equal(reply.error, 'ECONNRESET')],
  [{ fault: 'garbage' }, 200, (reply) => assert.throws(() => json(reply), SyntaxError)],
  [{ fault: 'notBearer' }, 200, (reply) => assert.equal(json(reply).token_type, 'mac')],
  [{ fault: 'withoutToken' }, 200, (reply) => assert.ok(!('access_token' in json(reply)))],
  [{ fault: 'withoutExpiry' }, 200, (reply) => assert.ok(!('expires_in' in json(reply)))],
];

for (const [rule, status, check] of CASES) {
  test(`the token service fault ${rule.fault} strikes once, then a token is issued`, async (t) => {
    const caller = await Caller.start(t);
    await caller.plan({ target: 'token', times: 1, ...rule });
    const reply = await caller.askForToken(undefined, { patienceMs: 200 });
    assert.equal(reply.status, status);
    check?.(reply);
    assert.equal((await caller.askForToken()).status, 200);
    const requests = json(await caller.admin('GET', 'tokens')).requests as Json[];
    assert.deepEqual(
      requests.map(({ fault }) => fault),
      [null, rule.fault, null],
    );
  });
}

test('the token service fault alreadyExpired issues a token that the gateway refuses', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ target: 'token', fault: 'alreadyExpired', times: 1 });
  await caller.renewToken();
  assert.equal((await caller.post(reportRequest())).status, 401);
  await caller.renewToken();
  assert.equal((await caller.post(reportRequest())).status, 200);
});

test('the token service fault refuseConnections issues a token, then refuses connections for a while', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ target: 'token', fault: 'refuseConnections', forMs: 60_000, times: 1 });
  assert.equal((await caller.askForToken()).status, 200);
  assert.equal((await caller.post(reportRequest())).error, 'ECONNREFUSED');
});

test('a token rule with an attempt number counts token requests since the plan was set', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ target: 'token', fault: 'refused', attempt: 2 });
  const statuses: number[] = [];
  for (const _ of [1, 2, 3]) statuses.push((await caller.askForToken()).status);
  assert.deepEqual(statuses, [200, 401, 200]);
  assert.equal((await caller.post(reportRequest())).status, 200);
});
