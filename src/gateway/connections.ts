import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, type DiagnosticsChannel } from 'undici';
import type { GatewayProfile } from './profile.ts';

// Connections that are reset, rather than closed, when a request on them is abandoned. After a close the kernel keeps
// sending its buffer for about 15 minutes, and the gateway may post an abandoned request. A reset (RST) discards the
// buffer, and tells the other side to do the same. This file relies on undici 8 (HTTP/1) as follows. It publishes
// `undici:client:sendHeaders` with request and socket just before it writes. It sets `completed` on that request when
// the whole answer has come. When it gives up for any cause (a time-out, an abort, an answer that it refuses), it calls
// `destroy` on the socket. Tests on real sockets check this.

/** The latest request on each connection of the pool. */
const underWay = new WeakMap<Socket, DiagnosticsChannel.Request>();
/** Maps undici's socket to the TCP socket beneath it. Over TLS only the latter can be reset. */
const beneath = new WeakMap<Socket, Socket>();

let isListening = false;

function createResettingConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  listen();
  const connect = buildConnector(options);
  return (target, callback) => {
    const ready = (tcp: Socket): buildConnector.Callback => {
      return (...[error, socket]) => {
        if (error === null) return callback(null, makeResettable(socket, tcp));
        tcp.destroy();
        return callback(error, null);
      };
    };
    const isSecure = target.protocol === 'https:';
    // Connects by itself, because Node does not expose the socket that it makes beneath a TLS socket.
    const plain = isSecure ? { ...target, protocol: 'http:', port: target.port || '443' } : target;
    connect(plain, (...[error, tcp]) => {
      if (error !== null) callback(error, null);
      else if (isSecure) connect({ ...target, httpSocket: tcp }, ready(tcp));
      else ready(tcp)(null, tcp);
    });
  };
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe('undici:client:sendHeaders', (message) => {
    const { request, socket } = message as DiagnosticsChannel.ClientSendHeadersMessage;
    if (beneath.has(socket)) underWay.set(socket, request);
  });
}

function makeResettable(socket: Socket, tcp: Socket): Socket {
  beneath.set(socket, tcp);
  // When the other side resets the connection, the TCP socket beneath TLS closes first. The TLS socket emits the error
  // after its own `close`. undici 8.12 has let go of the connection by then: it would throw, and end the worker.
  socket.once('close', () => socket.removeAllListeners('error').on('error', () => {}));
  const destroy = socket.destroy;
  socket.destroy = function destroyOrReset(error?: Error) {
    const request = underWay.get(socket);
    if (request && !request.completed && !tcp.destroyed) {
      // A TLS socket has no reset (ERR_INVALID_HANDLE_TYPE), and `destroy` on the socket itself would come back here.
      if (socket === tcp) {
        socket.destroy = destroy;
        socket.resetAndDestroy();
      } else {
        tcp.resetAndDestroy();
      }
    }
    return destroy.call(socket, error);
  };
  return socket;
}

/** A server of one origin, such as a profile's gateway: how long each step may take, and whom to trust. */
interface PooledServer {
  caCertificate?: string | undefined;
  limits: Pick<
    GatewayProfile['limits'],
    'connectTimeoutMs' | 'connections' | 'headersTimeoutMs' | 'bodyTimeoutMs' | 'keepAliveTimeoutMs'
  >;
}

/** Enough for headers with a bearer token. undici counts names and values in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Makes connections to a gateway, a token service or a codec server. An abandoned request has its connection reset. */
export function createConnector({ limits, caCertificate }: PooledServer): buildConnector.connector {
  // One context for all connections: parsing the system's certificates again for each takes milliseconds.
  const trusted = caCertificate === undefined ? undefined : [...getCACertificates('default'), caCertificate];
  return createResettingConnector({
    timeout: limits.connectTimeoutMs,
    // Node gives each of several addresses but the last 250 ms, which is less than one lost SYN packet costs.
    autoSelectFamilyAttemptTimeout: Math.max(250, Math.ceil(limits.connectTimeoutMs / 4)),
    allowH2: false,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(trusted && { secureContext: createSecureContext({ ca: trusted, minVersion: 'TLSv1.2' }) }),
  });
}

/**
 * A connection pool for one origin, with every limit set. HTTP/2 is off, since undici 8 replays refused
 * streams, and so is pipelining. Retries and redirects would need interceptors, and none is used.
 *
 * @param maxResponseBytes as received, before decompression
 */
export function createConnections(server: PooledServer, maxResponseBytes: number): Agent {
  const { limits } = server;
  return new Agent({
    maxOrigins: 1,
    connections: limits.connections,
    pipelining: 1,
    allowH2: false,
    connect: createConnector(server),
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // A server's hint may shorten, but never lengthen, the time that an idle connection is kept.
    keepAliveMaxTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    maxResponseSize: maxResponseBytes,
    strictContentLength: true,
  });
}
