/** Requests that nobody should send, against the HTTP API with a worker behind it: bodies, addresses, and bytes on the wire. */
import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { createOpenApiDocument } from '../../src/api/openapi.ts';
import { listPathParameters } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/route-table.ts';
import { startTestApi, type TestApi, token } from '../api/fixtures.ts';
import { journeyInput, startHarness } from '../support/journey-harness.ts';
import { aConsent, aDecision, aJourney } from '../validation/sample-messages.ts';
import { byteMutations, changedBytes, changedText, treeMutations } from './mutations.ts';
import { type OpenTarget, property, type Runnable } from './property.ts';
import { assertNothingPersonal } from './sentinel.ts';
import { hostileText, usually } from './values.ts';

const { paths } = createOpenApiDocument() as { paths: Record<string, Record<string, { responses: object }>> };

/** Before there is a route: an address or a method that there is not. */
const ANYWHERE = ['400', '404', '405'];

interface Answer {
  status: number;
  type: string;
  text: string;
  headers: string;
}

/** Of errors. What a caller sent may be in none, and each is a problem document. */
function assertProblem({ status, type, text: body, headers }: Answer, requestId = ''): void {
  assert.ok(status < 500, `${status} ${body}`);
  if (status < 400) return;
  assert.match(type, /^application\/problem\+json/);
  const problem = JSON.parse(body);
  assert.equal(problem.status, status);
  assert.equal(problem.type, `/v1/reference#problem-${problem.code}`);
  const said = problem.requestId === requestId ? (body + headers).replaceAll(requestId, '') : body + headers;
  assertNothingPersonal(said, `an answer ${status}`);
}

/** Ids are in it, as their callers give them: those are opaque. */
function assertAudit(api: TestApi): void {
  const lines = api.audited().map(({ journeyId: _, requestId: __, ...more }) => more);
  api.lines.length = 0;
  assertNothingPersonal(JSON.stringify(lines), 'the audit log');
}

/** Its path as it is given: `fetch` would straighten it. */
async function ask(api: TestApi, bearer: string, method: string, path: string, more: Partial<Call> = {}) {
  const { headers = {}, body } = more;
  const all = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...headers };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = httpRequest({ host: '127.0.0.1', port: api.port, method, path, headers: all }, resolve);
    asked.once('error', reject);
    asked.end(body);
  });
  const said = await text(response);
  return {
    status: response.statusCode ?? 0,
    type: response.headers['content-type'] ?? '',
    text: said,
    headers: JSON.stringify(response.headers),
  };
}

interface Call {
  headers: Record<string, string>;
  body: Buffer;
}

const SAMPLES = [
  aJourney({ stages: ['PREQUAL'], shares: [{ shareId: 'S1', endUserCode: 'EU456' }] }),
  aConsent(),
  (({ journeyId: _, by: __, ...decision }) => decision)(aDecision()),
  { to: 'PREAPP' },
  { repeat: 'PREQUAL', occurrence: 2, reason: 'asked for by the lender' },
  { gate: 'PREAPP', until: '2031-01-01T00:00:00Z', reason: 'on holiday' },
  { share: { shareId: 'S2', endUserCode: 'EU456' } },
  { reason: 'asked for' },
  { pullId: 'P-1', productCode: 'CR', endUserCode: 'EU123', permissiblePurposeCode: '01' },
  { shareId: 'S3', endUserCode: 'EU456', permissiblePurposeCode: '02', report: { customerTraceNumber: 'PQ1' } },
  { reviewId: 'R-1', file: 'accounts.csv', endUserCode: 'EU123' },
  { decisionId: 'D-1', reason: 'seen' },
  {
    ...{ decisionId: 'D-1', action: 'resend', providerSaid: 'notPosted', reason: 'by phone' },
    inquiries: [{ runKey: 'J-1001', customerTraceNumber: 'PQABCDEFGHIJKLMNOPQRSTUVWX00', attempt: 1 }],
  },
] as const;

const KEYS = ['journeyId', 'shareId', 'applicants', 'shares', 'by', 'reason', 'decision', 'to', 'proof', 'profile'];

/** Into a path: as it is, or in the ways that differ between those who read paths. */
const segment = fc.oneof(
  { arbitrary: fc.constantFrom('J-1001', 'PREQUAL', '1', 'PQABCDEFGHIJKLMNOPQRSTUVWX00'), weight: 3 },
  { arbitrary: fc.constant('@open@'), weight: 3 },
  {
    arbitrary: fc.constantFrom(
      ...['.', '..', '%2e%2e', '%2F', '..%2F..%2Fetc', '%00', '%', '%zz', '%c0%ae', '%ED%A0%80', ';a=b', '@', '%25'],
      ...['a%2Fb', 'x'.repeat(65), 'x'.repeat(3_000), '__proto__', 'constructor', 'share:S1', '912345678'],
    ),
    weight: 3,
  },
  { arbitrary: hostileText.filter((one) => one.isWellFormed()).map(encodeURIComponent), weight: 2 },
);

function bodies(api: TestApi, bearer: string, open: string): Runnable {
  return property({
    name: 'bodies',
    weight: 6,
    cases: fc.record({
      route: fc.constantFrom(...ROUTES.filter((one) => one.body)),
      ids: fc.array(fc.constantFrom('J-1001', '@open@', 'S1', 'T-unknown'), { minLength: 2, maxLength: 2 }),
      sample: fc.constantFrom(...SAMPLES),
      tree: treeMutations(KEYS, 3),
      bytes: usually([], 4, byteMutations(2)),
    }),
    show: ({ route, ...more }) => ({ route: `${route.method} ${route.path}`, ...more }),
    check: async ({ route, ids, sample, tree, bytes }) => {
      const names = listPathParameters(route.path);
      const path = names.reduce<string>(
        (so, name, at) => so.replace(`{${name}}`, (ids[at] ?? '').replace('@open@', open)),
        route.path,
      );
      const body = changedBytes(Buffer.from(changedText(sample, tree).replaceAll('J-1001', open)), bytes);
      const answer = await ask(api, bearer, route.method, path, { body });
      assertProblem(answer);
      const documented = Object.keys(paths[route.path]?.[route.method.toLowerCase()]?.responses ?? {});
      assert.ok(documented.includes(String(answer.status)), `${answer.status} is not documented: ${answer.text}`);
      assert.deepEqual(api.unexpected, []);
      assertAudit(api);
    },
  });
}

