import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toLateConsentWorkflowId, toUpdateId } from '../../src/client/connection/run-messages.ts';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import { consentMessage } from '../support/journey-harness.ts';

test('a business key identifies the subject of a message and contains nothing of its content', () => {
  const consent = consentMessage('J1', { applicantId: '1A', consentId: 'C-1' });
  assert.equal(MESSAGES.consent.toKey('recordConsent', consent), 'consent-S1-1A-C-1-granted');
  assert.equal(MESSAGES.consent.toKey('recordConsent', { ...consent, proof: 'a.b.c' }), 'consent-S1-1A-C-1-granted');
  const who = { journeyId: 'J1', by: 'ops', reason: 'the closing was put off' };
  assert.deepEqual(
    [
      MESSAGES.advance.toKey('advance', { journeyId: 'J1', to: 'PREAPP' }),
      MESSAGES.advance.toKey('advance', { ...who, to: 'PREAPP', acceptAge: true }),
      MESSAGES.advance.toKey('advance', { ...who, repeat: 'PREAPP', occurrence: 2 }),
    ],
    ['advance-PREAPP-1', 'advance-PREAPP-1-acceptAge', 'advance-PREAPP-2'],
  );
});

test('each message has its own random id, which a retry of the message keeps', () => {
  assert.match(toUpdateId('withdraw'), /^withdraw-[0-9a-f-]{36}$/);
  assert.equal(toUpdateId('withdraw', 'm-1'), 'withdraw-m-1');
  const ids = [undefined, 'm-1', 'm-1'].map((messageId) => toLateConsentWorkflowId('J1', messageId));
  for (const id of ids) assert.match(id, /^late-consent-J1-[0-9a-f]{16}$/);
  assert.deepEqual([ids[0] === ids[1], ids[1] === ids[2]], [false, true]);
});
