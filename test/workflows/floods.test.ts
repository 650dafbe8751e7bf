/** A small flood. floods-slow.test.ts sends as many messages as Temporal accepts. */
import { after, before, test } from 'node:test';
import { startTemporalServer, type TemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { floodedJourney, HANDS_OVER_SOON } from '../support/floods.ts';
import { type Harness, startHarness } from '../support/journey-harness.ts';

let server: TemporalServer;
let harness: Harness;

before(async () => {
  // By default a server accepts 10,000 signals in one run.
  server = await startTemporalServer({ headless: true, dynamicConfig: { 'history.maximumSignalsPerExecution': 200 } });
  harness = await startHarness({ server, env: HANDS_OVER_SOON });
});

after(async () => {
  await harness?.close();
  await server?.stop();
});

test('a revocation and a decision are processed after more consents and invalid signals than one run takes', () =>
  floodedJourney({ harness, consents: 300, signals: 250 }));
