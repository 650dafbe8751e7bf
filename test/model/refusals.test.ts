/** One rule says which refusals end which grants: the book of a run, the claim and the flags on posted shares go by it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConsentBook } from '../../src/consent/consent-book.ts';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { refusalsAgainst } from '../../src/consent/refusals.ts';

const T0 = Date.UTC(2026, 0, 1);
const at = (minute: number) => new Date(T0 + minute * 60_000).toISOString();

function said(consentId: string, decision: ConsentRecord['decision'], decided: number, received: number) {
  return {
    ...{ journeyId: 'J', shareId: 'S1', applicantId: '1A', consentId, decision },
    ...{ decidedAt: at(decided), receivedAt: at(received), secondaryUser: { endUserCode: 'EU999' } },
  };
}

test('a revocation ends every grant where the grant that it names came only later', () => {
  const permitted = said('C1', 'granted', 1, 1);
  const revocation = said('C9', 'revoked', 2, 2);
  const named = said('C9', 'granted', 3, 3);
  assert.deepEqual(refusalsAgainst(permitted, [permitted, revocation, named]), [revocation]);
  const book = new ConsentBook();
  for (const one of [permitted, revocation, named]) book.add(one);
  assert.deepEqual(book.refusalsOf(permitted), [revocation]);
});

test('a book lets a grant stand exactly where the rule finds no refusal against it', () => {
  const message = fc.record({
    consentId: fc.constantFrom('C1', 'C2', 'C3'),
    decision: fc.constantFrom('granted' as const, 'denied' as const, 'revoked' as const),
    decided: fc.integer({ min: 0, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
      const book = new ConsentBook();
      const known = messages
        .map(({ consentId, decision, decided }, index) => said(consentId, decision, decided, 10 + index))
        .filter((one) => book.add(one));
      for (const grant of known.filter(({ decision }) => decision === 'granted')) {
        const against = refusalsAgainst(grant, known);
        assert.deepEqual(book.refusalsOf(grant), against);
        assert.equal(book.worthOf(grant, { nowMs: T0 }), against.length === 0 ? 'stands' : 'refused');
      }
    }),
  );
});
