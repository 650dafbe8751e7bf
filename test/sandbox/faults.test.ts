import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Caller, type Json, json, pullReport, type Reply, reportRequest } from './caller.ts';

interface Case {
  fault: string;
  params?: Json;
  posted: number;
  /** The status in the list of requests. */
  status: number | null;
  expect: (reply: Reply) => void;
  patienceMs?: number;
}

function wasReset(reply: Reply): void {
  assert.equal(reply.complete, false);
  assert.equal(reply.error, 'ECONNRESET');
}

function hasStatus(status: number): (reply: Reply) => void {
  return (reply) => {
    assert.equal(reply.status, status);
    assert.equal(reply.complete, true);
    assert.equal(reply.headers['x-sandbox-gateway'], 'credit-journey');
  };
}

function ranOutOfPatience(status: number): (reply: Reply) => void {
  return (reply) => {
    assert.equal(reply.error, 'PATIENCE');
    assert.equal(reply.status, status);
    assert.equal(reply.complete, false);
  };
}

function cutShort(reply: Reply): void {
  assert.equal(reply.status, 200);
  assert.equal(reply.complete, false);
  assert.ok(reply.text.length < Number(reply.headers['content-length']));
}

function isGood(reply: Reply): void {
  assert.equal(reply.status, 200);
  assert.equal(json(reply).returnCode, 'Record');
}

const CASES: readonly Case[] = [
  ...[400, 503].map((status) => ({
    fault: 'status',
    params: { status },
    posted: 0,
    status,
    expect: hasStatus(status),
  })),
  ...[408, 503].map((status) => ({
    fault: 'statusAfterPosting',
    params: { status },
    posted: 1,
    status,
    expect: hasStatus(status),
  })),
  { fault: 'resetOnArrival', posted: 0, status: null, expect: wasReset },
  { fault: 'resetBeforePosting', posted: 0, status: null, expect: wasReset },
  { fault: 'resetAfterPosting', posted: 1, status: null, expect: wasReset },
  { fault: 'closeBeforePosting', posted: 0, status: null, expect: wasReset },
  { fault: 'closeAfterPosting', posted: 1, status: null, expect: wasReset },
  { fault: 'finMidBody', posted: 1, status: 200, expect: cutShort },
  { fault: 'hangBeforePosting', posted: 0, status: null, expect: ranOutOfPatience(0), patienceMs: 200 },
  { fault: 'hangAfterPosting', posted: 1, status: null, expect: ranOutOfPatience(0), patienceMs: 200 },
  { fault: 'hangMidBody', posted: 1, status: 200, expect: ranOutOfPatience(200), patienceMs: 200 },
  { fault: 'slowBeforePosting', params: { delayMs: 100 }, posted: 1, status: 200, expect: isGood },
  { fault: 'slowAfterPosting', params: { delayMs: 100 }, posted: 1, status: 200, expect: isGood },
  { fault: 'trickle', params: { delayMs: 5 }, posted: 1, status: 200, expect: isGood },
  {
    fault: 'resetMidBody',
    posted: 1,
    status: 200,
    // The reset may discard bytes that had arrived before it.
    expect: (reply) => assert.equal(reply.complete, false),
  },
  {
    fault: 'notHttp',
    posted: 1,
    status: null,
    expect: (reply) => assert.match(String(reply.error), /^HPE_/),
  },
  {
    fault: 'truncatedJson',
    posted: 1,
    status: 200,
    expect(reply) {
      hasStatus(200)(reply);
      assert.throws(() => json(reply), SyntaxError);
    },
  },
  {
    fault: 'oversized',
    params: { bytes: 300_000 },
    posted: 1,
    status: 200,
    expect(reply) {
      isGood(reply);
      assert.equal(reply.text.length, 300_000);
    },
  },
  {
    fault: 'oversized',
    params: { bytes: 300_000, compressed: true },
    posted: 1,
    status: 200,
    expect(reply) {
      assert.equal(reply.headers['content-encoding'], 'gzip');
      assert.ok(reply.text.length < 10_000);
    },
  },
  {
    fault: 'undecodable',
    posted: 1,
    status: 200,
    expect(reply) {
      assert.equal(reply.headers['content-encoding'], 'gzip');
      assert.throws(() => gunzipSync(Buffer.from(reply.text)));
    },
  },
  {
    fault: 'notJson',
    posted: 1,
    status: 200,
    expect(reply) {
      assert.equal(reply.headers['content-type'], 'text/html');
      assert.throws(() => json(reply), SyntaxError);
    },
  },
  { fault: 'emptyBody', posted: 1, status: 200, expect: (reply) => assert.equal(reply.text, '') },
];

