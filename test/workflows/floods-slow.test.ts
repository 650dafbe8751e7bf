/** Floods as large as Temporal lets them be, with everything as it is configured by default. Minutes long. */
import { after, before, test } from 'node:test';
import { floodedJourney } from '../support/floods.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness.close());

test('after 10,001 signals that make no sense a revocation and a decision get through', () =>
  floodedJourney({ harness, consents: 0, signals: 10_001 }));

test('after 20,000 consents a revocation and a decision get through', () =>
  floodedJourney({ harness, consents: 20_000, signals: 0 }));
