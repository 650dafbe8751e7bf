/** Fence 3 on real sockets: what was sent, what was not, and what the client cannot know. The server counts. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../../src/gateway/errors.ts';
import { GatewayClient, type SubmitOptions } from '../../src/gateway/gateway-client.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import type { GatewayFailureType } from '../../src/model/failure-types.ts';
import { profileFor, recordBody, reportRequest } from './fixtures.ts';
import { deadPort, httpAnswer, type Script, startServer } from './scripted-server.ts';

function clientFor(
  t: TestContext,
  profile: GatewayProfile,
  interceptor?: Dispatcher.DispatcherComposeInterceptor,
): GatewayClient {
  const client = new GatewayClient(profile, interceptor);
  t.after(() => client.close());
  return client;
}

function submission(profile: GatewayProfile, changes: Partial<SubmitOptions> = {}): SubmitOptions {
  return {
    request: reportRequest(profile),
    accessToken: 'access-token-1',
    sendBy: performance.now() + 5_000,
    ...changes,
  };
}

async function failure(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => assert.fail('must not resolve'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GatewayError, `not a GatewayError: ${String(error)}`);
  return error;
}

function assertNothingSent(error: GatewayError, code: GatewayFailureType = 'GatewayUnreachable'): void {
  assert.equal(error.code, code);
  assert.equal(error.sent, 'nothing');
  assert.equal(error.requestedAt, undefined);
}

test('knows that nothing was sent where the connection is refused', async (t) => {
  const profile = profileFor(`http://127.0.0.1:${await deadPort()}`);
  assertNothingSent(await failure(clientFor(t, profile).submit(submission(profile))));
});

test('knows that nothing was sent where the name has no address', async (t) => {
  const profile = profileFor('http://gateway.invalid');
  assertNothingSent(await failure(clientFor(t, profile).submit(submission(profile))));
});

test('knows that nothing was sent if the TLS handshake never ends', async (t) => {
  // Accepts the connection and says nothing: the handshake hangs.
  const server = await startServer(t, {});
  const profile = profileFor(`https://127.0.0.1:${server.port}`, { limits: { connectTimeoutMs: 150 } });
  assertNothingSent(await failure(clientFor(t, profile).submit(submission(profile))));
  assert.equal(server.requests.length, 0);
});

test('sends nothing after sendBy, however fast the connection then is', async (t) => {
  const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(200, recordBody())) });
  const profile = profileFor(server.url);
  const client = clientFor(t, profile);
  assertNothingSent(await failure(client.submit(submission(profile, { sendBy: performance.now() - 1 }))));
  await delay(50);
  assert.equal(server.bytesReceived, 0);
});

test('sends nothing where the process stalls past sendBy between its decision and the wire', async (t) => {
  const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(200, recordBody())) });
  const profile = profileFor(server.url);
  const submitted = failure(clientFor(t, profile).submit(submission(profile, { sendBy: performance.now() + 40 })));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 80);
  assertNothingSent(await submitted);
  await delay(50);
  assert.equal(server.bytesReceived, 0);
});

test('gives up a request that waits behind a slow one past sendBy, and never sends it', async (t) => {
  let release = () => {};
  const server = await startServer(t, {
    onRequest: (socket) => {
      release = () => socket.write(httpAnswer(200, recordBody()));
    },
  });
  const profile = profileFor(server.url, { limits: { connections: 1 } });
  const client = clientFor(t, profile);
  const slow = client.submit(submission(profile));
  await server.received(1);
  assertNothingSent(await failure(client.submit(submission(profile, { sendBy: performance.now() + 60 }))));
  release();
  assert.equal((await slow).answer.kind, 'outcome');
  await delay(50);
  assert.equal(server.requests.length, 1);
});

test('rejects with the reason of an abort before the first byte, untouched, and never sends', async (t) => {
  let release = () => {};
  const server = await startServer(t, {
    onRequest: (socket) => {
      release = () => socket.write(httpAnswer(200, recordBody()));
    },
  });
  const profile = profileFor(server.url, { limits: { connections: 1 } });
  const client = clientFor(t, profile);
  const slow = client.submit(submission(profile));
  await server.received(1);
  const abort = new AbortController();
  const reason = new Error('cancelled by the workflow');
  const queued = client.submit(submission(profile, { signal: abort.signal }));
  abort.abort(reason);
  await assert.rejects(queued, (error) => error === reason);
  await assert.rejects(client.submit(submission(profile, { signal: abort.signal })), (error) => error === reason);
  release();
  await slow;
  await delay(50);
  assert.equal(server.requests.length, 1);
});

test('ignores an abort after the first byte and returns the answer', async (t) => {
  let release = () => {};
  const server = await startServer(t, {
    onRequest: (socket) => {
      release = () => socket.write(httpAnswer(200, recordBody()));
    },
  });
  const profile = profileFor(server.url);
  const abort = new AbortController();
  const submitted = clientFor(t, profile).submit(submission(profile, { signal: abort.signal }));
  await server.received(1);
  abort.abort(new Error('too late'));
  await delay(20);
  release();
  assert.equal((await submitted).answer.kind, 'outcome');
  assert.equal(server.requests.length, 1);
});

test('sends the next request after one was given up on the same connection', async (t) => {
  const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(200, recordBody())) });
  const profile = profileFor(server.url, { limits: { connections: 1 } });
  const client = clientFor(t, profile);
  await client.submit(submission(profile));
  assertNothingSent(await failure(client.submit(submission(profile, { sendBy: performance.now() }))));
  assert.equal((await client.submit(submission(profile))).answer.kind, 'outcome');
  assert.equal(server.requests.length, 2);
});

const WHOLE = httpAnswer(200, recordBody());
const LOST: [title: string, script: Script][] = [
  ['the connection is reset before an answer', { onRequest: (socket) => socket.resetAndDestroy() }],
  ['the connection ends before an answer', { onRequest: (socket) => socket.end() }],
  ['the connection ends within the head', { onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le') }],
  ['the connection ends within the body', { onRequest: (socket) => socket.end(WHOLE.subarray(0, -10)) }],
  [
    'the connection is reset within the body',
    {
      onRequest: (socket) => socket.write(WHOLE.subarray(0, -10), () => setTimeout(() => socket.resetAndDestroy(), 20)),
    },
  ],
  ['the answer is not HTTP', { onRequest: (socket) => socket.write('SSH-2.0-OpenSSH\r\n') }],
  ['the answer has two lengths', { onRequest: (socket) => socket.write(twoLengths()) }],
  ['a chunked body breaks off', { onRequest: (socket) => socket.end(brokenChunks()) }],
  ['the head is endless', { onRequest: (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`) }],
  ['it answers by a change of protocol', { onRequest: (socket) => socket.write(switching()) }],
];

function twoLengths(): string {
  return 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}';
}

function brokenChunks(): string {
  return 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"ret';
}

function switching(): string {
  return 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n';
}

for (const [title, script] of LOST) {
  test(`does not know the outcome where ${title}, and sends nothing again`, async (t) => {
    const server = await startServer(t, script);
    const profile = profileFor(server.url);
    const error = await failure(clientFor(t, profile).submit(submission(profile)));
    assert.equal(error.code, 'OutcomeUnknown');
    assert.equal(error.sent, 'possibly');
    assert.ok(Date.parse(error.requestedAt ?? '') > 0);
    await delay(30);
    assert.equal(server.requests.length, 1);
  });
}

test('does not know the outcome where an idle connection is closed as the request is written', async (t) => {
  const server = await startServer(t, {
    onRequest: (socket, _request, index) => {
      if (index === 0) socket.write(httpAnswer(200, recordBody()));
      else socket.resetAndDestroy();
    },
  });
  const profile = profileFor(server.url, { limits: { connections: 1 } });
  const client = clientFor(t, profile);
  await client.submit(submission(profile));
  assert.equal((await failure(client.submit(submission(profile)))).code, 'OutcomeUnknown');
  assert.equal(server.requests.length, 2);
});

test('stops waiting for a head that does not come', async (t) => {
  const server = await startServer(t, {});
  const profile = profileFor(server.url, { limits: { headersTimeoutMs: 100, bodyTimeoutMs: 100 } });
  const error = await failure(clientFor(t, profile).submit(submission(profile)));
  assert.equal(error.code, 'OutcomeUnknown');
  assert.equal(server.requests.length, 1);
});

test('stops waiting for a body that drips without end, though each drip renews undici’s own time-out', async (t) => {
  const server = await startServer(t, {
    onRequest: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n');
      const drip = setInterval(() => socket.write(' '), 20);
      socket.on('close', () => clearInterval(drip));
    },
  });
  const profile = profileFor(server.url, { limits: { headersTimeoutMs: 150, bodyTimeoutMs: 150 } });
  const error = await failure(clientFor(t, profile).submit(submission(profile)));
  assert.equal(error.code, 'OutcomeUnknown');
  assert.equal(error.httpStatus, 200);
});

test('stops waiting where interim answers come without end', async (t) => {
  const server = await startServer(t, {
    onRequest: (socket) => {
      const hints = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
      socket.on('close', () => clearInterval(hints));
    },
  });
  const profile = profileFor(server.url, { limits: { headersTimeoutMs: 150, bodyTimeoutMs: 150 } });
  assert.equal((await failure(clientFor(t, profile).submit(submission(profile)))).code, 'OutcomeUnknown');
});

test('passes over interim answers', async (t) => {
  const server = await startServer(t, {
    onRequest: (socket) => socket.write(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), WHOLE])),
  });
  const profile = profileFor(server.url);
  assert.equal((await clientFor(t, profile).submit(submission(profile))).answer.kind, 'outcome');
});

test('stops reading an answer that is larger than the profile admits', async (t) => {
  const server = await startServer(t, {
    onRequest: (socket) => socket.write(httpAnswer(200, recordBody(undefined, { filler: 'x'.repeat(5_000) }))),
  });
  const profile = profileFor(server.url, { limits: { maxResponseBytes: 4_000 } });
  const error = await failure(clientFor(t, profile).submit(submission(profile)));
  assert.equal(error.code, 'OutcomeUnknown');
  assert.equal(server.requests.length, 1);
});

const ENCODINGS: [title: string, encoding: string, compress: (text: string) => Buffer][] = [
  ['gzip', 'gzip', gzipSync],
  ['Brotli', 'br', brotliCompressSync],
  ['deflate', 'deflate', deflateSync],
  ['deflate without its wrapper', 'deflate', deflateRawSync],
];

for (const [title, encoding, compress] of ENCODINGS) {
  test(`asks for no compression, and reads an answer in ${title} all the same`, async (t) => {
    const headers = { 'content-encoding': encoding };
    const server = await startServer(t, {
      onRequest: (socket) => socket.write(httpAnswer(200, compress(recordBody()), headers)),
    });
    const profile = profileFor(server.url);
    const reply = await clientFor(t, profile).submit(submission(profile));
    assert.equal(server.requests[0]?.headers['accept-encoding'], 'identity');
    assert.equal(reply.body, recordBody());
    assert.equal(reply.answer.kind, 'outcome');
  });
}

const BAD_ENCODINGS: [title: string, encoding: string, body: Buffer][] = [
  ['unpacks to more than the profile admits', 'gzip', gzipSync(recordBody(undefined, { filler: ' '.repeat(70_000) }))],
  ['is damaged gzip', 'gzip', gzipSync(recordBody()).subarray(0, -12)],
  ['is not what it says', 'gzip', Buffer.from(recordBody())],
  ['is in an encoding that nobody knows', 'rot13', Buffer.from(recordBody())],
  ['is packed twice', 'gzip, gzip', gzipSync(gzipSync(recordBody()))],
];

for (const [title, encoding, body] of BAD_ENCODINGS) {
  test(`does not know the outcome where the answer ${title}`, async (t) => {
    const server = await startServer(t, {
      onRequest: (socket) => socket.write(httpAnswer(200, body, { 'content-encoding': encoding })),
    });
    const profile = profileFor(server.url);
    assert.equal((await failure(clientFor(t, profile).submit(submission(profile)))).code, 'OutcomeUnknown');
  });
}

test('does not follow a redirect', async (t) => {
  const elsewhere = await startServer(t, { onRequest: (socket) => socket.write(WHOLE) });
  const location = { location: `${elsewhere.url}/ServiceGateway/orest/grs_v001/request` };
  const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(307, '', location)) });
  const profile = profileFor(server.url);
  assert.equal((await failure(clientFor(t, profile).submit(submission(profile)))).code, 'RequestRefused');
  assert.equal(elsewhere.connections, 0);
});

test('opens no more connections than the profile admits', async (t) => {
  const server = await startServer(t, {
    onRequest: (socket) => setTimeout(() => socket.write(WHOLE), 20),
  });
  const profile = profileFor(server.url, { limits: { connections: 2 } });
  const client = clientFor(t, profile);
  await Promise.all(Array.from({ length: 6 }, () => client.submit(submission(profile))));
  assert.equal(server.requests.length, 6);
  assert.ok(server.connections <= 2, `${server.connections} connections`);
});

test('aborts a request that undici would write a second time', async (t) => {
  const server = await startServer(t, { onRequest: (socket) => setTimeout(() => socket.write(WHOLE), 50) });
  const profile = profileFor(server.url);
  const replaying: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    dispatch(options, handler);
    return dispatch(options, handler);
  };
  const error = await failure(clientFor(t, profile, replaying).submit(submission(profile)));
  assert.equal(error.code, 'OutcomeUnknown');
  await delay(80);
  assert.equal(server.requests.length, 1);
});

test('calls everything unknown, and sends nothing more, once undici’s markers have failed', async (t) => {
  const server = await startServer(t, { onRequest: (socket) => socket.write(WHOLE) });
  const profile = profileFor(server.url);
  const muting: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart() {},
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
  const client = clientFor(t, profile, muting);
  assert.equal(client.markersBroken, false);
  const reply = await client.submit(submission(profile));
  assert.equal(reply.answer.kind, 'outcome');
  assert.equal(client.markersBroken, true);
  const error = await failure(client.submit(submission(profile)));
  assert.equal(error.code, 'OutcomeUnknown');
  assert.equal(error.sent, 'possibly');
  assert.equal(server.requests.length, 1);
});

test('sends nothing after it was closed, and lets what is in flight come to its end', async (t) => {
  const server = await startServer(t, { onRequest: (socket) => setTimeout(() => socket.write(WHOLE), 60) });
  const profile = profileFor(server.url);
  const client = new GatewayClient(profile);
  const inFlight = client.submit(submission(profile));
  await server.received(1);
  const closed = client.close();
  assertNothingSent(await failure(client.submit(submission(profile))));
  assert.equal((await inFlight).answer.kind, 'outcome');
  await closed;
  assert.equal(server.requests.length, 1);
});

test('names no token, no applicant and no answer in its errors', async (t) => {
  const answers = [
    'HTTP/1.1 403 No\r\nx: sentinel-header\r\ncontent-length: 13\r\n\r\nsentinel-body',
    'sentinel-body\r\n',
  ];
  const server = await startServer(t, { onRequest: (socket, _request, index) => socket.end(answers[index] ?? '') });
  const profile = profileFor(server.url);
  const client = clientFor(t, profile);
  for (const _answer of answers) {
    const error = await failure(client.submit(submission(profile, { accessToken: 'sentinel-token' })));
    const shown = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }) + JSON.stringify(error);
    for (const sentinel of ['sentinel', '912345678', 'Brien', 'ada@example.com']) {
      assert.ok(!shown.includes(sentinel), `shows ${sentinel}`);
    }
    assert.equal(error.cause, undefined);
  }
});
