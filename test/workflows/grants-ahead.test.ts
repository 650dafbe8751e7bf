/** A late grant that is dated in the future: a run refuses such a one, since it would outlast a refusal. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CreditJourneys } from '../../src/client.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { connectWithLedger } from '../support/ledger-access.ts';

let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  harness = await startHarness();
  ({ journeys } = await connectWithLedger(harness));
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

test('no share is posted after a denial was acknowledged, however a grant from before the start is dated', async () => {
  const share = { shareId: 'S1', endUserCode: 'EU999', consentValidFor: 'P1D', awaitConsentFor: 'PT5S' };
  const input = journeyInput({ stages: ['PREQUAL'], shares: [share] });
  const { journeyId } = input;
  const tell = ({ journeyId: _, ...message }: ConsentMessage) => journeys.get(journeyId).recordConsent(message);
  const nextYear = new Date(Date.now() + 365 * 86_400_000).toISOString();
  const grant = consentMessage(journeyId, { applicantId: '1A', decidedAt: nextYear });
  await assert.rejects(tell(grant), { refusalCause: 'inFuture' });
  const denied = await tell(
    consentMessage(journeyId, { applicantId: '1A', decision: 'denied', decidedAt: new Date().toISOString() }),
  );
  assert.deepEqual([denied.accepted, denied.recorded], [true, true]);
  const handle = await harness.start(input);
  const { shares } = await handle.result();
  assert.equal(shares[0]?.state, 'denied');
});

test('nor of one whose sender’s clock is ahead by less than a run tolerates', async () => {
  const share = { shareId: 'S1', endUserCode: 'EU999', awaitConsentFor: 'PT20S' };
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A'), applicant('2A')], shares: [share] });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  const ahead = new Date(Date.now() + 4 * 60_000).toISOString();
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A', decidedAt: ahead }));
  const denial = consentMessage(journeyId, {
    applicantId: '1A',
    decision: 'denied',
    decidedAt: new Date().toISOString(),
  });
  const denied = await update(handle, 'recordConsent', denial);
  assert.equal((denied as { recorded?: boolean }).recorded, true);
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '2A' })).catch(() => undefined);
  const { shares } = await handle.result();
  assert.equal(shares[0]?.state, 'denied');
});
