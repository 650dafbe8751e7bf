/** Sends faulty and excessive requests, and takes away the API's dependencies. No worker runs. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATIONS } from '../../src/operations/all-operations.ts';
import { listPathParameters } from '../../src/operations/operation.ts';
import { DEFAULT_LIMITS } from '../../src/operations/services.ts';
import { connectTo } from '../support/harness-client.ts';
import { applicant, journeyInput } from '../support/journey-harness.ts';
import { type ApiCall, startCutOffApi, startTestApi, type TestApi, token, useApi } from './fixtures.ts';

const { harness, api } = useApi({ limits: { requestTimeoutMs: 1_000 } }, { isWorkerStopped: true });

/** Used as names and values in faulty requests. It must appear in no answer, header or log line. */
const SENTINEL = 'Sentinelname-912345678';

describe('an error is answered with a problem document', () => {
  const body = { body: '{}' };
  const cases: [what: string, path: string, call: ApiCall, status: number, code: string][] = [
    ['an unknown address', '/v1/nothing', {}, 404, 'notFound'],
    ['an address outside /v1', '/nothing', {}, 404, 'notFound'],
    ['an invalid id', '/v1/journeys/a%20b', {}, 404, 'notFound'],
    ['an address that cannot be decoded', '/v1/journeys/%zz', {}, 400, 'address'],
    ['an unsupported method', '/v1/journeys', { method: 'DELETE' }, 405, 'method'],
    [
      'an unsupported content type',
      '/v1/journeys',
      { ...body, headers: { 'content-type': 'text/plain' } },
      415,
      'contentType',
    ],
    ['a body that is not JSON', '/v1/journeys', { body: '{' }, 400, 'notJson'],
    [
      'a body that gives a member twice',
      '/v1/journeys',
      { body: '{"journeyId":"a","journeyId":"b"}' },
      400,
      'repeated',
    ],
    ['a body that is nested too deeply', '/v1/journeys', { body: '['.repeat(50) + ']'.repeat(50) }, 400, 'tooDeep'],
    ['a body that is not an object', '/v1/journeys', { body: '[]' }, 422, 'invalidInput'],
    ['a body that breaks the validation rules', '/v1/journeys', body, 422, 'invalidInput'],
    ['an unknown query parameter', '/v1/journeys?x=1', {}, 422, 'invalidInput'],
    ['a body that is too large', '/v1/journeys', { body: `"${'x'.repeat(300_000)}"` }, 413, 'bodyTooLarge'],
  ];
  for (const [what, path, call, status, code] of cases) {
    test(`${what}: ${status}`, async () => {
      const answer = await api.call(path, call);
      assert.deepEqual([answer.status, answer.json?.status, answer.json?.code], [status, status, code], answer.text);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
      assert.equal(answer.json.type, `/v1/reference#problem-${code}`);
      assert.equal(answer.json.requestId, answer.headers.get('x-request-id'));
    });
  }

  test('an answer has the caller’s request id if that is short and harmless, and otherwise a generated id', async () => {
    const idOf = async (given: string) => {
      const { headers } = await api.call('/healthz', { headers: { 'x-request-id': given } });
      return headers.get('x-request-id');
    };
    assert.equal(await idOf('R-1'), 'R-1');
    for (const bad of ['a b', 'x'.repeat(65), '{"a":1}', '-', '900-11-0001', '900110001'])
      assert.match((await idOf(bad)) ?? '', /^[0-9a-f-]{36}$/);
  });

  test('no answer and no log line repeats values of a request that is refused', async () => {
    const bodies: unknown[] = [
      { [SENTINEL]: SENTINEL },
      {
        journeyId: SENTINEL,
        applicants: [{ ...applicant('1A'), ssn: SENTINEL, [SENTINEL]: 1 }],
        endUserCode: SENTINEL,
      },
      { reason: SENTINEL, by: SENTINEL, share: { shareId: SENTINEL, [SENTINEL]: 1 }, to: SENTINEL, proof: SENTINEL },
      `{"${SENTINEL}":1,"${SENTINEL}":2}`,
      `{"a":"${SENTINEL}`,
      `"${SENTINEL}"`,
    ];
    const before = api.lines.length;
    for (const route of OPERATIONS.filter((one) => one.body)) {
      const path = listPathParameters(route.path).reduce<string>(
        (so, name) => so.replace(`{${name}}`, 'T-1'),
        route.path,
      );
      for (const one of bodies) {
        const { status, text, headers } = await api.call(path, { method: route.method, body: one });
        assert.ok(status >= 400 && status < 500, `${route.operationId} ${status} ${text}`);
        const all = [text, ...[...headers].flat()].join('\n');
        assert.ok(!all.includes(SENTINEL), `${route.operationId}: ${text}`);
      }
    }
    await api.call(`/v1/journeys/${SENTINEL}?after=${SENTINEL}`, { headers: { 'if-none-match': SENTINEL } });
    assert.ok(api.lines.length > before);
    assert.ok(!api.lines.join('').includes(SENTINEL));
    assert.deepEqual(api.unexpected, []);
  });
});

