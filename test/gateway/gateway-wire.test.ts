/** Tests fence 3 on real sockets: which requests were sent, not sent or possibly sent. The server counts them. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { GatewayError } from '../../src/gateway/errors.ts';
import type { GatewayLimits } from '../../src/gateway/profile.ts';
import type { GatewayFailureType } from '../../src/model/failure-types.ts';
import { profileFor, recordBody } from './fixtures.ts';
import { clientFor, deadPort, httpAnswer, type Script, startGateway, startServer } from './scripted-server.ts';

const WHOLE = httpAnswer(200, recordBody());

function assertNothingSent(error: GatewayError, code: GatewayFailureType = 'GatewayUnreachable'): void {
  assert.equal(error.code, code);
  assert.equal(error.sent, 'nothing');
  assert.equal(error.requestedAt, undefined);
}

/** Starts a gateway with a single connection that answers when `release` is called. */
async function startHolding(t: TestContext) {
  let answer = () => {};
  const onRequest = (socket: Socket) => {
    answer = () => socket.write(WHOLE);
  };
  const gateway = await startGateway(t, { onRequest }, { limits: { connections: 1 } });
  return { ...gateway, release: () => answer() };
}

test('the client reports that nothing was sent if the connection is refused', async (t) => {
  const profile = profileFor(`http://127.0.0.1:${await deadPort()}`);
  assertNothingSent(await clientFor(t, profile).fail());
});

test('the client reports that nothing was sent if the host name does not resolve', async (t) => {
  const profile = profileFor('http://gateway.invalid');
  assertNothingSent(await clientFor(t, profile).fail());
});

test('the client reports that nothing was sent if the TLS handshake never ends', async (t) => {
  // Accepts the connection and says nothing: the handshake hangs.
  const server = await startServer(t, {});
  const profile = profileFor(`https://127.0.0.1:${server.port}`, { limits: { connectTimeoutMs: 150 } });
  assertNothingSent(await clientFor(t, profile).fail());
  assert.equal(server.requests.length, 0);
});

test('the client sends nothing after sendBy', async (t) => {
  const { server, fail } = await startGateway(t, WHOLE);
  assertNothingSent(await fail({ sendBy: performance.now() - 1 }));
  await delay(50);
  assert.equal(server.bytesReceived, 0);
});

test('the client sends nothing if the process stalls past sendBy just before it writes', async (t) => {
  const { server, fail } = await startGateway(t, WHOLE);
  const submitted = fail({ sendBy: performance.now() + 40 });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 80);
  assertNothingSent(await submitted);
  await delay(50);
  assert.equal(server.bytesReceived, 0);
});

test('the client never sends a request that waits past sendBy behind a slow request', async (t) => {
  const { server, submit, fail, release } = await startHolding(t);
  const slow = submit();
  await server.received(1);
  assertNothingSent(await fail({ sendBy: performance.now() + 60 }));
  release();
  assert.equal((await slow).answer.kind, 'outcome');
  await delay(50);
  assert.equal(server.requests.length, 1);
});

test('an abort before the first byte rejects with its own reason, and the request is never sent', async (t) => {
  const { server, submit, release } = await startHolding(t);
  const slow = submit();
  await server.received(1);
  const abort = new AbortController();
  const reason = new Error('cancelled by the workflow');
  const queued = submit({ signal: abort.signal });
  abort.abort(reason);
  await assert.rejects(queued, (error) => error === reason);
  await assert.rejects(submit({ signal: abort.signal }), (error) => error === reason);
  release();
  await slow;
  await delay(50);
  assert.equal(server.requests.length, 1);
});

test('the client ignores an abort after the first byte and returns the answer', async (t) => {
  const { server, submit, release } = await startHolding(t);
  const abort = new AbortController();
  const submitted = submit({ signal: abort.signal });
  await server.received(1);
  abort.abort(new Error('too late'));
  await delay(20);
  release();
  assert.equal((await submitted).answer.kind, 'outcome');
  assert.equal(server.requests.length, 1);
});

