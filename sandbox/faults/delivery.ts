/** Faults on the answer's way back: the inquiry has been posted. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { type Answer, type DeliveryFault, delivery, type Exchange, parseWholeNumber } from './fault.ts';

async function write(response: ServerResponse, piece: string | Buffer): Promise<void> {
  await new Promise<void>((resolve) => response.write(piece, () => resolve()));
}

/** Sends the head, which announces the whole body, and then half of the body. */
async function sendHalf(exchange: Exchange, answer: Answer): Promise<ReturnType<Exchange['takeOver']>> {
  const taken = exchange.takeOver(answer.status);
  const body = Buffer.from(answer.body);
  taken.response.writeHead(answer.status, { ...answer.headers, 'content-length': String(body.length) });
  await write(taken.response, body.subarray(0, Math.floor(body.length / 2)));
  return taken;
}

export const DELIVERY_FAULTS: readonly DeliveryFault[] = [
  delivery('resetAfterPosting', 'resets the connection instead of answering', async (exchange) => {
    exchange.takeOver(null).socket.resetAndDestroy();
  }),
  delivery('closeAfterPosting', 'closes the connection (FIN) without a byte', async (exchange) => {
    exchange.takeOver(null).socket.destroySoon();
  }),
  delivery(
    'finMidBody',
    'sends the head and half of the body, then closes the connection (FIN)',
    async (exchange, answer) => {
      const { socket } = await sendHalf(exchange, answer);
      socket.destroySoon();
    },
  ),
  delivery(
    'resetMidBody',
    'sends the head and half of the body, then resets the connection',
    async (exchange, answer) => {
      const { socket } = await sendHalf(exchange, answer);
      socket.resetAndDestroy();
    },
  ),
  delivery('hangAfterPosting', 'never answers', async (exchange) => {
    exchange.takeOver(null);
  }),
  delivery('hangMidBody', 'sends the head and half of the body, then nothing more', async (exchange, answer) => {
    await sendHalf(exchange, answer);
  }),
  delivery(
    'slowAfterPosting',
    'answers properly, but late',
    async (exchange, answer, { delayMs }) => {
      await exchange.wait(Number(delayMs));
      exchange.answer(answer);
    },
    { delayMs: parseWholeNumber('how late, in milliseconds', 1_500) },
  ),
  delivery(
    'trickle',
    'answers properly, but the body comes in ten pieces with pauses between them',
    async (exchange, answer, { delayMs }) => {
      const { response } = exchange.takeOver(answer.status);
      const body = Buffer.from(answer.body);
      response.writeHead(answer.status, { ...answer.headers, 'content-length': String(body.length) });
      const size = Math.ceil(body.length / 10);
      for (let start = 0; start < body.length; start += size) {
        await write(response, body.subarray(start, start + size));
        await exchange.wait(Number(delayMs));
      }
      response.end();
    },
    { delayMs: parseWholeNumber('one pause, in milliseconds', 100) },
  ),
  delivery(
    'notHttp',
    'answers with bytes that are not HTTP (the one answer that cannot carry the mark)',
    async (exchange) => {
      exchange.takeOver(null).socket.end('this is not an HTTP response\r\n\r\n');
    },
  ),
  delivery('truncatedJson', 'sends half of the JSON as a whole, well-formed HTTP answer', async (exchange, answer) => {
    exchange.answer({ ...answer, body: answer.body.slice(0, Math.floor(answer.body.length / 2)) });
  }),
  delivery(
    'oversized',
    'sends good JSON that is far too large',
    async (exchange, answer, { bytes, compressed }) => {
      const { response } = exchange.takeOver(answer.status);
      response.writeHead(answer.status, { ...answer.headers, ...(compressed && { 'content-encoding': 'gzip' }) });
      const source = Readable.from(padded(answer.body, Number(bytes)));
      // A caller that stops reading closes the connection, which is the purpose of this fault.
      const sent = compressed ? pipeline(source, createGzip(), response) : pipeline(source, response);
      await sent.catch(() => undefined);
    },
    {
      bytes: parseWholeNumber('size of the body before compression', 67_108_864),
      compressed: z.boolean().default(false).describe('gzip, so that it is small until it is unpacked'),
    },
  ),
  delivery('undecodable', 'says content-encoding gzip and sends a damaged archive', async (exchange, answer) => {
    const { response } = exchange.takeOver(answer.status);
    const damaged = gzipSync(answer.body).subarray(0, -12);
    response.writeHead(answer.status, { ...answer.headers, 'content-encoding': 'gzip' });
    response.end(damaged);
  }),
  delivery(
    'notJson',
    'answers 200 with a page of HTML',
    async (exchange, _answer, { echoRequest }) => {
      const quoted = echoRequest === true ? exchange.requestText.slice(1) : '';
      const body = `${quoted}<!doctype html><title>Sandbox</title><p>Service temporarily in maintenance`;
      exchange.answer({ status: 200, headers: { 'content-type': 'text/html' }, body });
    },
    { echoRequest: z.boolean().optional().describe('the body begins with the request, as careless gateways do') },
  ),
  delivery('emptyBody', 'answers 200 without a body', async (exchange, answer) => {
    exchange.answer({ ...answer, body: '' });
  }),
  delivery(
    'refuseConnections',
    'answers properly, closes the connection and accepts no other for a while',
    async (exchange, answer, { forMs }) => {
      // The listener first, so that a caller with the answer can no longer connect.
      exchange.refuseConnections(Number(forMs));
      exchange.answer(answer);
    },
    { forMs: parseWholeNumber('how long, in milliseconds', 1_000) },
  ),
];

/** The JSON object with white space before it, in pieces, `bytes` long in all. */
function* padded(body: string, bytes: number): Generator<string> {
  const piece = ' '.repeat(65_536);
  for (let left = bytes - body.length; left > 0; left -= piece.length) yield piece.slice(0, left);
  yield body;
}
