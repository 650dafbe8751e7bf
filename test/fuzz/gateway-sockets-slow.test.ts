/** Tests the gateway client with damaged answers in malformed HTTP over real sockets. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../src/gateway/errors.ts';
import { GatewayClient } from '../../src/gateway/gateway-client.ts';
import { FAILURES } from '../../src/model/failure-types.ts';
import { profileFor } from '../gateway/fixtures.ts';
import { startServer } from '../gateway/scripted-server.ts';
import { type AnswerCase, answerCases, knownOf, wireOf } from './answer-cases.ts';
import { assertHonest } from './gateway-answers.ts';
import { type ByteMutation, byteMutations, changedBytes } from './mutations.ts';
import { property } from './property.ts';
import { assertSafeError, SENTINEL } from './sentinel.ts';
import { usually } from './values.ts';

interface SocketCase {
  answer: AnswerCase;
  status: string;
  framing: (typeof FRAMINGS)[number];
  headers: string[];
  /** Changes to the bytes of the whole answer. */
  damage: ByteMutation[];
  /** A second answer follows without a request. */
  surplus: boolean;
  end: 'fin' | 'reset' | 'open';
}

const FRAMINGS = [
  'length',
  'short',
  'long',
  'huge',
  'negative',
  'two lengths',
  'none',
  'chunked',
  'trailers',
  'bad chunk',
  'chunked and length',
] as const;

const STATUSES = [
  '200 OK',
  '201 Created',
  '204 No Content',
  '302 Found',
  '400 Bad',
  '401 No',
  '403 No',
  '429 Slow',
  '500 Oh',
  '503 Oh',
  '99 x',
  '999 x',
  '100 Continue',
  `200 ${SENTINEL}`,
];

const HEADERS = [
  'X-Sandbox-Gateway: credit-journey',
  'Retry-After: 99999999999999999999',
  'Retry-After: 5\r\nRetry-After: 6',
  'Location: http://127.0.0.1:1/',
  `X-Long: ${'x'.repeat(20_000)}`,
  `Set-Cookie: ${SENTINEL}`,
  ' folded: value',
  'no colon',
  'Content-Encoding: gzip\r\nContent-Encoding: br',
  'Date: never',
  'Connection: close',
  'Upgrade: h2c\r\nConnection: upgrade',
];

const STALE = JSON.stringify({ returnCode: 'Record', reportReferenceNumber: 'STALE', applicants: [] });

const socketCases: fc.Arbitrary<SocketCase> = fc.record({
  answer: answerCases,
  status: usually('200 OK', 4, fc.constantFrom(...STATUSES)),
  framing: usually('length' as const, 1, fc.constantFrom(...FRAMINGS)),
  headers: fc.oneof(fc.constant<string[]>([]), fc.array(fc.constantFrom(...HEADERS), { maxLength: 2 })),
  damage: usually([], 5, byteMutations(2)),
  surplus: usually(false, 5, fc.constant(true)),
  end: fc.constantFrom('fin' as const, 'fin' as const, 'reset' as const, 'open' as const),
});

