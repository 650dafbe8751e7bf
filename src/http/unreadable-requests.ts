/** What Node cannot read as a request, and what comes too slowly: answered in the service's own form, and the connection ends. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, Refusal } from './refusal.ts';

interface Form {
  type: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** For Fastify's `clientErrorHandler`. It comes before every hook: no caller is known, and the audit log has no line. */
export function answerUnreadable(form: (refusal: Refusal) => Form) {
  return ({ code }: { code?: string }, socket: Socket): void => {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = refusalOf(code);
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
    const head = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n`;
    // What is still on its way is not read.
    socket.end(head + body, () => socket.destroy());
  };
}

function refusalOf(code: string | undefined): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal(408, 'Slow', 'slow', 'the request came too slowly');
  // Not 431: one more status that each caller would have to know.
  if (code === 'HPE_HEADER_OVERFLOW') return badRequest('headers', 'the address and the headers are too long');
  return badRequest('malformed', 'the request is malformed');
}