test('the client sends the next request on the same connection after it gave up a request', async (t) => {
  const { server, submit, fail } = await startGateway(t, WHOLE, { limits: { connections: 1 } });
  await submit();
  assertNothingSent(await fail({ sendBy: performance.now() }));
  assert.equal((await submit()).answer.kind, 'outcome');
  assert.equal(server.requests.length, 2);
});

const SHORT = { headersTimeoutMs: 150, bodyTimeoutMs: 150 };
const packed = (body: Buffer, encoding = 'gzip') => httpAnswer(200, body, { 'content-encoding': encoding });

const UNKNOWN: [title: string, played: Script | Buffer, limits?: Partial<GatewayLimits>][] = [
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
  [
    'a chunked body breaks off',
    { onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"ret') },
  ],
  ['the answer is not HTTP', Buffer.from('SSH-2.0-OpenSSH\r\n')],
  ['the answer has two lengths', Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}')],
  ['the head is endless', Buffer.from(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`)],
  [
    'the answer switches the protocol',
    Buffer.from('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'),
  ],
  ['no response head arrives', {}, SHORT],
  [
    "a body arrives in small pieces without end, each of which renews undici's own time-out",
    dripping(' ', 60_000),
    SHORT,
  ],
  ['interim responses arrive without end', dripping('HTTP/1.1 103 Early Hints\r\n\r\n'), SHORT],
  [
    'the answer is larger than the profile allows',
    httpAnswer(200, recordBody(undefined, { filler: 'x'.repeat(5_000) })),
    { maxResponseBytes: 4_000 },
  ],
  [
    'the decompressed answer is larger than the profile allows',
    packed(gzipSync(recordBody(undefined, { filler: ' '.repeat(70_000) }))),
  ],
  ['the answer is damaged gzip', packed(gzipSync(recordBody()).subarray(0, -12))],
  ['the answer is not compressed as its header says', packed(Buffer.from(recordBody()))],
  ['the answer has an unknown encoding', packed(Buffer.from(recordBody()), 'rot13')],
  ['the answer is compressed twice', packed(gzipSync(gzipSync(recordBody())), 'gzip, gzip')],
  ['a success answer is not JSON', httpAnswer(200, '<html>all good</html>')],
  ['a success answer is empty', httpAnswer(200, '')],
  ['a success answer ends within its JSON', httpAnswer(200, recordBody().slice(0, -5))],
  ['a success answer is not UTF-8', httpAnswer(200, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))],
];

/** Writes the piece every 20 ms. With a length, the pieces are parts of a body. */
function dripping(piece: string, length?: number): Script {
  return {
    onRequest: (socket) => {
      if (length !== undefined) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`);
      const drip = setInterval(() => socket.write(piece), 20);
      socket.on('close', () => clearInterval(drip));
    },
  };
}

for (const [title, played, limits = {}] of UNKNOWN) {
  test(`the outcome is unknown and nothing is sent again if ${title}`, async (t) => {
    const { server, fail } = await startGateway(t, played, { limits });
    const error = await fail();
    assert.equal(error.code, 'OutcomeUnknown');
    assert.equal(error.sent, 'possibly');
    assert.ok(Date.parse(error.requestedAt ?? '') > 0);
    await delay(30);
    assert.equal(server.requests.length, 1);
  });
}

test('the outcome is unknown if an idle connection is closed while the request is written', async (t) => {
  const { server, submit, fail } = await startGateway(
    t,
    {
      onRequest: (socket, _request, index) => {
        if (index === 0) socket.write(WHOLE);
        else socket.resetAndDestroy();
      },
    },
    { limits: { connections: 1 } },
  );
  await submit();
  assert.equal((await fail()).code, 'OutcomeUnknown');
  assert.equal(server.requests.length, 2);
});

test('the client skips interim responses', async (t) => {
  const { submit } = await startGateway(t, Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), WHOLE]));
  assert.equal((await submit()).answer.kind, 'outcome');
});

