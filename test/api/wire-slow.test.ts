/** Malformed and ambiguous requests, as raw bytes. No worker runs. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, METHODS } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { applicant, consentMessage, journeyInput } from '../support/journey-harness.ts';
import { startTestApi, token, useApi } from './fixtures.ts';

const { harness, api } = useApi(
  { limits: { requestTimeoutMs: 1_000, idleTimeoutMs: 1_000 } },
  { isWorkerStopped: true },
);
const bearer = await token();

function opened(): Socket {
  const socket = connect(api.port, '127.0.0.1');
  socket.on('error', () => {});
  return socket;
}

/** Returns the next socket that a server of this process accepts. */
function nextAcceptedSocket(): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const onAccepted = (message: unknown) => {
    unsubscribe('net.server.socket', onAccepted);
    resolve((message as { socket: Socket }).socket);
  };
  subscribe('net.server.socket', onAccepted);
  return promise;
}

/** Returns all that the server sends until it closes the connection. */
async function saidTo(bytes: string | Buffer): Promise<string> {
  const socket = opened();
  socket.write(bytes);
  let said = '';
  for await (const chunk of socket) said += chunk;
  return said;
}

/** Returns the answer to a request whose bytes come one at a time after its head. */
async function saidToDrips(socket: Socket, head: string, drip: string): Promise<string> {
  const dripping = setInterval(() => socket.write(drip), 100);
  socket.write(head);
  let said = '';
  for await (const chunk of socket) said += chunk;
  clearInterval(dripping);
  return said;
}

/** Returns the head of a request whose body has a thousand bytes. */
function headOfBody(): string {
  const lines = `host: x\r\nauthorization: Bearer ${bearer}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n`;
  return `POST /v1/journeys HTTP/1.1\r\n${lines}\r\n`;
}

function assertProblem(said: string, status: number, code: string): void {
  assert.equal(said.match(/^HTTP\/1\.1 /gm)?.length, 1, `one answer and no more: ${said}`);
  assert.match(said, new RegExp(`^HTTP/1\\.1 ${status} `));
  assert.match(said, /^content-type: application\/problem\+json/im);
  assert.match(said, /^connection: close/im);
  const problem = JSON.parse(said.split('\r\n\r\n')[1] ?? '');
  assert.deepEqual([problem.status, problem.code], [status, code]);
  assert.match(said, new RegExp(`^x-request-id: ${problem.requestId}`, 'im'));
}

const started = async (journeyId: string) => (await api.call(`/v1/journeys/${journeyId}/result`)).status !== 404;

