/** A journey whose stage is pulled so often that no search attribute can list all trace numbers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Harness, journeyInput, startHarness, untilStatus, update } from '../support/journey-harness.ts';

/** The server takes 2 kB for an attribute: 66 trace numbers, of which the gate's stage has one. */
const PULLS = 70;

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(async () => {
  await harness?.close();
});

test('a stage may be pulled more often than a search attribute can list', async () => {
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  for (let occurrence = 2; occurrence <= PULLS; occurrence++) {
    await update(handle, 'advance', { journeyId, repeat: 'PREQUAL', occurrence, by: 'ops', reason: 'again' });
  }
  const { stages } = await untilStatus(handle, ({ state, stages }) => {
    return state === 'waitingAtGate' && stages.at(-2)?.state === 'record';
  });
  assert.equal(stages.length, PULLS + 1);
  await update(handle, 'withdraw', { journeyId, by: 'ops', reason: 'enough' });
  assert.equal((await handle.result()).outcome, 'withdrawn');
});
