import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConsentBook } from '../../src/consent/consent-book.ts';
import type { ConsentRecord, RefusalElsewhere } from '../../src/consent/consent-record.ts';
import type { StoredConsent } from '../../src/ledger/records.ts';
import { standingConsents, tellableConsents } from '../../src/ledger/shares/share-standing.ts';
import { consentOf } from './fixtures.ts';

const SHARE = { shareId: 'S-9', endUserCode: 'EU2', endUser: 'Example Bank' };
const OWNERS = ['share:S-9', 'J-1'];

/** Said to the share itself, unless it says otherwise. */
function said(change: Partial<ConsentRecord>, more: Partial<StoredConsent> = {}): StoredConsent {
  return { consent: consentOf({ journeyId: 'share:S-9', shareId: 'S-9', ...change }), ...more };
}

function judged(stored: StoredConsent[], consentTrust: 'namespace' | 'proof' = 'namespace') {
  const { own, elsewhere } = standingConsents(stored, { ...SHARE, owners: OWNERS, consentTrust });
  return { own: own.map(({ consentId, decision }) => `${consentId} ${decision}`), elsewhere };
}

describe('what was said about sharing a report', () => {
  test('grants for this share, its secondary user and no posting of another’s', () => {
    const { own } = judged([
      said({ consentId: 'A' }),
      said({ consentId: 'B', journeyId: 'J-1' }),
      said({ consentId: 'C', journeyId: 'J-1' }, { usedBy: 'J-1' }),
      said({ consentId: 'D', secondaryUser: { endUserCode: 'EU3' } }),
      said({ consentId: 'E', journeyId: 'J-1', shareId: 'S1' }),
      said({ consentId: 'F', secondaryUser: { endUserCode: 'EU3' }, decision: 'denied' }),
    ]);
    assert.deepEqual(own, ['A granted', 'B granted', 'F denied']);
  });

  test('grants nothing without a proof where one is asked for, and tells no proof again', () => {
    const stored = [said({ consentId: 'A' }), said({ consentId: 'B', proof: 'a.b.c' }), said({ decision: 'denied' })];
    assert.deepEqual(judged(stored, 'proof').own, ['B granted', 'C-1 denied']);
    const [first] = standingConsents(stored, { ...SHARE, owners: OWNERS, consentTrust: 'proof' }).own;
    assert.equal(first?.proof, undefined);
  });

  test('refuses what stands refused elsewhere for what may be the same secondary user', () => {
    const elsewhere = (...consents: Partial<ConsentRecord>[]) =>
      judged(consents.map((one) => said({ journeyId: 'J-1', shareId: 'S1', ...one }))).elsewhere.map(
        ({ decision, decidedAt }) => `${decision} ${decidedAt}`,
      );
    const at = (day: number) => ({ decidedAt: `2026-01-0${day}T00:00:00Z`, receivedAt: `2026-01-0${day}T00:00:01Z` });
    assert.deepEqual(elsewhere({ ...at(2), decision: 'denied' }), ['denied 2026-01-02T00:00:00Z']);
    assert.deepEqual(elsewhere({ ...at(2), decision: 'denied', secondaryUser: { endUserCode: 'EU3' } }), []);
    assert.deepEqual(elsewhere({ ...at(2), decision: 'denied', secondaryUser: { endUser: 'Example Bank' } }), [
      'denied 2026-01-02T00:00:00Z',
    ]);
    // Granted again since, the refusal does not stand even there.
    const again = { ...at(3), consentId: 'C-2' };
    assert.deepEqual(elsewhere(at(1), { ...at(2), decision: 'revoked' }), ['revoked 2026-01-02T00:00:00Z']);
    assert.deepEqual(elsewhere(at(1), { ...at(2), decision: 'revoked' }, again), []);
  });
});

describe('what of it a run is told', () => {
  const many = (count: number, change: (index: number) => Partial<ConsentRecord>) =>
    Array.from({ length: count }, (_, index) => {
      const at = new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString();
      return said({ applicantId: '1A', consentId: `C${index}`, decidedAt: at, receivedAt: at, ...change(index) })
        .consent;
    });
  const told = (own: ConsentRecord[], elsewhere: RefusalElsewhere[] = []) =>
    tellableConsents({ own, elsewhere }, { shareId: 'S-9', applicantIds: ['1A'] });

  test('is everything, unless it is very much', () => {
    const own = many(500, () => ({}));
    assert.deepEqual(told(own).own, own);
  });

  test('stays far below 2 MB, whatever was said and of whom', () => {
    const evidence = {
      method: 'web',
      textVersion: 'v1',
      capturedAt: '2026-01-01T00:00:00Z',
      reference: 'r'.repeat(200),
    };
    const own = many(20_000, (index) => (index % 2 ? { evidence, applicantId: `${index}A` } : { decision: 'denied' }));
    const elsewhere = many(20_000, () => ({})).map(
      ({ applicantId, decidedAt }): RefusalElsewhere => ({ applicantId, decision: 'denied', decidedAt }),
    );
    const found = told(own, elsewhere);
    assert.ok(JSON.stringify(found).length < 10_000);
    assert.deepEqual(found.elsewhere, elsewhere.slice(-1));
  });

  test('leaves the applicant standing as all of it does', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const kinds = new Set<string>();
    for (let round = 0; round < 100; round++) {
      const own = many(501 + random(20), (index) => ({
        consentId: `C${random(round % 3 ? 400 : 20)}`,
        decision: (['granted', 'granted', 'denied', 'revoked'] as const)[index < 480 ? 0 : random(4)] ?? 'granted',
        decidedAt: new Date(Date.UTC(2026, 0, 1) + random(600) * 1_000).toISOString(),
      }));
      const standing = (consents: ConsentRecord[], validForMs: number) => {
        const book = new ConsentBook();
        book.learn('S-9', { own: consents, elsewhere: [] });
        return book.standing('S-9', '1A', { nowMs: Date.UTC(2026, 0, 1) + 600_000, validForMs });
      };
      const few = told(own).own;
      assert.ok(few.length < 100, String(few.length));
      for (const validForMs of [1_000, 60_000, 1_000_000]) {
        assert.deepEqual(standing(few, validForMs), standing(own, validForMs), `round ${round}`);
        kinds.add(standing(own, validForMs).kind);
      }
    }
    assert.deepEqual([...kinds].sort(), ['denied', 'granted', 'revoked', 'tooOld']);
  });
});
