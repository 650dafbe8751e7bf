/** A flood in small: what floods-slow.test.ts does with as many messages as Temporal takes. */
import { after, before, test } from 'node:test';
import { floodedJourney, HANDS_OVER_SOON } from '../support/floods.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: HANDS_OVER_SOON });
});
after(() => harness.close());

test('after 300 consents and 250 signals that make no sense a revocation and a decision get through', () =>
  floodedJourney({ harness, consents: 300, signals: 250 }));
