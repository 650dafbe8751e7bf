/**
 * A gateway that is scripted byte by byte. It counts from the socket what it received.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../../src/gateway/errors.ts';
import { GatewayClient, type SubmitOptions } from '../../src/gateway/gateway-client.ts';
import type { ExchangeObserver } from '../../src/gateway/observer.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { profileFor, reportRequest } from './fixtures.ts';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

interface ScriptedServer {
  url: string;
  port: number;
  /** The requests that arrived in full. */
  requests: ReceivedRequest[];
  connections: number;
  /** Received bytes of all connections, including incomplete requests. */
  bytesReceived: number;
  /** Resolves when `requests` has `count` entries. */
  received(count: number): Promise<void>;
}

export interface Script {
  onConnection?: (socket: Socket) => void;
  onRequest?: (socket: Socket, request: ReceivedRequest, index: number) => void;
  /** Creates a TLS server instead of a plain server. */
  createServer?: (onConnection: (socket: Socket) => void) => Server;
}

export async function startServer(t: TestContext, script: Script): Promise<ScriptedServer> {
  const waiting: { count: number; resolve: () => void }[] = [];
  const sockets = new Set<Socket>();
  const scripted: ScriptedServer = {
    url: '',
    port: 0,
    requests: [],
    connections: 0,
    bytesReceived: 0,
    received: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve });
        notify();
      }),
  };
  const notify = () => {
    for (const { count, resolve } of waiting) if (scripted.requests.length >= count) resolve();
  };
  const onConnection = (socket: Socket) => {
    scripted.connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    let pending: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      scripted.bytesReceived += chunk.length;
      pending = Buffer.concat([pending, chunk]);
      for (let taken = takeRequest(pending); taken; taken = takeRequest(pending)) {
        pending = taken.rest;
        scripted.requests.push(taken.request);
        notify();
        script.onRequest?.(socket, taken.request, scripted.requests.length - 1);
      }
    });
    script.onConnection?.(socket);
  };
  const server = (script.createServer ?? createServer)(onConnection);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  scripted.port = address.port;
  scripted.url = `${script.createServer ? 'https' : 'http'}://127.0.0.1:${address.port}`;
  return scripted;
}

function takeRequest(bytes: Buffer): { request: ReceivedRequest; rest: Buffer } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [requestLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const bodyStart = headEnd + 4;
  const bodyEnd = bodyStart + Number(headers['content-length'] ?? 0);
  if (bytes.length < bodyEnd) return null;
  const [method = '', path = ''] = requestLine.split(' ');
  const body = bytes.subarray(bodyStart, bodyEnd).toString('utf8');
  return { request: { method, path, headers, body }, rest: bytes.subarray(bodyEnd) };
}

/** A whole HTTP answer as bytes. */
export function httpAnswer(status: number, body: string | Buffer, headers: Record<string, string> = {}): Buffer {
  const bytes = Buffer.from(body as string);
  const all = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

/** A port on which no server listens. */
export async function deadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

/** Starts a gateway that plays the script or gives this answer to each request, and a client for it. */
export async function startGateway(
  t: TestContext,
  played: Script | Buffer,
  changes: Parameters<typeof profileFor>[1] = {},
  interceptor?: Dispatcher.DispatcherComposeInterceptor,
) {
  const script = Buffer.isBuffer(played) ? { onRequest: (socket: Socket) => socket.write(played) } : played;
  const server = await startServer(t, script);
  return { server, ...clientFor(t, profileFor(server.url, changes), interceptor) };
}

export function clientFor(
  t: TestContext,
  profile: GatewayProfile,
  interceptor?: Dispatcher.DispatcherComposeInterceptor,
  observer?: ExchangeObserver,
) {
  const client = new GatewayClient(profile, interceptor, observer);
  t.after(() => client.close().catch(() => {}));
  const submit = (changes: Partial<SubmitOptions> = {}) =>
    client.submit({
      ...{ request: reportRequest(profile), accessToken: 'access-token-1', sendBy: performance.now() + 5_000 },
      ...changes,
    });
  return { profile, client, submit, fail: (changes?: Partial<SubmitOptions>) => failure(submit(changes)) };
}

export async function failure(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => assert.fail('must not resolve'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GatewayError, `not a GatewayError: ${String(error)}`);
  return error;
}
