/** Faults on the answer's way back: the inquiry has been posted. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { type Answer, type DeliveryFault, type Exchange, numberOf } from './fault.ts';

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

const resetAfterPosting: DeliveryFault = {
  name: 'resetAfterPosting',
  stage: 'delivery',
  what: 'resets the connection instead of answering',
  async deliver(exchange) {
    exchange.takeOver(null).socket.resetAndDestroy();
  },
};

const closeAfterPosting: DeliveryFault = {
  name: 'closeAfterPosting',
  stage: 'delivery',
  what: 'closes the connection (FIN) without a byte',
  async deliver(exchange) {
    exchange.takeOver(null).socket.destroySoon();
  },
};

const finMidBody: DeliveryFault = {
  name: 'finMidBody',
  stage: 'delivery',
  what: 'sends the head and half of the body, then closes the connection (FIN)',
  async deliver(exchange, answer) {
    const { socket } = await sendHalf(exchange, answer);
    socket.destroySoon();
  },
};

const resetMidBody: DeliveryFault = {
  name: 'resetMidBody',
  stage: 'delivery',
  what: 'sends the head and half of the body, then resets the connection',
  async deliver(exchange, answer) {
    const { socket } = await sendHalf(exchange, answer);
    socket.resetAndDestroy();
  },
};

const hangAfterPosting: DeliveryFault = {
  name: 'hangAfterPosting',
  stage: 'delivery',
  what: 'never answers',
  async deliver(exchange) {
    exchange.takeOver(null);
  },
};

const hangMidBody: DeliveryFault = {
  name: 'hangMidBody',
  stage: 'delivery',
  what: 'sends the head and half of the body, then nothing more',
  async deliver(exchange, answer) {
    await sendHalf(exchange, answer);
  },
};

const slowAfterPosting: DeliveryFault = {
  name: 'slowAfterPosting',
  stage: 'delivery',
  what: 'answers properly, but late',
  params: { delayMs: { type: ['number'], default: 1500, what: 'how late, in milliseconds' } },
  async deliver(exchange, answer, params) {
    await exchange.wait(numberOf(slowAfterPosting, params, 'delayMs'));
    exchange.answer(answer);
  },
};

const trickle: DeliveryFault = {
  name: 'trickle',
  stage: 'delivery',
  what: 'answers properly, but the body comes in ten pieces with pauses between them',
  params: { delayMs: { type: ['number'], default: 100, what: 'one pause, in milliseconds' } },
  async deliver(exchange, answer, params) {
    const { response } = exchange.takeOver(answer.status);
    const body = Buffer.from(answer.body);
    response.writeHead(answer.status, { ...answer.headers, 'content-length': String(body.length) });
    const size = Math.ceil(body.length / 10);
    for (let start = 0; start < body.length; start += size) {
      await write(response, body.subarray(start, start + size));
      await exchange.wait(numberOf(trickle, params, 'delayMs'));
    }
    response.end();
  },
};

const notHttp: DeliveryFault = {
  name: 'notHttp',
  stage: 'delivery',
  what: 'answers with bytes that are not HTTP (the one answer that cannot carry the mark)',
  async deliver(exchange) {
    exchange.takeOver(null).socket.end('this is not an HTTP response\r\n\r\n');
  },
};

const truncatedJson: DeliveryFault = {
  name: 'truncatedJson',
  stage: 'delivery',
  what: 'sends half of the JSON as a whole, well-formed HTTP answer',
  async deliver(exchange, answer) {
    exchange.answer({ ...answer, body: answer.body.slice(0, Math.floor(answer.body.length / 2)) });
  },
};

const oversized: DeliveryFault = {
  name: 'oversized',
  stage: 'delivery',
  what: 'sends good JSON that is far too large',
  params: {
    bytes: { type: ['number'], default: 67_108_864, what: 'size of the body before compression' },
    compressed: { type: ['boolean'], default: false, what: 'gzip, so that it is small until it is unpacked' },
  },
  async deliver(exchange, answer, params) {
    const { response } = exchange.takeOver(answer.status);
    const compressed = params.compressed === true;
    response.writeHead(answer.status, { ...answer.headers, ...(compressed && { 'content-encoding': 'gzip' }) });
    const source = Readable.from(padded(answer.body, numberOf(oversized, params, 'bytes')));
    // A caller that stops reading closes the connection, which is the purpose of this fault.
    const sent = compressed ? pipeline(source, createGzip(), response) : pipeline(source, response);
    await sent.catch(() => undefined);
  },
};

/** The JSON object with white space before it, in pieces, `bytes` long in all. */
function* padded(body: string, bytes: number): Generator<string> {
  const piece = ' '.repeat(65_536);
  for (let left = bytes - body.length; left > 0; left -= piece.length) yield piece.slice(0, left);
  yield body;
}

const undecodable: DeliveryFault = {
  name: 'undecodable',
  stage: 'delivery',
  what: 'says content-encoding gzip and sends a damaged archive',
  async deliver(exchange, answer) {
    const { response } = exchange.takeOver(answer.status);
    const damaged = gzipSync(answer.body).subarray(0, -12);
    response.writeHead(answer.status, { ...answer.headers, 'content-encoding': 'gzip' });
    response.end(damaged);
  },
};

const notJson: DeliveryFault = {
  name: 'notJson',
  stage: 'delivery',
  what: 'answers 200 with a page of HTML',
  params: { echoRequest: { type: ['boolean'], what: 'the body begins with the request, as careless gateways do' } },
  async deliver(exchange, _answer, params) {
    const quoted = params.echoRequest === true ? exchange.requestText.slice(1) : '';
    const body = `${quoted}<!doctype html><title>Sandbox</title><p>Service temporarily in maintenance`;
    exchange.answer({ status: 200, headers: { 'content-type': 'text/html' }, body });
  },
};

const emptyBody: DeliveryFault = {
  name: 'emptyBody',
  stage: 'delivery',
  what: 'answers 200 without a body',
  async deliver(exchange, answer) {
    exchange.answer({ ...answer, body: '' });
  },
};

const refuseConnections: DeliveryFault = {
  name: 'refuseConnections',
  stage: 'delivery',
  what: 'answers properly, closes the connection and accepts no other for a while',
  params: { forMs: { type: ['number'], default: 1000, what: 'how long, in milliseconds' } },
  async deliver(exchange, answer, params) {
    // The listener first, so that a caller with the answer can no longer connect.
    exchange.refuseConnections(numberOf(refuseConnections, params, 'forMs'));
    exchange.answer(answer);
  },
};

export const DELIVERY_FAULTS = [
  resetAfterPosting,
  closeAfterPosting,
  finMidBody,
  resetMidBody,
  hangAfterPosting,
  hangMidBody,
  slowAfterPosting,
  trickle,
  notHttp,
  truncatedJson,
  oversized,
  undecodable,
  notJson,
  emptyBody,
  refuseConnections,
] as const;