describe('requests that try to exhaust the API', () => {
  test('a body of 10 MB is refused without being read to the end', async () => {
    const bearer = await token();
    const socket = connect(api.port, '127.0.0.1');
    const head = `POST /v1/journeys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bearer}\r\n`;
    socket.write(`${head}content-type: application/json\r\ncontent-length: 10485760\r\n\r\n{"a":"`);
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.match(answer, /connection: close/i);
  });

  test('the number of concurrent requests of one caller is limited', async (t) => {
    const few = await startTestApi(harness, { limits: { burst: 5, perSecond: 1 } });
    t.after(() => few.close());
    const all = await Promise.all(Array.from({ length: 20 }, () => few.call('/v1/journeys/T-unknown')));
    const refused = all.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 10, String(refused.length));
    assert.ok(refused.every(({ headers, json }) => headers.get('retry-after') === '1' && json.code === 'rate'));
  });
});

describe('requests that wait', () => {
  /** Sends a request that needs a worker and stays unanswered. It is aborted at the test's end. */
  async function waitingFor(
    t: TestContext,
    at: TestApi,
    { headers = {}, message }: { headers?: Record<string, string>; message?: string } = {},
  ): Promise<string> {
    const input = journeyInput();
    await api.expect(201, '/v1/journeys', { body: input });
    const path = `/v1/journeys/${input.journeyId}`;
    const gone = new AbortController();
    const authorization = `Bearer ${await token()}`;
    const { signal } = gone;
    const asked =
      message === undefined
        ? fetch(at.url + path, { headers: { authorization, ...headers }, signal })
        : fetch(`${at.url}${path}/${message}`, {
            ...{ method: 'POST', body: JSON.stringify({ reason: 'asked' }), signal },
            headers: { authorization, 'content-type': 'application/json' },
          });
    const waiting = asked.catch(() => {});
    t.after(async () => {
      gone.abort();
      await waiting;
      await at.close();
    });
    await sleep(300);
    return path;
  }

  test('a request is answered 503 with Retry-After if all slots and all places in the queue are taken', async (t) => {
    const small = await startTestApi(harness, { limits: { work: { ...DEFAULT_LIMITS.work, running: 1, waiting: 0 } } });
    const path = await waitingFor(t, small, { message: 'withdrawal' });
    const { status, json, headers } = await small.call(`${path}/withdrawal`, { body: { reason: 'asked' } });
    assert.deepEqual([status, json.code], [503, 'busy']);
    assert.ok(Number(headers.get('retry-after')) > 0);
    await small.expect(200, '/healthz');
    // Requests that need no worker do not wait for those that do.
    await small.expect(200, '/v1/holds');
    await small.expect(201, '/v1/journeys', { body: journeyInput() });
  });

  test('a long poll takes no slot, and is answered 429 beyond the limit of long polls', async (t) => {
    const small = await startTestApi(harness, {
      limits: {
        work: { ...DEFAULT_LIMITS.work, running: 1, waiting: 0 },
        waiters: { ...DEFAULT_LIMITS.waiters, running: 1 },
      },
    });
    const waiting = { 'if-none-match': '"none"', prefer: 'wait=20' };
    const path = await waitingFor(t, small, { headers: waiting });
    const { status, json, headers } = await small.call(path, { headers: waiting });
    assert.deepEqual([status, json.code, headers.get('retry-after')], [429, 'waiting', '5']);
    await small.expect(200, '/v1/holds');
  });
});