const ENCODINGS: [title: string, encoding: string, compress: (text: string) => Buffer][] = [
  ['gzip', 'gzip', gzipSync],
  ['Brotli', 'br', brotliCompressSync],
  ['deflate', 'deflate', deflateSync],
];

for (const [title, encoding, compress] of ENCODINGS) {
  test(`the client requests no compression but reads an answer in ${title}`, async (t) => {
    const headers = { 'content-encoding': encoding };
    const { server, submit } = await startGateway(t, httpAnswer(200, compress(recordBody()), headers));
    const reply = await submit();
    assert.equal(server.requests[0]?.headers['accept-encoding'], 'identity');
    assert.equal(reply.body, recordBody());
    assert.equal(reply.answer.kind, 'outcome');
  });
}

test('the client does not follow a redirect', async (t) => {
  const elsewhere = await startServer(t, { onRequest: (socket) => socket.write(WHOLE) });
  const location = { location: `${elsewhere.url}/ServiceGateway/orest/grs_v001/request` };
  const { fail } = await startGateway(t, httpAnswer(307, '', location));
  assert.equal((await fail()).code, 'OutcomeUnknown');
  assert.equal(elsewhere.connections, 0);
});

test('the client opens no more connections than the profile allows', async (t) => {
  const { server, submit } = await startGateway(
    t,
    {
      onRequest: (socket) => setTimeout(() => socket.write(WHOLE), 20),
    },
    { limits: { connections: 2 } },
  );
  await Promise.all(Array.from({ length: 6 }, () => submit()));
  assert.equal(server.requests.length, 6);
  assert.ok(server.connections <= 2, `${server.connections} connections`);
});

test('the client aborts a request that undici would write a second time', async (t) => {
  const replaying: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    dispatch(options, handler);
    return dispatch(options, handler);
  };
  const { server, fail } = await startGateway(
    t,
    { onRequest: (socket) => setTimeout(() => socket.write(WHOLE), 50) },
    {},
    replaying,
  );
  const error = await fail();
  assert.equal(error.code, 'OutcomeUnknown');
  await delay(80);
  assert.equal(server.requests.length, 1);
});

test('after undici’s markers have failed, every outcome is unknown and the client sends nothing more', async (t) => {
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
  const { client, submit, fail } = clientFor(t, profile, muting);
  assert.equal(client.startsAreUnreported, false);
  const reply = await submit();
  assert.equal(reply.answer.kind, 'outcome');
  assert.equal(client.startsAreUnreported, true);
  const error = await fail();
  assert.equal(error.code, 'OutcomeUnknown');
  assert.equal(error.sent, 'possibly');
  assert.equal(server.requests.length, 1);
});

test('a closed client sends nothing more, but waits for requests in flight', async (t) => {
  const { server, client, submit, fail } = await startGateway(t, {
    onRequest: (socket) => setTimeout(() => socket.write(WHOLE), 60),
  });
  const inFlight = submit();
  await server.received(1);
  const closed = client.close();
  assertNothingSent(await fail());
  assert.equal((await inFlight).answer.kind, 'outcome');
  await closed;
  assert.equal(server.requests.length, 1);
});

test('errors of the client contain no token, no applicant data and no part of an answer', async (t) => {
  const answers = [
    'HTTP/1.1 403 No\r\nx: sentinel-header\r\ncontent-length: 13\r\n\r\nsentinel-body',
    'sentinel-body\r\n',
  ];
  const { fail } = await startGateway(t, { onRequest: (socket, _request, index) => socket.end(answers[index] ?? '') });
  for (const _answer of answers) {
    const error = await fail({ accessToken: 'sentinel-token' });
    const shown = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }) + JSON.stringify(error);
    for (const sentinel of ['sentinel', '912345678', 'Brien', 'ada@example.com']) {
      assert.ok(!shown.includes(sentinel), `shows ${sentinel}`);
    }
    assert.equal(error.cause, undefined);
  }
});
