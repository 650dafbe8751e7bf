/** What a run's first worker played, every later one must be able to play again: the SDK has places where that is not so. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Worker } from '@temporalio/worker';
import type { CreditJourneys } from '../../src/client.ts';
import { resetTo, taskOfMessage } from '../hazards/operator-hands.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { workflowBundle } from '../support/temporal.ts';

const AT_ONCE = 8;
const WATCHERS = 3;
const APPLICANTS = ['1A', '2A'];
const SHARES = ['S1', 'S2'];

let harness: Harness;
let journeys: CreditJourneys;
before(async () => {
  harness = await startHarness();
  journeys = await connectTo(harness);
});
after(async () => {
  await journeys?.close();
  await harness?.close();
});

async function drained(statuses: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of statuses);
}

/** Returns the history of a journey that was watched. */
async function historyOfWatched() {
  const input = journeyInput({
    stages: ['PREQUAL'],
    applicants: APPLICANTS.map((applicantId) => applicant(applicantId)),
    shares: SHARES.map((shareId) => ({ shareId, endUserCode: 'EU999' })),
  });
  const journey = await journeys.start(input);
  const ended = new AbortController();
  const watched = Promise.all(Array.from({ length: WATCHERS }, () => drained(journey.watch(ended))));
  for (const shareId of SHARES) {
    for (const applicantId of APPLICANTS) {
      const { journeyId: _, ...message } = consentMessage('', { shareId, applicantId });
      await journey.recordConsent(message);
    }
  }
  await journey.result();
  ended.abort();
  await watched;
  return harness.client.workflow.getHandle(`journey-${input.journeyId}`).fetchHistory();
}

/**
 * A query may come in any workflow task. The SDK ended such tasks with a local activity's marker and before its result
 * (docs/decisions/journeys.md, 43).
 */
test('runs whose status is asked for all the time, while consents come, replay', async (t) => {
  const histories = await Promise.all(Array.from({ length: AT_ONCE }, historyOfWatched));
  const replayed = Worker.runReplayHistories(
    { workflowBundle: await workflowBundle() },
    histories.map((history, index) => ({ workflowId: `journey ${index}`, history })),
  );
  for await (const { workflowId, error } of replayed) {
    await t.test(workflowId, () => {
      if (error) throw error;
    });
  }
});

/** The SDK plays admitted updates in their place among the signals at first, and after all signals in a replay. */
test('a run that was reset to before updates and signals replays', async () => {
  const applicants = APPLICANTS.map((applicantId) => applicant(applicantId));
  const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'], applicants, shares }));
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const { journeyId } = await statusOf(handle);
  const [first = '1', second = '2'] = APPLICANTS;
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await handle.signal('consent', consentMessage(journeyId, { applicantId: first }));
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: second }));
  const again = await resetTo(harness, handle, await taskOfMessage(handle, 'advance'));
  assert.equal((await again.result()).shares[0]?.state, 'posted');
  const history = await again.fetchHistory();
  const kinds = history.events?.flatMap(({ workflowExecutionUpdateAdmittedEventAttributes: update, ...event }) =>
    update ? ['update'] : event.workflowExecutionSignaledEventAttributes ? ['signal'] : [],
  );
  assert.deepEqual(kinds, ['update', 'signal', 'update'], 'they came in one task');
  await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history);
});
