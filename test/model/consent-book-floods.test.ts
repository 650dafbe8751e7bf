/** The consent book stays small in a flood. What it drops never turns an applicant's refusal into a grant. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ConsentBook,
  type Elsewhere,
  MAX_CONSENT_MESSAGES,
  MAX_WAITING_GRANTS,
} from '../../src/consent/consent-book.ts';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';

const T0 = Date.UTC(2026, 0, 1);
const nowMs = T0 + 365 * 24 * 3_600_000;

function message(
  number: number,
  decision: ConsentRecord['decision'],
  { shareId = 'S1', minute = number, proof }: { shareId?: string; minute?: number; proof?: string } = {},
): ConsentRecord {
  const decidedAt = new Date(T0 + minute * 60_000).toISOString();
  return {
    ...{ journeyId: 'J', shareId, applicantId: '1A', consentId: `C${number}`, decision, decidedAt },
    ...{ secondaryUser: { endUserCode: 'EU999' }, receivedAt: decidedAt },
    ...(proof === undefined ? {} : { proof }),
  };
}

function inLedger(isRecorded: (record: ConsentRecord) => boolean = () => true): Elsewhere {
  return { isRecorded, written: 0, isKnownShare: (shareId) => shareId === 'S1' };
}

/** As a run takes them: it makes room before each. */
function flooded(messages: readonly ConsentRecord[], elsewhere = inLedger()): ConsentBook {
  const book = new ConsentBook();
  for (const one of messages) {
    book.makeRoom(elsewhere);
    book.add(one);
  }
  return book;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('a flood of 20,000 consents', () => {
  const kinds = ['granted', 'denied', 'revoked'] as const;
  for (const last of kinds) {
    test(`leaves the applicant standing as the latest says: ${last}`, () => {
      const messages = numbers(20_000).map((number) => message(number, kinds[number % 3] ?? 'denied'));
      const book = flooded([...messages, message(20_000, last)]);
      assert.ok(book.size <= MAX_CONSENT_MESSAGES, String(book.size));
      assert.equal(book.standing('S1', '1A', { nowMs }).kind, last);
      assert.ok(book.all().some(({ decision }) => decision === 'granted'));
      assert.equal(book.isFull(inLedger()), false);
    });
  }

  test('of refusals keeps a grant ended that they ended, and the one that came before them all', () => {
    const grant = message(0, 'granted', { minute: 30_000 });
    const ending = message(1, 'revoked', { minute: 40_000 });
    const rest = numbers(20_000).map((number) => message(number + 2, 'revoked', { minute: number }));
    const book = flooded([grant, ending, ...rest]);
    assert.equal(book.standing('S1', '1A', { nowMs }).kind, 'revoked');
    assert.ok(book.all().some(({ decision }) => decision === 'granted'));
    book.add(message(30_000, 'granted', { minute: 35_000 }));
    assert.equal(book.standing('S1', '1A', { nowMs }).kind, 'revoked');
    book.add(message(30_001, 'granted', { minute: 40_001 }));
    assert.equal(book.standing('S1', '1A', { nowMs }).kind, 'granted');
  });

  test('drops nothing that the ledger does not have', () => {
    const book = flooded(
      numbers(3_000).map((number) => message(number, 'denied')),
      inLedger(({ consentId }) => consentId !== 'C7'),
    );
    assert.ok(book.all().some(({ consentId }) => consentId === 'C7'));
    const away = inLedger(() => false);
    const all = numbers(3_000).map((number) => message(number, 'granted'));
    const kept = flooded(all, away);
    assert.equal(kept.size, 3_000);
    assert.equal(kept.isFull(away), true);
  });

  test('for shares that were never requested drops all but the latest refusals', () => {
    const book = flooded(numbers(20_000).map((number) => message(number, 'denied', { shareId: `X${number}` })));
    assert.ok(book.size <= MAX_CONSENT_MESSAGES, String(book.size));
  });

  test('is taken without looking at every message for each', () => {
    const startedAt = performance.now();
    const away = inLedger(() => false);
    const book = new ConsentBook();
    for (const number of numbers(10_000)) {
      book.makeRoom(away);
      const one = message(number, number % 2 ? 'granted' : 'denied');
      if (one.decision === 'denied' || !book.isFull(away)) book.add(one);
      assert.equal(
        book.hasEarlyGrants(20, (shareId) => shareId === 'S1'),
        false,
      );
      book.standing('S1', '1A', { nowMs });
    }
    assert.equal(book.all().filter(({ decision }) => decision === 'granted').length, MAX_WAITING_GRANTS);
    assert.equal(book.all().filter(({ decision }) => decision === 'denied').length, 5_000);
    // Ten times what it takes on a slow machine; scanning all for each would take minutes.
    assert.ok(performance.now() - startedAt < 10_000);
  });

  test('takes grants again once the ledger has those before, or they are refused', () => {
    const grants = numbers(MAX_WAITING_GRANTS).map((number) => message(number, 'granted'));
    const book = flooded(
      grants,
      inLedger(() => false),
    );
    assert.equal(book.isFull(inLedger(() => false)), true);
    assert.equal(book.isFull({ ...inLedger(), written: 1 }), false);
    const pending = new ConsentBook();
    for (const grant of grants) pending.addPending(grant);
    assert.equal(pending.isFull(inLedger()), true);
    for (const grant of grants) pending.refuse(grant);
    assert.equal(pending.isFull(inLedger()), false);
    assert.equal(pending.size, 0);
  });

  test('of refusals that wait for the ledger leaves room for every grant that may wait', () => {
    const away = inLedger(() => false);
    const book = flooded(
      numbers(5_000).map((number) => message(number, 'denied')),
      away,
    );
    for (const number of numbers(MAX_WAITING_GRANTS)) {
      assert.equal(book.isFull(away), false);
      book.add(message(10_000 + number, 'granted'));
    }
    assert.equal(book.isFull(away), true);
  });

  test('of what the ledger has is read without looking at every message for each', () => {
    const startedAt = performance.now();
    const own = numbers(20_000).map((number) =>
      message(number, (['granted', 'revoked'] as const)[number % 2] ?? 'denied'),
    );
    const book = new ConsentBook();
    book.learn('S1', { own, elsewhere: [] });
    assert.equal(book.standing('S1', '1A', { nowMs }).kind, 'revoked');
    assert.ok(performance.now() - startedAt < 10_000);
  });
});

describe('what the next run takes over', () => {
  test('stands as it stood, message by message', () => {
    const book = new ConsentBook();
    let carried = new ConsentBook();
    for (const [index, decision] of (['granted', 'revoked', 'granted', 'denied', 'granted'] as const).entries()) {
      // A revocation of an id that has no grant ends all, and those alone that were known then.
      const one = message(index, decision, { minute: decision === 'revoked' ? 0 : index });
      book.add(one);
      carried.add(one);
      carried = new ConsentBook(carried.carried(inLedger()));
      assert.deepEqual(carried.standing('S1', '1A', { nowMs }), book.standing('S1', '1A', { nowMs }));
    }
  });

  test('is small after any flood, and leaves out proofs that the ledger has', () => {
    const book = flooded(numbers(20_000).map((number) => message(number, 'granted', { proof: 'x'.repeat(2_000) })));
    const carried = book.carried(inLedger());
    assert.ok(JSON.stringify(carried).length < 500_000);
    assert.ok(carried.every(({ record }) => record.proof === undefined));
    const unrecorded = new ConsentBook();
    unrecorded.add(message(1, 'granted', { proof: 'x' }));
    assert.equal(unrecorded.carried(inLedger(() => false))[0]?.record.proof, 'x');
  });

  test('still waits for a verdict where this one did, and a grant that is refused turns its revocation into one of all', () => {
    const book = new ConsentBook();
    const pending = message(1, 'granted');
    book.add(message(0, 'granted'));
    book.addPending(pending);
    book.add(message(1, 'revoked', { minute: 5 }));
    const next = new ConsentBook(book.carried(inLedger()));
    assert.equal(next.standing('S1', '1A', { nowMs }).kind, 'granted');
    next.refuse(next.pending()[0] as ConsentRecord);
    assert.equal(next.standing('S1', '1A', { nowMs }).kind, 'revoked');
  });
});
