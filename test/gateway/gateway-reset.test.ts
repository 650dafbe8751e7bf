/** The client resets the connection of a request that it gives up: bytes in the kernel never reach the gateway. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { before, describe, type TestContext, test } from 'node:test';
import { createServer } from 'node:tls';
import { GatewayError } from '../../src/gateway/errors.ts';
import { GatewayClient } from '../../src/gateway/gateway-client.ts';
import type { GatewayLimits } from '../../src/gateway/profile.ts';
import { type Certificate, createCertificate } from '../support/certificates.ts';
import { profileFor, recordBody, reportRequest } from './fixtures.ts';
import { httpAnswer, startServer } from './scripted-server.ts';

/** The gateway's kernel cannot hold so much while the gateway reads nothing, but both kernels together can. */
const BODY_BYTES = 1024 * 1024;

let own: Certificate;

before(async () => {
  own = await createCertificate({ name: 'gateway', altName: { ip: '127.0.0.1' } });
});

interface GivenUp {
  limits: Partial<GatewayLimits>;
  /** The gateway does this instead of reading. */
  onConnection?: (socket: Socket) => void;
}

const WAYS: [title: string, GivenUp][] = [
  ['no response head arrives in time', { limits: { headersTimeoutMs: 150, bodyTimeoutMs: 10_000 } }],
  [
    'interim responses arrive without end',
    {
      limits: { headersTimeoutMs: 200, bodyTimeoutMs: 200 },
      onConnection: (socket) => {
        const hints = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(hints));
      },
    },
  ],
  [
    'no response body arrives in time',
    {
      limits: { headersTimeoutMs: 10_000, bodyTimeoutMs: 150 },
      onConnection: (socket) => setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'), 50),
    },
  ],
  [
    'the answer is not HTTP',
    { limits: {}, onConnection: (socket) => setTimeout(() => socket.write('SSH-2.0-OpenSSH\r\n'), 50) },
  ],
  [
    'the gateway closes its side of the connection',
    { limits: {}, onConnection: (socket) => setTimeout(() => socket.end(), 50) },
  ],
];

for (const kind of ['plain', 'TLS'] as const) {
  describe(`over ${kind === 'TLS' ? 'TLS' : 'a plain connection'}`, { concurrency: 1 }, () => {
    for (const [title, { limits, onConnection }] of WAYS) {
      test(`the rest of a request never arrives if ${title}`, async (t) => {
        const sockets: Socket[] = [];
        const server = await gateway(t, kind, (socket) => {
          sockets.push(socket);
          onConnection?.(socket);
          socket.pause();
        });
        const profile = profileFor(server.url, { limits, ...(kind === 'TLS' ? { caCertificate: own.cert } : {}) });
        const client = new GatewayClient(profile);
        t.after(() => client.close());
        const request = { ...reportRequest(profile), filler: 'x'.repeat(BODY_BYTES) };
        const submitted = client.submit({ request, accessToken: 'token-1', sendBy: performance.now() + 5_000 });
        await assert.rejects(submitted, (error) => error instanceof GatewayError && error.code === 'OutcomeUnknown');
        const [socket = assert.fail('no connection')] = sockets;
        const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
        socket.on('error', ({ code }: NodeJS.ErrnoException) => end(code)).on('close', () => end('closed'));
        socket.resume();
        assert.equal(await ended, 'ECONNRESET');
        assert.equal(server.requests.length, 0);
        assert.ok(server.bytesReceived < BODY_BYTES, `${server.bytesReceived} bytes arrived`);
      });
    }

    test('a connection is closed without a reset after its answer has arrived', async (t) => {
      const errors: unknown[] = [];
      const closed: Promise<unknown>[] = [];
      const server = await gateway(
        t,
        kind,
        (socket) => {
          socket.on('error', (error) => errors.push(error));
          closed.push(once(socket, 'close'));
        },
        (socket) => socket.write(httpAnswer(200, recordBody())),
      );
      const profile = profileFor(server.url, kind === 'TLS' ? { caCertificate: own.cert } : {});
      const client = new GatewayClient(profile);
      const request = reportRequest(profile);
      await client.submit({ request, accessToken: 'token-1', sendBy: performance.now() + 5_000 });
      await client.close();
      await Promise.all(closed);
      assert.deepEqual([errors, closed.length], [[], 1]);
    });
  });
}

function gateway(
  t: TestContext,
  kind: 'plain' | 'TLS',
  onConnection: (socket: Socket) => void,
  onRequest: (socket: Socket) => void = () => {},
) {
  return startServer(t, {
    onConnection,
    onRequest,
    ...(kind === 'TLS' ? { createServer: (onSocket: (socket: Socket) => void) => createServer(own, onSocket) } : {}),
  });
}
