/**
 * Connections that are reset, and not closed, where a request on them is abandoned. The kernel flushes a closed
 * connection first: it goes on sending its buffer for about 15 minutes, and the gateway may post an abandoned request.
 * A reset (RST) discards the buffer, and tells the other side to do the same.
 *
 * This file relies on undici 8 (HTTP/1) as follows. It publishes `undici:client:sendHeaders` with request and socket
 * just before it writes. It sets `completed` on that request when the whole answer has come. When it gives up for any
 * cause (a time-out, an abort, an answer that it refuses), it calls `destroy` on the socket. Tests on real sockets
 * check this.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { buildConnector, type DiagnosticsChannel } from 'undici';

/** The latest request on each of our connections. */
const underWay = new WeakMap<Socket, DiagnosticsChannel.Request>();
/** By undici's socket: over TLS, the TCP socket beneath it, which alone can be reset. */
const beneath = new WeakMap<Socket, Socket>();

let isListening = false;

export function resettingConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  listen();
  const connect = buildConnector(options);
  return (target, callback) => {
    const ready = (tcp: Socket): buildConnector.Callback => {
      return (...[error, socket]) => {
        if (error === null) return callback(null, resettable(socket, tcp));
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

function resettable(socket: Socket, tcp: Socket): Socket {
  beneath.set(socket, tcp);
  // Where the other side resets the connection, the TCP socket beneath TLS closes first, and the TLS socket tells the error
  // after its own `close`. undici 8.12 would throw then, and end the worker: it has let go of the connection.
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