describe('the API without one of its dependencies', () => {
  test('without the ledger, requests that need it are answered 503, and a start succeeds', async (t) => {
    const cutOff = await startCutOffApi(t, harness);
    const narrow = await token({ endUsers: ['EU123'] });
    assert.equal(
      (await cutOff.expect(503, `/v1/journeys/T-${randomUUID().slice(0, 8)}`, { token: narrow })).code,
      'ledgerUnavailable',
    );
    const started = await cutOff.call('/v1/journeys', { body: journeyInput() });
    assert.equal(started.status, 201, started.text);
    const ready = await cutOff.call('/readyz');
    assert.deepEqual([ready.status, ready.json.checks.ledger.ok], [503, false]);
  });

  test('without workers, callers that wait for a status delay no other caller', async (t) => {
    const journeys = await connectTo(harness, { dataConverter: {}, queryTimeoutMs: 6_000 });
    const busy = await startTestApi(harness, { journeys, limits: { work: { ...DEFAULT_LIMITS.work, running: 2 } } });
    t.after(async () => {
      await busy.close();
      await journeys.close();
    });
    const { journeyId } = journeyInput();
    await journeys.start({ ...journeyInput(), journeyId });
    const statuses = Array.from({ length: 3 }, () => busy.call(`/v1/journeys/${journeyId}`));
    await sleep(200);
    const first = await Promise.race([...statuses, busy.call('/v1/journeys')]);
    assert.deepEqual([first.status, Array.isArray(first.json.data)], [200, true], first.text);
    for (const { status, headers, text } of await Promise.all(statuses)) {
      assert.deepEqual([status, headers.has('retry-after')], [503, true], text);
    }
  });

  test('without workers, a decision about many inquiries is answered within half a minute', {
    timeout: 90_000,
  }, async () => {
    const { journeyId: _, ...input } = journeyInput();
    const runs = Array.from({ length: 20 }, (_, nth) => `T-many-${randomUUID().slice(0, 8)}-${nth}`);
    for (const journeyId of runs) await api.expect(201, '/v1/journeys', { body: { ...input, journeyId } });
    const customerTraceNumber = 'PQ'.padEnd(28, 'A');
    const decision = { decisionId: 'D-1', action: 'resend', providerSaid: 'notPosted', reason: 'by phone' };
    const inquiries = runs.map((runKey) => ({ runKey, customerTraceNumber, attempt: 1 }));
    const ask = async (how: object) => {
      const beganAt = performance.now();
      const json = await api.expect(200, '/v1/decisions', { body: { ...decision, inquiries, ...how } });
      const codes = new Set(json.inquiries.map(({ code }: { code: string }) => code));
      return { codes, tookMs: performance.now() - beganAt };
    };
    const { codes, tookMs } = await ask({});
    assert.ok(tookMs < 35_000, String(tookMs));
    assert.deepEqual(codes, new Set(['workerUnavailable', 'outOfTime']));
    // A preview reads the ledger alone.
    assert.deepEqual((await ask({ preview: true })).codes, new Set(['notOnHold']));
  });

  test('without the audit log, a request is answered 503 and returns no data', async (t) => {
    const mute = await startTestApi(harness, {
      audit: {
        write: () => {
          throw new Error('full');
        },
      },
    });
    t.after(() => mute.close());
    assert.equal((await mute.expect(503, '/v1/journeys')).code, 'audit');
  });
});
