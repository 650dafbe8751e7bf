import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lateConsentWorkflowId, updateIds } from '../../src/client/business-keys.ts';
import { consentMessage } from '../support/journey-harness.ts';

test('a message sent again has the same id, and another one another', () => {
  const consent = consentMessage('J1', { applicantId: '1A', consentId: 'C-1' });
  assert.equal(updateIds.recordConsent(consent), 'consent-S1-1A-C-1-granted');
  const proved = ['a.b.c', 'a.b.d'].map((proof) => updateIds.recordConsent({ ...consent, proof }));
  assert.match(proved[0] ?? '', /^consent-S1-1A-C-1-granted-[0-9a-f]{16}$/);
  assert.notEqual(proved[0], proved[1]);
  const who = { journeyId: 'J1', by: 'ops', reason: 'the closing was put off' };
  assert.deepEqual(
    [
      updateIds.advance({ journeyId: 'J1', to: 'PREAPP' }),
      updateIds.advance({ ...who, to: 'PREAPP', acceptAge: true }),
      updateIds.advance({ ...who, repeat: 'PREAPP', occurrence: 2 }),
    ],
    ['advance-PREAPP-1', 'advance-PREAPP-1-acceptAge', 'advance-PREAPP-2'],
  );
  const ids = [
    consent,
    { ...consent, decidedAt: '2026-01-01T00:00:00Z' },
    { ...consent, decision: 'denied' as const },
  ].map(lateConsentWorkflowId);
  assert.match(ids[0] ?? '', /^late-consent-J1-[0-9a-f]{16}$/);
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
});
