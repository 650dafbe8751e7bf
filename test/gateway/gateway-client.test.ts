/** Tests each row of the failure table of docs/protocol.md, and counts the requests that the gateway received. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { GatewayFailureType } from '../../src/model/failure-types.ts';
import type { RefusalBody } from '../../src/model/inquiry.ts';
import { applicant, profileFor, recordBody, secondUseRequest, TRACE_NUMBER } from './fixtures.ts';
import { clientFor, httpAnswer, startGateway, startServer } from './scripted-server.ts';

test('the client sends the request of the interface once and returns outcome, reference and body', async (t) => {
  const body = recordBody();
  const { server, submit } = await startGateway(t, httpAnswer(200, body));
  const before = Date.now();
  const reply = await submit();
  assert.equal(server.requests.length, 1);
  const [request] = server.requests;
  assert.equal(request?.method, 'POST');
  assert.equal(request?.path, '/ServiceGateway/orest/grs_v001/request');
  assert.equal(request?.headers.authorization, 'Bearer access-token-1');
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(request?.body ?? ''), {
    customerId: 'HOUSE0001',
    customerTraceNumber: TRACE_NUMBER,
    endUserCode: 'LENDER01',
    productCode: 'PREQUAL',
    permissiblePurposeCode: 'CP',
    softwareProviderId: 'CRJY',
    applicants: [applicant()],
  });
  assert.equal(reply.httpStatus, 200);
  assert.equal(reply.body, body);
  assert.ok(Date.parse(reply.requestedAt) >= before && Date.parse(reply.requestedAt) <= Date.now());
  assert.deepEqual(reply.answer, {
    kind: 'outcome',
    outcome: 'record',
    returnCode: 'Record',
    reference: {
      reportReferenceNumber: 'RRN-0001',
      requestedAt: reply.requestedAt,
      applicants: [{ applicantId: '1A', consumerId: 'CONSUMER1' }],
    },
  });
});

test('the client builds the request path from the profile’s base URL and API version', async (t) => {
  const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(200, recordBody())) });
  const profile = profileFor(`${server.url}/prefix/`, { apiVersion: 'grs_v002' });
  await clientFor(t, profile).submit();
  assert.equal(server.requests[0]?.path, '/prefix/ServiceGateway/orest/grs_v002/request');
});

const STATUSES: Partial<Record<GatewayFailureType, number[]>> = {
  RequestRefused: [400, 404, 405, 413, 415, 422],
  TokenRejected: [401],
  NotEntitled: [403],
  Throttled: [429],
  OutcomeUnknown: [301, 302, 303, 307, 308, 408, 409, 425, 451, 500, 502, 503, 504, 599],
};
const STATUS_TABLE = Object.entries(STATUSES).flatMap(([code, all]) => all.map((status) => [status, code] as const));

for (const [status, code] of STATUS_TABLE) {
  test(`the client reports status ${status} as ${code} after exactly one request`, async (t) => {
    const { server, fail } = await startGateway(t, httpAnswer(status, '{}', { location: '/elsewhere' }));
    const error = await fail();
    assert.equal(error.code, code);
    assert.equal(error.httpStatus, status);
    assert.equal(error.sent, 'possibly');
    assert.ok(Date.parse(error.requestedAt ?? '') > 0);
    assert.equal(server.requests.length, 1);
  });
}

const STANDING_DECISIONS: [statuses: number[], status: number, code: GatewayFailureType][] = [
  [[], 401, 'OutcomeUnknown'],
  [[], 429, 'OutcomeUnknown'],
  [[401], 429, 'OutcomeUnknown'],
  [[401, 429, 503], 503, 'Throttled'],
  [[401, 429, 503], 401, 'TokenRejected'],
  [[302], 302, 'OutcomeUnknown'],
];

for (const [notProcessedStatuses, status, code] of STANDING_DECISIONS) {
  test(`the client reports status ${status} as ${code} if [${notProcessedStatuses}] mean "not processed"`, async (t) => {
    const { server, fail } = await startGateway(t, httpAnswer(status, '{}'), { notProcessedStatuses });
    const error = await fail();
    assert.equal(error.code, code);
    assert.equal(server.requests.length, 1);
  });
}

test('the client reads a success status as an answer even if the profile lists it as "not processed"', async (t) => {
  const { submit } = await startGateway(t, httpAnswer(200, recordBody()), { notProcessedStatuses: [200] });
  const reply = await submit();
  assert.equal(reply.answer.kind, 'outcome');
});

const RETRY_AFTER: [title: string, headers: Record<string, string>, expected: number | undefined][] = [
  ['in seconds', { 'retry-after': '120' }, 120_000],
  [
    "an HTTP date, relative to the answer's own date",
    { date: 'Wed, 01 Jul 2026 10:00:00 GMT', 'retry-after': 'Wed, 01 Jul 2026 10:01:30 GMT' },
    90_000,
  ],
  ['a date in the past', { 'retry-after': 'Wed, 01 Jul 2020 10:00:00 GMT' }, undefined],
  ['zero', { 'retry-after': '0' }, undefined],
  ['a negative number', { 'retry-after': '-5' }, undefined],
  ['neither number nor date', { 'retry-after': 'soon' }, undefined],
  ['missing', {}, undefined],
];

for (const [title, headers, expected] of RETRY_AFTER) {
  test(`the client reads the delay of a 429 whose Retry-After is ${title}`, async (t) => {
    const { fail } = await startGateway(t, httpAnswer(429, '', headers));
    const error = await fail();
    assert.equal(error.code, 'Throttled');
    assert.equal(error.retryAfterMs, expected);
  });
}

test('the client reports a refusal by its status even if the connection ends within the body', async (t) => {
  const { fail } = await startGateway(t, {
    onRequest: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 100\r\n\r\n{'),
  });
  assert.equal((await fail()).code, 'RequestRefused');
});

const REFUSALS: [title: string, answer: Buffer, refusal: RefusalBody | undefined][] = [
  ['in full', httpAnswer(422, '{"problem":"É"}'), { text: '{"problem":"É"}', isWhole: true }],
  ['in full, although it is not JSON', httpAnswer(403, '<p>no</p>'), { text: '<p>no</p>', isWhole: true }],
  [
    'as far as it arrived',
    Buffer.from('HTTP/1.1 400 Bad\r\ncontent-length: 9\r\n\r\n{"a":'),
    { text: '{"a":', isWhole: false },
  ],
  [
    'decompressed',
    httpAnswer(400, gzipSync('{"a":1}'), { 'content-encoding': 'gzip' }),
    { text: '{"a":1}', isWhole: true },
  ],
  [
    'with replacement characters for bytes that are not UTF-8',
    httpAnswer(500, Buffer.from([0x61, 0xff])),
    { text: 'a\ufffd', isWhole: false },
  ],
  ['as absent if it is empty', httpAnswer(401, ''), undefined],
  ['as absent if its encoding is unknown', httpAnswer(400, 'x', { 'content-encoding': 'zstd' }), undefined],
];

for (const [title, answer, refusal] of REFUSALS) {
  test(`the client keeps the body of a refusal ${title}, and prints it in no error`, async (t) => {
    const { fail } = await startGateway(t, { onRequest: (socket) => socket.end(answer) });
    const error = await fail();
    assert.deepEqual(error.refusal(), refusal);
    const shown = inspect(error, { showHidden: true, depth: 9 }) + JSON.stringify(error);
    assert.ok(!refusal || refusal.text.length < 6 || !shown.includes(refusal.text), shown);
  });
}

test('the client keeps a refusal’s body only up to the size limit of the profile', async (t) => {
  const { profile, fail } = await startGateway(t, httpAnswer(400, 'b'.repeat(200_000)));
  const error = await fail();
  assert.equal(error.code, 'RequestRefused');
  const { text = '', isWhole } = error.refusal() ?? {};
  assert.ok(text.length <= profile.limits.maxResponseBytes && (isWhole || text.length < 200_000), String(text.length));
});

test('the client returns the body of an answer that has the wrong shape', async (t) => {
  const { submit } = await startGateway(t, httpAnswer(200, '[1,2]'));
  const reply = await submit();
  assert.deepEqual(reply.answer, { kind: 'unexpectedResponse', problems: ['/ must be an object'] });
  assert.equal(reply.body, '[1,2]');
});

test("an answer with the sandbox's header is accepted under a sandbox profile and held under any other", async (t) => {
  const marked = { 'x-sandbox-gateway': 'credit-journey' };
  const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(200, recordBody(), marked)) });
  const sandbox = profileFor(server.url);
  assert.equal((await clientFor(t, sandbox).submit()).answer.kind, 'outcome');
  const uat = profileFor(server.url, { environment: 'uat' });
  const reply = await clientFor(t, uat).submit();
  assert.equal(reply.answer.kind, 'unexpectedResponse');
  assert.match(JSON.stringify(reply.answer), /sandbox/);
});

test('a refusal with the sandbox’s header under another profile is an unknown outcome', async (t) => {
  const marked = { 'x-sandbox-gateway': 'credit-journey' };
  const { fail } = await startGateway(t, httpAnswer(429, '', marked), { environment: 'production' });
  assert.equal((await fail()).code, 'OutcomeUnknown');
});

test('the client posts a SECONDUSE and returns the reference number of that posting', async (t) => {
  const answer = JSON.stringify({ returnCode: 'Record', reportReferenceNumber: 'SU-77' });
  const { profile, submit } = await startGateway(t, httpAnswer(200, answer));
  const reply = await submit({ request: secondUseRequest(profile) });
  assert.deepEqual(reply.answer, {
    kind: 'outcome',
    outcome: 'record',
    returnCode: 'Record',
    reference: { reportReferenceNumber: 'SU-77', requestedAt: reply.requestedAt, applicants: [] },
  });
  assert.equal(reply.body, answer, 'what is kept is the confirmation, and no report');
});

test('the client sends nothing if the token is not valid in a header', async (t) => {
  const { server, fail } = await startGateway(t, {});
  const error = await fail({ accessToken: 'a\r\nx: y' });
  assert.equal(error.code, 'CredentialsRefused');
  assert.equal(server.connections, 0);
});
