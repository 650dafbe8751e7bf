/** What Node cannot read as a request, and what comes too slowly: answered in the service's own form, and the connection ends. */
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { badRequest, Refusal } from './refusal.ts';

/** Of Node's parser. */
interface Unreadable {
  code?: string;
  /** What was being read: it may begin before the request, on a connection that had others. */
  rawPacket?: unknown;
  bytesParsed?: number;
}

/** For Node's event `connect`: without an answer it ends the connection. */
export const CONNECT: Unreadable = { code: 'CONNECT' };

interface Form {
  type: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Requests of a connection that were handed over, until they are answered. */
const underWay = new WeakMap<Duplex, Map<IncomingMessage, ServerResponse>>();

/** On a connection that has requests before it, what is unreadable is answered after them: a caller counts answers. */
export function keepAnswersInOrder(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const requests = underWay.get(socket) ?? new Map<IncomingMessage, ServerResponse>();
    underWay.set(socket, requests.set(request, response));
    response.once('close', () => requests.delete(request));
  });
}

/** For Fastify's `clientErrorHandler`. It comes before every hook: no caller is known, and the audit log has no line. */
export function answerUnreadable(form: (refusal: Refusal) => Form) {
  /** Node tells anew with each packet. */
  const refused = new WeakSet<Duplex>();
  return (error: Unreadable, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    if (refused.has(socket)) return;
    refused.add(socket);
    const text = textOf(form, refusalOf(error));
    const requests = [...(underWay.get(socket) ?? [])];
    // The last one may be what is unreadable, by its body. It gets one answer.
    const broken = requests.find(([{ complete }]) => !complete)?.[1];
    const before = requests.filter(([{ complete }]) => complete).map(([, response]) => response);
    const answer = () => {
      // What is still on its way is not read.
      socket.end(broken?.headersSent ? undefined : text, () => socket.destroy());
    };
    if (before.length === 0) answer();
    else void Promise.allSettled(before.map((response) => once(response, 'close'))).then(answer);
  };
}

function textOf(form: (refusal: Refusal) => Form, refusal: Refusal): string {
  const { type, headers, body } = form(refusal);
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

function refusalOf({ code, rawPacket, bytesParsed }: Unreadable): Refusal {
  if (code === CONNECT.code || (code === 'HPE_INVALID_METHOD' && isRequestLine(rawPacket, bytesParsed))) {
    return new Refusal(501, 'NotImplemented', 'unknownMethod', 'no address here takes this method');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal(408, 'Slow', 'slow', 'the request came too slowly');
  // Not 431: one more status that each caller would have to know.
  if (code === 'HPE_HEADER_OVERFLOW') return badRequest('headers', 'the address and the headers are too long');
  return badRequest('malformed', 'the request is malformed');
}

/** Otherwise no method was meant: TLS on a port without, or what is left of a body. */
function isRequestLine(packet: unknown, failedAt = 0): boolean {
  if (!Buffer.isBuffer(packet)) return false;
  const from = packet.subarray(0, failedAt).lastIndexOf('\n') + 1;
  return /^[!#$%&'*+.^_`|~\w-]{1,40} \S+ HTTP\/1\.[01]\r?\n/.test(packet.toString('latin1', from));
}
