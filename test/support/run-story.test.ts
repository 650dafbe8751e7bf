/** The error of a wait that times out (run-story.ts). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Harness, journeyInput, startHarness, untilStatus } from './journey-harness.ts';

let harness: Harness;

before(async () => {
  harness = await startHarness();
});
after(() => harness?.close());

test('the error of a wait that times out has the run’s history, its rows in the ledger and the last log lines', async () => {
  const input = journeyInput();
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const error = await untilStatus(handle, () => false, 0).catch((reason: Error) => reason);
  assert.ok(error instanceof Error);
  assert.match(error.message, /waited in vain; status is \{/);
  assert.match(error.message, /history of journey-T-/);
  assert.match(error.message, /activity task scheduled: .*name prepareJourney/);
  assert.match(error.message, /attempts: customer_trace_number /);
  assert.match(error.message, /last \d+ log lines of this process:\n +\{"level"/);
});
