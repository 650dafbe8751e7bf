/** Refusals of what Fastify and Node refuse by themselves: a method that an address does not have, unreadable input. */
import { type IncomingMessage, METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './refusal.ts';

export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { statusCode = 500 } = error as { statusCode?: number };
  if (statusCode === 413) return new Refusal('bodyTooLarge');
  if (statusCode === 415) return new Refusal('contentType');
  return new Refusal(statusCode >= 400 && statusCode < 500 ? 'malformed' : 'failed');
}

/** Called before the first route is added; covers those that are added before the server is ready. */
export function refuseOtherMethods(app: FastifyInstance): void {
  // Fastify skips routing for methods that it does not support. Node ends the connection of a CONNECT.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  const taken = new Map<string, string[]>();
  app.addHook('onRoute', ({ method, url }) => {
    taken.set(url, [...(taken.get(url) ?? []), ...[method].flat()]);
  });
  app.register(async (last) => {
    for (const [url, methods] of [...taken]) {
      const others = last.supportedMethods.filter((method) => !methods.includes(method));
      // Fastify would check the body before the handler, and refuse a missing body or another type first.
      const onRequest = async () => {
        const message = `the address takes ${methods.join(' and ')}`;
        throw new Refusal('method', message, { headers: { allow: methods.join(', ') } });
      };
      last.route({ method: others, url, onRequest, handler: onRequest });
    }
  });
}

/** Writes the body of a refusal. */
type Writer = (refusal: Refusal) => { type: string; headers: Readonly<Record<string, string>>; body: string };

/** Requests of a connection that were handed over, until they are answered. */
const underWay = new WeakMap<Duplex, Map<IncomingMessage, ServerResponse>>();

/** Tracks the requests of each connection, for `createUnreadableHandler`. */
export function trackRequests(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const requests = underWay.get(socket) ?? new Map<IncomingMessage, ServerResponse>();
    underWay.set(socket, requests.set(request, response));
    response.once('close', () => requests.delete(request));
  });
}

/** For Fastify's `clientErrorHandler`. It comes before every hook: no caller is known, and the audit log has no line. */
export function createUnreadableHandler(write: Writer) {
  /** Node reports the error with each packet. */
  const refused = new WeakSet<Duplex>();
  return (error: { code?: string }, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    if (refused.has(socket)) return;
    refused.add(socket);
    const requests = [...(underWay.get(socket) ?? [])];
    // Callers match answers by order: no answer may be taken for that to an earlier request.
    if (requests.some(([{ complete }]) => complete)) {
      socket.destroy();
      return;
    }
    // The unreadable request may be under way, if its body is at fault. It gets one answer.
    const isAnswered = requests.some(([, response]) => response.headersSent);
    // Input that has not arrived yet is not read.
    socket.end(isAnswered ? undefined : renderResponse(write, toUnreadableRefusal(error)), () => socket.destroy());
  };
}

function renderResponse(write: Writer, refusal: Refusal): string {
  const { type, headers, body } = write(refusal);
  const all = {
    ...headers,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`;
}

function toUnreadableRefusal({ code }: { code?: string }): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('slow');
  // Not 431: one more status that each caller would have to know.
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers');
  return new Refusal('malformed');
}
