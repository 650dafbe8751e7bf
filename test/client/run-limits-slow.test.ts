/** Temporal refuses messages if a run has had too many. None of them is lost without an error. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hasCode } from '../../src/client/connection/errors.ts';
import type { ConsentMessage, CreditJourneys } from '../../src/client.ts';
import { startTemporalServer, type TemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { connectTo } from '../support/harness-client.ts';
import { consentMessage, type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { patiently } from '../support/patiently.ts';

let server: TemporalServer;
let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  // The server is configured like a real one, except for its limit of 10 updates in flight.
  server = await startTemporalServer({
    headless: true,
    dynamicConfig: { 'history.maxInFlightUpdates': 1 },
  });
  harness = await startHarness({ server });
  journeys = await connectTo(harness, { queryTimeoutMs: 20_000 });
});

after(async () => {
  await journeys?.close();
  await harness?.close();
  await server?.stop();
});

const share = { shareId: 'S1', endUserCode: 'EU999' };

function said(decision: ConsentMessage['decision'], consentId: string): Omit<ConsentMessage, 'journeyId'> {
  const { journeyId: _, ...message } = consentMessage('', { applicantId: '1A', decision, consentId });
  return message;
}

/** Starts a journey that waits at its first gate, and stops the worker. */
async function leftAlone() {
  // An earlier test may have failed while the worker was stopped.
  await harness.startWorker();
  const journey = await journeys.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares: [share] }));
  for await (const { state } of journey.watch()) if (state === 'waitingAtGate') break;
  await harness.stopWorker();
  return journey;
}

test('updates beyond the server’s limit for a run are all accepted in the end', async () => {
  const journey = await journeys.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares: [share] }));
  const consents = Array.from({ length: 12 }, (_, index) =>
    patiently((messageId) => journey.recordConsent(said('denied', `C${index}`), { messageId })),
  );
  const withdrawal = { by: 'borrower', reason: 'bought elsewhere' };
  const answers = await Promise.all([
    ...consents,
    patiently((messageId) => journey.withdraw(withdrawal, { messageId })),
  ]);
  assert.ok(answers.every(({ accepted }) => accepted));
  assert.equal((await journey.result()).outcome, 'withdrawn');
});

test('a revocation is recorded in the ledger if Temporal refuses its update, and a refused grant is reported', async () => {
  // The run has place for one update. The server may drop it while no worker runs, and then accept another one.
  let isKeptOut = false;
  for (let tries = 0; !isKeptOut && tries < 5; tries++) {
    const journey = await leftAlone();
    const first = journey.recordConsent(said('denied', 'C1'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    const revoked = journey.recordConsent(said('revoked', 'C2'));
    const granted = await journey.recordConsent(said('granted', 'C3')).catch((error: unknown) => error);
    // A separate workflow records the refusal in the ledger. It also waits for a worker.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await harness.startWorker();
    const refusals = await Promise.all([first, revoked]);
    assert.ok(refusals.every(({ accepted }) => accepted));
    isKeptOut = refusals.filter(({ late }) => late).length === 1 && hasCode(granted, 'tooManyMessages');
    await journey.withdraw({ by: 'test', reason: 'done' });
    await journey.result();
  }
  assert.ok(isKeptOut);
});

test('an update that a worker received and did not answer is sent again', async () => {
  const journey = await leftAlone();
  const answer = journey.recordConsent(said('denied', 'C1'));
  const { connection, workflowService, options } = harness.client;
  const { namespace } = options;
  const identity = 'a worker that answers no message';
  const poll = () =>
    connection.withDeadline(Date.now() + 60_000, () =>
      workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: harness.config.taskQueue }, identity }),
    );
  let task = await poll();
  while (task.messages?.length === 0) task = await poll();
  await workflowService.respondWorkflowTaskCompleted({ namespace, identity, taskToken: task.taskToken, commands: [] });
  await harness.startWorker();
  assert.equal((await answer).accepted, true);
  await journey.withdraw({ by: 'test', reason: 'done' });
  await journey.result();
});
