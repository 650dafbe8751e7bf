/** The client follows a journey across continue-as-new. test/workflows/hand-over-twins-slow tests the other kinds. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CreditJourneys, JourneyHandle } from '../../src/client.ts';
import { floodWithNonsense, HANDS_OVER_SOON, untilNextRun } from '../support/floods.ts';
import { connectTo } from '../support/harness-client.ts';
import { consentMessage, type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';

let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  harness = await startHarness({ env: HANDS_OVER_SOON });
  journeys = await connectTo(harness);
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

async function handsOver({ workflowId }: { workflowId: string }): Promise<void> {
  const handle = harness.client.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  await floodWithNonsense(handle, 110);
  await untilNextRun(handle, runId);
}

async function until(run: JourneyHandle, state: string): Promise<void> {
  for await (const status of run.watch()) if (status.state === state) return;
  throw new Error(`it ended before it was ${state}`);
}

test('the client follows a journey across continue-as-new, and a repeated start finds the journey', async () => {
  const share = { shareId: 'S1', endUserCode: 'EU999' };
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares: [share] });
  const journey = await journeys.start(input);
  await until(journey, 'waitingAtGate');
  const seen: string[] = [];
  const watched = (async () => {
    for await (const { state } of journey.watch()) seen.push(state);
  })();
  const result = journey.result();
  await handsOver(journey);
  assert.equal((await journey.status()).state, 'waitingAtGate');
  const again = await journeys.start(input);
  assert.equal(again.workflowId, journey.workflowId);
  await again.advance({ to: 'PREAPP' });
  await until(journey, 'waitingForConsent');
  await handsOver(journey);
  assert.equal((await journey.references()).references.length, 2);
  const { journeyId: _, ...grant } = consentMessage('', { applicantId: '1A' });
  const answer = await journey.recordConsent(grant);
  assert.equal(answer.late, false);
  assert.equal((await result).outcome, 'completed');
  await watched;
  assert.equal(seen.at(-1), 'completed');
});