describe('a request that another HTTP parser could read as two', () => {
  const journey = journeyInput();
  const inner = JSON.stringify(journey);
  const hidden = () =>
    `POST /v1/journeys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bearer}\r\ncontent-type: application/json\r\n` +
    `content-length: ${inner.length}\r\n\r\n${inner}`;
  const head = (lines: string) =>
    `POST /v1/consents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bearer}\r\ncontent-type: application/json\r\n${lines}\r\n`;
  const cases: [what: string, lines: string, body: string][] = [
    ['two lengths that differ', 'content-length: 2\r\ncontent-length: 4\r\n', '{}'],
    ['the same length twice', 'content-length: 2\r\ncontent-length: 2\r\n', '{}'],
    ['a list of lengths', 'content-length: 2, 2\r\n', '{}'],
    ['a length with a sign', 'content-length: +2\r\n', '{}'],
    ['a length and chunks', 'content-length: 4\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n'],
    ['chunks and a length', 'transfer-encoding: chunked\r\ncontent-length: 4\r\n', '0\r\n\r\n'],
    ['chunks that are not the last coding', 'transfer-encoding: chunked, identity\r\n', '0\r\n\r\n'],
    ['an unknown transfer coding', 'transfer-encoding: xchunked\r\n', '0\r\n\r\n'],
    ['a space before the colon', 'transfer-encoding : chunked\r\n', '0\r\n\r\n'],
    ['a header over two lines', 'x-a: b\r\n transfer-encoding: chunked\r\n', '0\r\n\r\n'],
    ['a line that ends without CR', 'x-a: b\ntransfer-encoding: chunked\r\n', '0\r\n\r\n'],
    ['a chunk whose size is not a number', 'transfer-encoding: chunked\r\n', '0x2\r\n{}\r\n0\r\n\r\n'],
    ['a NUL in a header', 'x-a: \0\r\ncontent-length: 2\r\n', '{}'],
    ['no host', 'content-length: 2\r\n', '{}'],
  ];
  for (const [what, lines, body] of cases) {
    test(`is refused with the rest of its connection: ${what}`, async () => {
      const first = what === 'no host' ? head(lines).replace('host: x\r\n', '') : head(lines);
      const said = await saidTo(first + body + hidden());
      // Node answers a request without a host by itself.
      if (what === 'no host') assert.match(said, /^HTTP\/1\.1 400 /);
      else assertProblem(said, 400, 'malformed');
      assert.equal(await started(journey.journeyId), false, 'what followed was taken for a request');
    });
  }

  test('is answered once if it is a GET with a body that looks like a request', async () => {
    const body = hidden();
    const said = await saidTo(
      `GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    assert.equal(said.match(/^HTTP\/1\.1 /gm)?.length, 1, said);
    assert.equal(await started(journey.journeyId), false);
  });
});

describe('a connection that sends or reads badly', () => {
  test('is answered 400 if its headers are too long', async () => {
    assertProblem(await saidTo(`GET /v1/journeys HTTP/1.1\r\nhost: x\r\nx-a: ${'y'.repeat(20_000)}`), 400, 'headers');
  });

  test('is answered 408 if its headers arrive too slowly', async () => {
    assertProblem(await saidToDrips(opened(), 'POST /v1/journeys HTTP/1.1\r\nhost: x\r\n', 'x'), 408, 'slow');
  });

  test('is answered 408 if its body arrives too slowly', async () => {
    assertProblem(await saidToDrips(opened(), headOfBody(), ' '), 408, 'slow');
  });

  test('has a time of its own for each body, and the audit names the slow one', async (t) => {
    const impatient = await startTestApi(harness, { limits: { bodyTimeoutMs: 500, requestTimeoutMs: 60_000 } });
    t.after(() => impatient.close());
    const socket = connect(impatient.port, '127.0.0.1');
    socket.on('error', () => {});
    assertProblem(await saidToDrips(socket, headOfBody(), ' '), 408, 'slow');
    assert.deepEqual(impatient.audited().at(-1)?.refused, 'slow');
    assert.deepEqual(impatient.unexpected, []);
  });

  test('is closed if it sends many requests and reads no answer', async () => {
    const accepted = nextAcceptedSocket();
    const socket = opened();
    socket.pause();
    const asked = 200;
    for (let sent = 0; sent < asked; sent++) socket.write('GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(await accepted, 'close');
    let answers = 0;
    socket.on('data', (chunk) => {
      answers += chunk.toString('latin1').match(/HTTP\/1\.1 /g)?.length ?? 0;
    });
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    assert.ok(answers < asked, `all ${answers} were kept for it`);
    await api.expect(200, '/healthz');
  });

  test('is answered normally if it sends an unknown expectation', async () => {
    const lines = 'host: x\r\nconnection: close\r\nexpect: a-miracle\r\n';
    assert.match(await saidTo(`GET /healthz HTTP/1.1\r\n${lines}\r\n`), /^HTTP\/1\.1 200 /);
  });
});

test('a probe by HEAD is answered as one by GET, without the body', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const said = await saidTo(`HEAD ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    assert.match(said, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/);
  }
});

describe('an unsupported method or an unreadable request', () => {
  const request = (method: string, lines = '') => `${method} /v1/journeys HTTP/1.1\r\nhost: x\r\n${lines}\r\n`;
  const good = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
  const statuses = (said: string) => [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

  for (const method of METHODS.filter((one) => !['GET', 'POST', 'CONNECT'].includes(one))) {
    test(`is answered 405 with Allow, and the connection stays open: ${method}`, async () => {
      const last = good.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n');
      const said = await saidTo(`${good}${request(method)}${request(method, 'content-length: 3\r\n')}{"a${last}`);
      assert.deepEqual(statuses(said), [200, 405, 405, 200], said);
      assert.equal(said.match(/^allow: POST, GET\r$/gim)?.length, 2, said);
    });
  }

  test('closes the connection without an answer if an earlier request is still unanswered', async () => {
    const lines = `authorization: Bearer ${bearer}\r\nconnection: keep-alive\r\n`;
    const listed = `GET /v1/holds HTTP/1.1\r\nhost: x\r\n${lines}\r\n`;
    const bad = `POST /v1/journeys HTTP/1.1\r\nhost: x\r\n${lines}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`;
    for (const last of ['\x16\x03', bad]) assert.deepEqual(statuses(await saidTo(listed + last)), [], last);
  });

  test('is answered 400 if its request line is malformed', async () => {
    for (const method of ['FOO', 'get', 'X'.repeat(30)]) assertProblem(await saidTo(request(method)), 400, 'malformed');
    assertProblem(await saidTo(Buffer.from('1603010200010001fc0303', 'hex')), 400, 'malformed');
    assertProblem(await saidTo('ssn=900110001\r\n\r\n'), 400, 'malformed');
  });
});

/** Sends the path as it is, since `fetch` would normalize it. */
async function get(path: string, as = bearer): Promise<{ status: number; code: unknown }> {
  const headers = { authorization: `Bearer ${as}` };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port: api.port, path, headers }, resolve).once('error', reject).end();
  });
  assert.match(response.headers['content-type'] ?? '', /^application\/problem\+json/);
  return { status: response.statusCode ?? 0, code: JSON.parse(await text(response)).code };
}

