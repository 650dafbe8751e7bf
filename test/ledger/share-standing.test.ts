import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import type { StoredConsent } from '../../src/ledger/records.ts';
import { standingConsents } from '../../src/ledger/share-standing.ts';
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