function bytesOf(value: SocketCase): Buffer {
  const { body, label } = wireOf(value.answer);
  const head = [`HTTP/1.1 ${value.status}`, 'Content-Type: application/json', ...value.headers];
  if (label !== undefined) head.push(`Content-Encoding: ${label}`);
  const framed = framedAs(body, value.framing);
  const whole = Buffer.concat([
    Buffer.from([...head, ...framed.headers].join('\r\n'), 'latin1'),
    Buffer.from('\r\n\r\n'),
    framed.body,
  ]);
  const damaged = changedBytes(whole, value.damage);
  if (!value.surplus) return damaged;
  return Buffer.concat([damaged, Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${STALE.length}\r\n\r\n${STALE}`)]);
}

function framedAs(body: Buffer, framing: SocketCase['framing']): { headers: string[]; body: Buffer } {
  const chunk = (trailer: string, size = body.length.toString(16)) =>
    Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from(`\r\n0\r\n${trailer}\r\n`)]);
  const chunked = 'Transfer-Encoding: chunked';
  const length = (value: number | string) => `Content-Length: ${value}`;
  switch (framing) {
    case 'length':
      return { headers: [length(body.length)], body };
    case 'short':
      return { headers: [length(Math.floor(body.length / 2))], body };
    case 'long':
      return { headers: [length(body.length + 10)], body };
    case 'huge':
      return { headers: [length('99999999999999999999999')], body };
    case 'negative':
      return { headers: [length(-1)], body };
    case 'two lengths':
      return { headers: [length(body.length), length(body.length + 1)], body };
    case 'none':
      return { headers: [], body };
    case 'chunked':
      return { headers: [chunked], body: chunk('') };
    case 'trailers':
      return { headers: [chunked, 'Trailer: returnCode'], body: chunk('returnCode: Record\r\nContent-Length: 3\r\n') };
    case 'bad chunk':
      return { headers: [chunked], body: chunk('', 'fffffffffffffffff') };
    case 'chunked and length':
      return { headers: [chunked, length(5)], body: chunk('') };
  }
}

/** Ends the connection if the client would otherwise wait for more bytes until a time-out. */
function endOf({ end, framing, damage, headers, status, surplus }: SocketCase): SocketCase['end'] {
  const isWhole = ['length', 'chunked', 'trailers'].includes(framing) && status === '200 OK';
  return end === 'open' && !(isWhole && damage.length === 0 && headers.length === 0 && !surplus) ? 'fin' : end;
}

const closing: (() => unknown)[] = [];
let current: SocketCase | undefined;
let server: Awaited<ReturnType<typeof startServer>>;
let client: GatewayClient;

before(async () => {
  server = await startServer({ after: (close: () => unknown) => void closing.push(close) } as never, {
    onRequest: (socket) => {
      if (!current) return;
      const end = endOf(current);
      socket.write(bytesOf(current), () => {
        if (end === 'fin') socket.end();
        if (end === 'reset') socket.resetAndDestroy();
      });
    },
  });
  client = new GatewayClient(profileFor(server.url, { limits: { maxResponseBytes: 64 * 1024 } }));
});
after(async () => {
  await client?.close();
  for (const close of closing) await close();
});

property({
  name: 'malformed HTTP answers are read as they state or reported as errors, after a single request',
  weight: 2,
  cases: socketCases,
  check: async (value) => {
    current = value;
    const earlier = server.requests.length;
    await submitOnce(value);
    assert.equal(server.requests.length, earlier + 1, 'one submission sends once');
    assert.equal(client.startsAreUnreported, false);
  },
});

async function submitOnce(value: SocketCase): Promise<void> {
  const known = knownOf(value.answer);
  const { request, expected } = known.context;
  const sendBy = performance.now() + 60_000;
  try {
    const reply = await client.submit({ request, accessToken: 'token', sendBy, expectedApplicants: expected });
    assert.ok(reply.httpStatus >= 200 && reply.httpStatus <= 299);
    assert.ok(value.surplus || !reply.body.includes('STALE'), 'an answer that belonged to another request');
    assert.ok(
      !reply.body.includes('STALE') || bytesOf(value).includes(reply.body),
      'a surplus answer of an earlier case',
    );
    const at = { ...known, context: { ...known.context, requestedAt: reply.requestedAt } };
    const answer =
      'reference' in known.answer && known.answer.reference
        ? { ...known.answer, reference: { ...known.answer.reference, requestedAt: reply.requestedAt } }
        : known.answer;
    assertHonest(reply.body, reply.answer, { ...at, answer });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    assertSafeError(error, 'the gateway client');
    assert.equal(FAILURES[error.code].source, 'gateway');
    // The server has read the request, so it was sent.
    assert.equal(error.sent, 'possibly', `${error.code} says that nothing was sent`);
    if (error.retryAfterMs !== undefined) assert.ok(Number.isSafeInteger(error.retryAfterMs) && error.retryAfterMs > 0);
  }
}
