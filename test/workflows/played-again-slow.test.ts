/** Extends `played-again.test.ts` to races of queries and workflow tasks. Only some of the runs meet the race. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import type { CreditJourneys } from '../../src/client.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  startHarness,
  untilStatus,
} from '../support/journey-harness.ts';
import { MESSAGE_MS } from '../support/short-timeouts.ts';
import { assertReplays, workflowBundle } from '../support/temporal.ts';

const AT_ONCE = 8;
const WATCHERS = 3;
/** The query wins in about half of the races. */
const RACES = 4;
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

/** Sends a message that waits at the server, and returns the answer to await once a worker runs. */
async function sendToNoWorker<T>(send: () => Promise<T>): Promise<{ answer: Promise<T> }> {
  const answer = send();
  answer.catch(() => undefined);
  await sleep(MESSAGE_MS);
  return { answer };
}

/** Returns the history of a journey whose status was watched. */
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
 * A query may arrive in any workflow task. The SDK completed such tasks with the marker of a local activity but before
 * its result (docs/decisions/journeys.md, 43).
 */
test('runs replay if their status is queried all the time while consents arrive', async (t) => {
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

/** For a waiting query, core replays messages that no workflow task has yet. The query races with the task. */
test('runs replay if their messages came while a query waited for a worker', async () => {
  const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
  const inputs = Array.from({ length: RACES }, () => journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares }));
  const runs = await Promise.all(
    inputs.map(async (input) => {
      const journey = await journeys.start(input);
      const handle = harness.client.workflow.getHandle(journey.workflowId) as JourneyHandle;
      await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
      return { journey, handle };
    }),
  );
  await harness.stopWorker();
  const asked = await sendToNoWorker(() => Promise.all(runs.map(({ journey }) => journey.status())));
  // The server keeps a query for the run's last worker until it notices that the worker has stopped.
  await sleep(2 * MESSAGE_MS);
  const advanced = await sendToNoWorker(() =>
    Promise.all(runs.map(({ journey }) => journey.advance({ to: 'PREAPP' }))),
  );
  for (const { journey, handle } of runs) {
    await handle.signal('consent', consentMessage(journey.journeyId, { applicantId: '1A' }));
  }
  await harness.startWorker();
  await Promise.all([asked.answer, advanced.answer]);
  for (const { handle } of runs) {
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
    await assertReplays(handle);
  }
});
