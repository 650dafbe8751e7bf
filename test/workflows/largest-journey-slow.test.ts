/** A journey whose fields all have their greatest length, and whose state is too large to continue as new. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Applicant } from '../../src/model/applicant.ts';
import { floodWithNonsense, HANDS_OVER_SOON } from '../support/floods.ts';
import {
  consentMessage,
  type Harness,
  journeyInput,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';

const APPLICANTS = 99;

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: { ...HANDS_OVER_SOON, GATEWAY_MAX_APPLICANTS: String(APPLICANTS) } });
});
after(async () => {
  await harness?.close();
});

function largest(_: unknown, index: number): Applicant {
  const times = <T>(entry: T) => Array.from({ length: 20 }, () => entry);
  const number = String(index + 1).padStart(2, '0');
  return {
    applicantId: number,
    ssn: `9000000${number}`,
    dob: '1985-04-12',
    emailAddress: `${'x'.repeat(68)}@example.com`,
    ipAddress: '2001:0db8:0000:0000:0000:0000:0000:0001',
    names: times({ first: 'F'.repeat(30), middle: 'M'.repeat(30), last: 'L'.repeat(30), gen: 'J' }),
    phones: times({ phoneNumber: '2025550123', phoneType: 'MOBL' }),
    addresses: times({
      ...{ addressIdentifier: 'C', line1: '1'.repeat(40), line2: '2'.repeat(40), city: 'C'.repeat(30) },
      ...{ state: 'IL', zip: '62704', zip4: '1234' },
    }),
  };
}

test('the largest journey comes to its end after so many messages that it would continue as new', async () => {
  const applicants = Array.from({ length: APPLICANTS }, largest);
  const shareId = 's'.repeat(40);
  const shares = [{ shareId, endUserCode: 'EU999' }];
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], applicants, shares });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  await floodWithNonsense(handle, 110);
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  for (const { applicantId } of applicants) {
    const consentId = `${'c'.repeat(62)}${applicantId}`;
    await update(handle, 'recordConsent', consentMessage(journeyId, { shareId, applicantId, consentId }));
  }
  assert.equal((await handle.result()).outcome, 'completed');
  assert.equal((await statusOf(handle)).shares[0]?.state, 'posted');
});