describe('a path', () => {
  const id = 'T-path';
  const nothing = [
    ...[
      `/v1/journeys/../holds`,
      `/v1/journeys/%2e%2e/holds`,
      `/v1/journeys/..%2fholds`,
      `/v1/journeys/.`,
      `/v1/journeys/..`,
    ],
    ...[`/v1/journeys/${id}%2Fresult`, `/v1/journeys/${id}%2fresult`, `/v1/journeys/${id}%252Fresult`],
    ...[
      `/v1/journeys/${id}/`,
      `/v1//journeys/${id}`,
      `//v1/journeys/${id}`,
      `/V1/journeys/${id}`,
      `/v1/Journeys/${id}`,
    ],
    ...[`/v1/journeys/${id}%00`, `/v1/journeys/${id}%0d%0a`, `/v1/journeys/${id};x=1`, `/v1/journeys/%20${id}`],
    ...[`/v1/journeys/${id}\\..\\holds`, `/v1/journeys/share:S1`, `/v1/journeys/pull%3AP-1`, '/v1/journeys/%EF%BC%8E'],
    ...[65, 101].map((length) => `/v1/journeys/${'x'.repeat(length)}`),
    ...['__proto__', 'constructor', '900110001', '900-11-0001'].map((name) => `/v1/journeys/${name}/result`),
  ];
  for (const path of nothing) {
    test(`is answered 404 if it is not in its only valid form: ${path.slice(0, 40)}`, async () => {
      assert.deepEqual(await get(path), { status: 404, code: 'notFound' });
    });
  }

  const tooLong = [451, 5_000].map((length) => `/v1/journeys/${'x'.repeat(length)}`);
  for (const path of [
    '/v1/journeys/%',
    '/v1/journeys/%zz',
    '/v1/journeys/%c0%ae',
    '/v1/journeys/%ED%A0%80',
    ...tooLong,
  ]) {
    test(`is answered 400 if it cannot be decoded: ${path.slice(0, 40)}`, async () => {
      assert.deepEqual(await get(path), { status: 400, code: 'address' });
    });
  }

  test('cannot bypass the token’s scopes with dot segments', async () => {
    const narrow = await token({ scopes: ['journeys:read'] });
    for (const path of ['/v1/journeys/../holds', '/v1/journeys/%2e%2e/holds', '/v1/./holds', '/v1/x/../holds']) {
      assert.equal((await get(path, narrow)).status, 404, path);
    }
    assert.deepEqual(await get('/v1/holds', narrow), { status: 403, code: 'scope' });
  });
});