function addresses(api: TestApi, bearer: string, open: string): Runnable {
  return property({
    name: 'addresses',
    weight: 4,
    cases: fc.record({
      route: fc.constantFrom(...ROUTES),
      method: fc.constantFrom(
        'GET',
        'GET',
        'GET',
        'POST',
        'PUT',
        'DELETE',
        'PATCH',
        'HEAD',
        'OPTIONS',
        'TRACE',
        'QUERY',
      ),
      segments: fc.array(segment, { minLength: 3, maxLength: 3 }),
      query: fc.array(
        fc.tuple(
          fc.constantFrom('limit', 'after', 'runKey', 'reveal', 'purpose', 'kind', 'from', 'x', '__proto__'),
          segment,
        ),
        { maxLength: 3 },
      ),
      header: fc.constantFrom('x-request-id', 'if-none-match', 'prefer', 'x-forwarded-for', 'content-type', 'origin'),
      value: fc.oneof(
        fc.constantFrom('wait=0', 'wait=99999999999', '*', 'W/"x"', '"', 'application/json;charset=utf-7'),
        hostileText.filter((one) => /^[\t\x20-\x7e\x80-\xff]*$/.test(one)),
      ),
    }),
    show: ({ route, ...more }) => ({ route: `${route.method} ${route.path}`, ...more }),
    check: async ({ route, method, segments, query, header, value }) => {
      const own = (one: string) => one.replace('@open@', open);
      const path = listPathParameters(route.path).reduce<string>(
        (so, name, at) => so.replace(`{${name}}`, () => own(segments[at] ?? '')),
        route.path,
      );
      const asked = query.map(([name, of]) => `${name}=${own(of)}`).join('&');
      const answer = await ask(api, bearer, method, asked === '' ? path : `${path}?${asked}`, {
        headers: { [header]: value },
        ...(method === 'POST' ? { body: Buffer.from('{}') } : {}),
      });
      // An answer to HEAD has no body to look at.
      if (method !== 'HEAD') assertProblem(answer, header === 'x-request-id' ? value : undefined);
      const known = Object.keys(paths[route.path]?.[method.toLowerCase()]?.responses ?? {});
      // Dots and slashes may lead to another operation, which a token for everything may use.
      const any = new Set([...known, ...ANYWHERE, ...['200', '403', '409', '415', '422']]);
      assert.ok(any.has(String(answer.status)), `${answer.status} ${answer.text}`);
      assert.deepEqual(api.unexpected, []);
      assertAudit(api);
    },
  });
}

/** Until the server ends the connection, which it does after what it cannot read, or for a second. */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const done = () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('latin1'));
    };
    socket.setTimeout(1_000, done);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', done);
    socket.on('close', done);
    socket.end(bytes);
  });
}

function wire(api: TestApi, bearer: string): Runnable {
  const body = JSON.stringify(aConsent());
  return property({
    name: 'wire',
    weight: 2,
    cases: fc.record({
      bytes: byteMutations(3),
      extra: fc.constantFrom(
        '',
        'content-length: 5\r\n',
        'transfer-encoding: chunked\r\n',
        'transfer-encoding: identity\r\n',
        'Transfer-Encoding : chunked\r\n',
        'transfer-encoding:\tchunked, chunked\r\n',
        ' folded: x\r\n',
        'host: y\r\n',
        'expect: 100-continue\r\n',
        'expect: 912345678\r\n',
        'upgrade: h2c\r\nconnection: upgrade\r\n',
        'x: \0\r\n',
        `x: ${'y'.repeat(20_000)}\r\n`,
      ),
    }),
    check: async ({ bytes, extra }) => {
      const head = `POST /v1/consents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bearer}\r\ncontent-type: application/json\r\n`;
      const whole = `${head}${extra}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
      const said = await exchange(api.port, changedBytes(Buffer.from(whole, 'latin1'), bytes));
      for (const [, status] of said.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)) {
        // 501: a method that Node does not know.
        assert.ok(Number(status) < 500 || status === '501', said);
        assert.notEqual(status, '201', 'something was started that nobody asked for');
      }
      const isProblem = /^HTTP\/1\.1 [45]/.test(said);
      if (isProblem) assert.match(said, /application\/problem\+json/);
      if (isProblem) assertNothingPersonal(said, 'an answer');
      assert.deepEqual(api.unexpected, []);
      assertAudit(api);
    },
  });
}

export async function openApi(): Promise<OpenTarget> {
  const harness = await startHarness();
  const api = await startTestApi(harness, {
    limits: { burst: 1e9, perSecond: 1e9 },
    portfolioDirectory: harness.dataDir,
  });
  const bearer = await token({ expiresAt: Math.floor(Date.now() / 1000) + 3_600 });
  // At a gate: it takes messages for as long as this runs.
  const open = journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares: [{ shareId: 'S1', endUserCode: 'EU456' }] });
  await harness.start(open);
  const { journeyId } = open;
  return {
    properties: [bodies(api, bearer, journeyId), addresses(api, bearer, journeyId), wire(api, bearer)],
    close: async () => {
      await api.close();
      await harness.close();
    },
  };
}
