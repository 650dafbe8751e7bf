/** Floods as large as Temporal allows. The tests take minutes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { startTemporalServer, type TemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { floodedJourney } from '../support/floods.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  consentMessage,
  type Harness,
  journeyInput,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { patiently } from '../support/patiently.ts';

/**
 * By default the server accepts 10,000 signals in one run. While signals never stop, it lets no run continue as new.
 * The one workflow task that gets them all has 10 s, too little for a slow machine (docs/journeys.md). So a run accepts
 * fewer here; flood-in-one-task-slow.test.ts has a task of 10,000.
 */
const MOST_SIGNALS_IN_A_RUN = 3_000;
/** The server's own limit. */
const MOST_UPDATES_IN_A_RUN = 2_000;

let server: TemporalServer | undefined;
let harness: Harness;
before(async () => {
  const dynamicConfig = { 'history.maximumSignalsPerExecution': MOST_SIGNALS_IN_A_RUN };
  server = await startTemporalServer({ headless: true, dynamicConfig });
  harness = await startHarness({ server });
});
after(async () => {
  await harness?.close();
  await server?.stop();
});

test('a revocation and a decision are processed after 10,001 invalid signals', () =>
  floodedJourney({ harness, consents: 0, signals: 10_001 }));

test('fifty updates at once are processed, although the server accepts ten in flight', async () => {
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

test('a revocation and a decision are processed after 20,000 consents', () =>
  floodedJourney({ harness, consents: 20_000, signals: 0 }));

test('a run of the largest HAND_OVER_AFTER_EVENTS takes more updates than the server accepts in one run', async (t) => {
  const largest = await startHarness({ server, env: { HAND_OVER_AFTER_EVENTS: '7500' } });
  t.after(() => largest.close());
  assert.throws(() => loadConfig({ HAND_OVER_AFTER_EVENTS: '7501' }), /HAND_OVER_AFTER_EVENTS/);
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'] });
  const handle = await largest.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const { journeyId } = input;
  let left = MOST_UPDATES_IN_A_RUN;
  const send = async () => {
    while (left-- > 0) await update(handle, 'advance', { journeyId, to: 'PRECLOSE' });
  };
  await Promise.all(Array.from({ length: 8 }, send));
  await update(handle, 'withdraw', { journeyId, by: 'borrower', reason: 'bought elsewhere' });
  assert.equal((await handle.result()).outcome, 'withdrawn');
});