async function strike(t: TestContext, { fault, params, posted, status, expect, patienceMs }: Case): Promise<void> {
  const caller = await Caller.start(t);
  await caller.plan({ fault, ...params, times: 1 });
  const request = reportRequest();
  expect(await caller.post(request, { ...(patienceMs && { patienceMs }) }));
  assert.equal((await caller.inquiries()).length, posted);
  const [listed] = await caller.requests();
  assert.equal(listed?.fault, fault);
  assert.equal(listed?.status, status);
  assert.equal(listed?.posted, posted === 1);
  isGood(await caller.post(request));
  assert.equal((await caller.inquiries()).length, posted + 1);
}

for (const kind of CASES) {
  const { fault, params } = kind;
  const figures = params ? ` ${JSON.stringify(params)}` : '';
  test(`the fault ${fault}${figures} posts ${kind.posted ? 'once' : 'nothing'}, and the next request succeeds`, (t) =>
    strike(t, kind));
}

test('a status fault answers 429 with Retry-After in seconds, as a date, as any text, or without it', async (t) => {
  const caller = await Caller.start(t);
  const throttled = { fault: 'status', status: 429 };
  await caller.plan(
    { ...throttled, retryAfter: 7, times: 1 },
    { ...throttled, retryAfterDateSeconds: 60, times: 1 },
    { ...throttled, retryAfter: 'soon', times: 1 },
    { ...throttled, times: 1 },
  );
  const headers: (string | undefined)[] = [];
  for (const _ of [1, 2, 3, 4]) headers.push((await caller.post(reportRequest())).headers['retry-after']);
  assert.equal(headers[0], '7');
  const seconds = (Date.parse(String(headers[1])) - Date.now()) / 1000;
  assert.ok(seconds > 30 && seconds <= 61);
  assert.equal(headers[2], 'soon');
  assert.equal(headers[3], undefined);
});

test('a redirect fault names an address that would post, and itself posts nothing', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ fault: 'redirect', status: 308, times: 1 });
  const reply = await caller.post(reportRequest());
  assert.equal(reply.status, 308);
  assert.match(String(reply.headers.location), /request\?redirected=true$/);
  assert.deepEqual(await caller.inquiries(), []);
});

test('an error body quotes the request only if the fault has echoRequest', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan(
    { fault: 'status', status: 500, echoRequest: true, times: 1 },
    { fault: 'notJson', echoRequest: true, times: 1 },
    { fault: 'status', status: 500, times: 1 },
  );
  const quoted: boolean[] = [];
  for (const _ of [1, 2, 3]) quoted.push((await caller.post(reportRequest())).text.includes('912340001'));
  assert.deepEqual(quoted, [true, true, false]);
});

test('a returnCode fault answers with the given return code', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan(
    { fault: 'returnCode', returnCode: 'Frozen', times: 1 },
    { fault: 'returnCode', returnCode: 'Record' },
  );
  assert.equal((await pullReport(caller, '0001')).returnCode, 'Frozen');
  assert.equal((await pullReport(caller, '0404')).returnCode, 'Record');
});

test('a refuseConnections fault answers, then refuses connections for the given time', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ fault: 'refuseConnections', forMs: 300, times: 1 });
  const reply = await caller.post(reportRequest());
  isGood(reply);
  assert.equal(reply.headers.connection, 'close');
  assert.equal((await caller.post(reportRequest())).error, 'ECONNREFUSED');
  let last = await caller.post(reportRequest());
  while (last.error === 'ECONNREFUSED') last = await caller.post(reportRequest());
  isGood(last);
  assert.equal((await caller.inquiries()).length, 2);
});

test('a plan can refuse connections at once, and the sandbox can be closed meanwhile', async (t) => {
  const caller = await Caller.start(t);
  assert.equal((await caller.admin('PUT', 'faults', { refuseConnectionsForMs: 60_000 })).status, 200);
  assert.equal((await caller.post(reportRequest())).error, 'ECONNREFUSED');
  await caller.sandbox.close();
});

test('the sandbox closes while requests hang', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ fault: 'hangAfterPosting', times: 1 }, { fault: 'slowBeforePosting', delayMs: 60_000 });
  const hanging = [caller.post(reportRequest()), caller.post(reportRequest())];
  while ((await caller.requests()).length < 2) await new Promise(setImmediate);
  await caller.sandbox.close();
  for (const reply of await Promise.all(hanging)) assert.equal(reply.status, 0);
});
