import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ConsentBook } from '../../src/consent/consent-book.ts';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { isForUser } from '../../src/model/stage-end-user.ts';

const T0 = Date.UTC(2026, 0, 1);
const at = (minutes: number) => new Date(T0 + minutes * 60_000).toISOString();

function message(
  consentId: string,
  decision: ConsentRecord['decision'],
  decidedAtMinute: number,
  applicantId = '1A',
): ConsentRecord {
  return {
    journeyId: 'J',
    shareId: 'S1',
    applicantId,
    consentId,
    decision,
    decidedAt: at(decidedAtMinute),
    secondaryUser: { endUserCode: 'EU999' },
    receivedAt: at(decidedAtMinute),
  };
}

function standingAfter(...messages: ConsentRecord[]): string {
  const book = new ConsentBook();
  for (const one of messages) book.add(one);
  return book.standing('S1', '1A', { nowMs: T0 + 3_600_000 }).kind;
}

test('silence is no grant, a grant stands, and a duplicate changes nothing', () => {
  assert.equal(standingAfter(), 'none');
  assert.equal(standingAfter(message('C1', 'granted', 1)), 'granted');
  const book = new ConsentBook();
  assert.equal(book.add(message('C1', 'granted', 1)), true);
  assert.equal(book.add(message('C1', 'granted', 1)), false);
  assert.equal(book.size, 1);
});

test('a revocation ends the grant of its id, in whichever order the two come', () => {
  const grant = message('C1', 'granted', 1);
  const revocation = message('C1', 'revoked', 2);
  assert.equal(standingAfter(grant, revocation), 'revoked');
  assert.equal(standingAfter(revocation, grant), 'revoked');
});

test('a revocation of one of two grants leaves the other', () => {
  assert.equal(
    standingAfter(message('C1', 'granted', 1), message('C2', 'granted', 2), message('C1', 'revoked', 3)),
    'granted',
  );
});

test('a revocation with an unknown id ends every grant, and a grant decided later stands again', () => {
  const grant = message('C1', 'granted', 1);
  const revocation = message('CX', 'revoked', 5);
  assert.equal(standingAfter(grant, revocation), 'revoked');
  assert.equal(standingAfter(grant, revocation, message('C2', 'granted', 4)), 'revoked');
  assert.equal(standingAfter(grant, revocation, message('C2', 'granted', 6)), 'granted');
});

test('a denial ends the grants decided before it, and a later grant under a new id stands', () => {
  assert.equal(standingAfter(message('C1', 'granted', 1), message('C2', 'denied', 2)), 'denied');
  assert.equal(standingAfter(message('C2', 'denied', 2), message('C1', 'granted', 1)), 'denied');
  assert.equal(standingAfter(message('C2', 'denied', 2), message('C3', 'granted', 3)), 'granted');
});

test('a grant that is too old for the share does not stand', () => {
  const book = new ConsentBook();
  book.add(message('C1', 'granted', 0));
  const validForMs = 60_000;
  assert.equal(book.standing('S1', '1A', { nowMs: T0 + 60_000, validForMs }).kind, 'granted');
  assert.equal(book.standing('S1', '1A', { nowMs: T0 + 60_001, validForMs }).kind, 'tooOld');
});

test('another applicant, another share and another secondary user are kept apart', () => {
  assert.equal(standingAfter(message('C1', 'granted', 1, '2A')), 'none');
});

test('a consent names a secondary user by its code, and by its name only where the share has no code', () => {
  const [code, name, both] = [{ endUserCode: 'A' }, { endUser: 'Bank' }, { endUserCode: 'A', endUser: 'Bank' }];
  assert.deepEqual(
    [isForUser(code, code), isForUser(name, name), isForUser(both, both)],
    [true, true, true],
    'the same names',
  );
  assert.equal(isForUser(code, both), true);
  assert.equal(isForUser(both, code), true, 'the code is named, and nothing differs');
  assert.equal(isForUser(name, both), false, 'the code is not named');
  assert.equal(isForUser(name, code), false);
  assert.equal(isForUser(both, name), false, 'the share has no such code');
  assert.equal(isForUser({ endUserCode: 'B' }, code), false);
  assert.equal(isForUser({ ...both, endUser: 'Other' }, both), false);
  assert.equal(isForUser({}, code), false);
  assert.equal(isForUser({}, {}), false);
});

test('no sequence of messages leaves a grant standing that its consumer took back', () => {
  const messages = fc.array(
    fc.record({
      consentId: fc.constantFrom('C1', 'C2', 'C3'),
      decision: fc.constantFrom('granted' as const, 'denied' as const, 'revoked' as const),
      minute: fc.integer({ min: 0, max: 6 }),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(messages, (list) => {
      const records = list.map(({ consentId, decision, minute }) => message(consentId, decision, minute));
      if (standingAfter(...records) !== 'granted') return true;
      const seen = records.filter(
        (one, index) =>
          records.findIndex((two) => two.consentId === one.consentId && two.decision === one.decision) === index,
      );
      // A grant remains that no revocation names by its id and that no denial of the same or a later date ends.
      return seen.some(
        (grant) =>
          grant.decision === 'granted' &&
          !seen.some((other) => other.decision === 'revoked' && other.consentId === grant.consentId) &&
          !seen.some((other) => other.decision === 'denied' && other.decidedAt >= grant.decidedAt),
      );
    }),
    { numRuns: 2_000 },
  );
});

describe('a grant of which it is not known yet whether it counts', () => {
  const grant = message('C1', 'granted', 5);
  const standing = (book: ConsentBook) => book.standing('S1', '1A', { nowMs: T0 + 3_600_000 }).kind;

  test('permits nothing until it is accepted, and is recorded only then', () => {
    const book = new ConsentBook();
    book.addPending(grant);
    assert.deepEqual([standing(book), book.has(grant), book.all().length], ['none', false, 0]);
    assert.equal(book.accept(grant), true);
    assert.deepEqual([standing(book), book.has(grant), book.all().length], ['granted', true, 1]);
    assert.equal(book.accept(grant), false);
  });

  test('is as if it had never come once it is refused, and may come again', () => {
    const book = new ConsentBook();
    book.addPending(grant);
    book.refuse(grant);
    assert.deepEqual([standing(book), book.size], ['none', 0]);
    assert.equal(book.accept(grant), false);
    const again = { ...grant };
    book.addPending(again);
    assert.equal(book.accept(again), true);
    assert.equal(standing(book), 'granted');
  });

  test('gives way to another under its key that was accepted first', () => {
    const book = new ConsentBook();
    const other = { ...grant };
    book.addPending(grant);
    book.addPending(other);
    assert.equal(book.accept(other), true);
    assert.equal(book.accept(grant), false);
    assert.equal(book.size, 1);
  });

  test('is ended by a revocation that came while it was judged', () => {
    const book = new ConsentBook();
    book.addPending(grant);
    book.add(message('C1', 'revoked', 6));
    book.accept(grant);
    assert.equal(standing(book), 'revoked');
  });

  test('is known to a revocation of it, which leaves the others, unless it is refused', () => {
    for (const [isGood, expected] of [
      [true, 'granted'],
      [false, 'revoked'],
    ] as const) {
      const book = new ConsentBook();
      book.add(message('C0', 'granted', 1));
      book.addPending(grant);
      book.add(message('C1', 'revoked', 6));
      if (isGood) book.accept(grant);
      else book.refuse(grant);
      assert.equal(standing(book), expected);
    }
  });
});
