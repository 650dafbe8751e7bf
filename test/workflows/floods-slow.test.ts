/** Floods as large as Temporal lets them be, with everything as it is configured by default. Minutes long. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { floodedJourney } from '../support/floods.ts';
import { connectTo } from '../support/harness-client.ts';
import { consentMessage, type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { patiently } from '../support/patiently.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness.close());

test('after 10,001 signals that make no sense a revocation and a decision get through', () =>
  floodedJourney({ harness, consents: 0, signals: 10_001 }));

test('fifty updates at once, of which the server takes ten in flight, get through one after the other', async () => {
  const journeys = await connectTo(harness);
  try {
    const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares }));
    const consents = Array.from({ length: 50 }, () => {
      const { journeyId: _, ...message } = consentMessage('', { applicantId: '1A', decision: 'denied' });
      return patiently((messageId) => journey.recordConsent(message, { messageId }));
    });
    const answers = await Promise.all(consents);
    assert.ok(answers.every(({ accepted }) => accepted));
    await journey.withdraw({ by: 'borrower', reason: 'bought elsewhere' });
    assert.equal((await journey.result()).outcome, 'withdrawn');
  } finally {
    await journeys.close();
  }
});

test('after 20,000 consents a revocation and a decision get through', () =>
  floodedJourney({ harness, consents: 20_000, signals: 0 }));
