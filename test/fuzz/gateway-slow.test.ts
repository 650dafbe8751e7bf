/** Tests the readers of gateway answers with answers that no gateway should give. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseRetryAfterMs } from '../../src/base/instants.ts';
import { readAnswer } from '../../src/gateway/answers.ts';
import { readBodyText } from '../../src/gateway/body-text.ts';
import { readResponse } from '../../src/gateway/envelope.ts';
import { createRefIdResolver } from '../../src/gateway/responses.ts';
import { readTokenResponse } from '../../src/gateway/token-source.ts';
import { answerCases, knownOf, wireOf } from './answer-cases.ts';
import { assertHonest } from './gateway-answers.ts';
import { byteMutations, changedBytes, changedText, treeMutations } from './mutations.ts';
import { property } from './property.ts';
import { hostileNumber, hostileText } from './values.ts';

const MAX_DECODED_BYTES = 512 * 1024;
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

property({
  name: 'damaged answers are read as they state, or held without quoting their values',
  weight: 16,
  cases: answerCases,
  check: async (value) => {
    const { body, label } = wireOf(value);
    const text = await readBodyText(body, label, MAX_DECODED_BYTES);
    if (text === null) return;
    assert.ok(Buffer.byteLength(text) <= MAX_DECODED_BYTES + 3);
    if (label === undefined) {
      const bare = body.subarray(body.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0);
      assert.ok(Buffer.from(text).equals(bare), 'text that was not in the bytes');
    }
    const known = knownOf(value);
    assertHonest(text, readAnswer(text, known.context), known);
    // The ledger keeps the text. The program reads it again when a caller asks for the report.
    const stored = readResponse(text);
    for (const { consumer } of stored?.applicants ?? []) {
      if (typeof consumer !== 'object' || consumer === null) continue;
      for (const kind of ['name', 'address', 'ssn', 'phone'] as const) createRefIdResolver(consumer)(kind, 1);
    }
  },
});

const TOKEN_RESPONSE = { access_token: 'abc.def.ghi', token_type: 'Bearer', expires_in: 3600, scope: 'report' };

property({
  name: 'damaged token responses yield a valid token or none',
  weight: 2,
  cases: fc.record({
    tree: treeMutations(['access_token', 'token_type', 'expires_in', 'scope']),
    bytes: fc.oneof(fc.constant([]), byteMutations(3)),
  }),
  check: ({ tree, bytes }) => {
    const token = readTokenResponse(
      changedBytes(Buffer.from(changedText(TOKEN_RESPONSE, tree)), bytes).toString('utf8'),
    );
    if (!token) return;
    assert.deepEqual(Object.keys(token).sort(), ['accessToken', 'expiresInS']);
    assert.match(token.accessToken, /^[\x21-\x7e]{1,8192}$/, 'what goes into a header');
    assert.ok(Number.isSafeInteger(token.expiresInS) && token.expiresInS > 0 && token.expiresInS <= 366 * 86_400);
  },
});

const DATES = [
  'Sun, 01 Nov 2026 08:00:00 GMT',
  'Mon, 31 Feb 2026 25:00:00 GMT',
  'Sun, 06 Nov 94 08:49:37 GMT',
  'Thu, 01 Jan 9999 00:00:00 GMT',
];
const headerText = fc.oneof(
  fc.constantFrom(...DATES, '120', '0', '-1', '1e3', '9999999999', '99999999999', ' 5 ', '0x10', 'Infinity'),
  fc
    .tuple(fc.constantFrom(...DATES), byteMutations(2))
    .map(([date, bytes]) => changedBytes(Buffer.from(date), bytes).toString('latin1')),
  hostileNumber.map(String),
  hostileText,
);

property({
  name: 'a Retry-After header yields a valid delay or none',
  weight: 1,
  cases: fc.record({ 'retry-after': headerText, date: fc.option(headerText, { nil: undefined }) }),
  check: (headers) => {
    const ms = parseRetryAfterMs(headers, Date.UTC(2026, 10, 1));
    if (ms === undefined) return;
    // The limit is ten digits of seconds, or the last date that JavaScript has.
    assert.ok(Number.isSafeInteger(ms) && ms > 0 && ms <= Math.max(1e13, 8.64e15), `${ms} ms`);
  },
});