describe('an ambiguous or malformed body', () => {
  const message = JSON.stringify(consentMessage('T-json', { applicantId: '1A' }));
  const with_ = (member: string) => message.replace('{', `{${member},`);
  const journey = JSON.stringify({ ...journeyInput(), applicants: [{ ...applicant('1A'), emailAddress: '@here@' }] });
  const journeyWith = (value: string) => journey.replace('"@here@"', value);
  const cases: [what: string, path: string, body: string | Buffer, status: number, code: string][] = [
    ['a member given twice', '/v1/consents', with_('"consentId":"C-0"'), 400, 'repeated'],
    ['a member given twice in another spelling', '/v1/consents', with_('"consent\\u0049d":"C-0"'), 400, 'repeated'],
    [
      'a nested member given twice',
      '/v1/consents',
      message.replace('"endUserCode"', '"endUserCode":"A","endUserCode"'),
      400,
      'repeated',
    ],
    ['__proto__', '/v1/consents', with_('"__proto__":{"decision":"granted"}'), 422, 'invalidInput'],
    ['__proto__ in another spelling', '/v1/consents', with_('"__proto\\u005f_":{"toString":1}'), 422, 'invalidInput'],
    [
      'a nested __proto__',
      '/v1/consents',
      message.replace('"endUserCode"', '"__proto__":{"a":1},"endUserCode"'),
      422,
      'invalidInput',
    ],
    ['constructor', '/v1/consents', with_('"constructor":{"prototype":{"a":1}}'), 422, 'invalidInput'],
    ['arrays that are nested 100,000 deep', '/v1/consents', '['.repeat(100_000) + ']'.repeat(100_000), 400, 'tooDeep'],
    [
      'objects that are nested 40,000 deep',
      '/v1/consents',
      `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`,
      400,
      'tooDeep',
    ],
    ['nested arrays that are never closed', '/v1/consents', '['.repeat(200_000), 400, 'notJson'],
    [
      'an infinite number',
      '/v1/journeys/T-json/advance',
      '{"repeat":"PREQUAL","occurrence":1e999,"reason":"asked for"}',
      422,
      'invalidInput',
    ],
    ['an infinite number in a consent', '/v1/consents', with_('"x":1e999'), 422, 'invalidInput'],
    ['a decision about attempt 2^70', '/v1/decisions', manyOf('1180591620717411303424'), 422, 'invalidInput'],
    ['a decision about attempt 1.5', '/v1/decisions', manyOf('1.5'), 422, 'invalidInput'],
    ['a decision about attempt -0', '/v1/decisions', manyOf('-0'), 422, 'invalidInput'],
    ['an unpaired surrogate', '/v1/journeys', journeyWith('"a\\ud800@example.com"'), 422, 'invalidInput'],
    ['a NUL', '/v1/journeys', journeyWith('"a\\u0000@example.com"'), 422, 'invalidInput'],
    [
      'bytes that are not UTF-8, which a reason would keep as U+FFFD',
      '/v1/journeys/T-json/advance',
      Buffer.from('{"repeat":"PREQUAL","occurrence":2,"reason":"\xe9"}', 'latin1'),
      400,
      'notJson',
    ],
    ['a byte order mark', '/v1/consents', `\ufeff${message}`, 400, 'notJson'],
    ['UTF-16', '/v1/consents', Buffer.from(message, 'utf16le'), 400, 'notJson'],
    ['a comment', '/v1/consents', `/**/${message}`, 400, 'notJson'],
    ['NaN', '/v1/consents', with_('"x":NaN'), 400, 'notJson'],
    ['two documents', '/v1/consents', message + message, 400, 'notJson'],
  ];
  for (const [what, path, body, status, code] of cases) {
    test(`is refused: ${what}`, async () => {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
      const response = await fetch(api.url + path, { method: 'POST', headers, body });
      const problem = (await response.json()) as { code: string };
      assert.deepEqual([response.status, problem.code], [status, code]);
      assert.equal(({} as { a?: unknown }).a, undefined);
      assert.deepEqual(api.unexpected, []);
    });
  }
});

function manyOf(attempt: string): string {
  const inquiries = [{ runKey: 'T-json', customerTraceNumber: 'PQABCDEFGHIJKLMNOPQRSTUVWX00', attempt: '@' }];
  const decision = { decisionId: 'D-1', action: 'resend', providerSaid: 'notPosted', reason: 'by phone', inquiries };
  return JSON.stringify(decision).replace('"@"', attempt);
}
