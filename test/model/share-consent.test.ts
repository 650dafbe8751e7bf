/** Tests the state of a share for each combination of its applicants' answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApplicantStanding } from '../../src/consent/consent-record.ts';
import { judgeConsents } from '../../src/workflows/consent/share-record.ts';

const IDS = ['1A', '2A', '3A'];
const STANDS = ['none', 'granted', 'denied', 'revoked'] as const;
const OPEN = { isBlocked: false, nowMs: 0 };

function told(answers: readonly (typeof STANDS)[number][]): ApplicantStanding[] {
  return answers.map((stands, nth) => {
    const applicantId = IDS[nth] ?? '';
    const key = { journeyId: 'J', shareId: 'S1', applicantId, consentId: `C-${applicantId}` };
    const since = '2026-01-01T00:00:00Z';
    if (stands === 'granted') return { applicantId, stands, since, grant: { ...key, receivedAt: since } };
    return stands === 'none' ? { applicantId, stands } : { applicantId, stands, since };
  });
}

test('a share of three applicants is refused by any refusal and granted only by all three', () => {
  for (const one of STANDS) {
    for (const two of STANDS) {
      for (const three of STANDS) {
        const answers = [one, two, three];
        const name = answers.join();
        const open = IDS.filter((_, nth) => answers[nth] !== 'granted');
        const refusal = answers.find((answer) => answer === 'denied' || answer === 'revoked');
        const consent = judgeConsents(told(answers), IDS, OPEN);
        assert.deepEqual(consent.missing, open, name);
        const expected = answers.includes('denied') ? 'denied' : (refusal ?? (open.length > 0 ? 'waiting' : 'granted'));
        assert.equal(consent.kind, expected, name);
        const named = consent.grants.map(({ applicantId }) => applicantId);
        assert.deepEqual([...named, ...open].sort(), IDS, name);
      }
    }
  }
});

test('a refusal on its way to the ledger keeps a granted share waiting', () => {
  assert.equal(
    judgeConsents(told(['granted', 'granted', 'granted']), IDS, { ...OPEN, isBlocked: true }).kind,
    'waiting',
  );
  assert.equal(judgeConsents([], [], OPEN).kind, 'waiting', 'nobody has consented');
});
