/** What a run's first worker played, every later one must be able to play again: the SDK has places where that is not so. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { decisionAbout, eventsOf, resetTo, taskOfMessage } from '../hazards/operator-hands.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { lockLedger } from '../support/ledger-access.ts';
import { MESSAGE_MS } from '../support/short-timeouts.ts';
import { assertReplays } from '../support/temporal.ts';

const APPLICANTS = ['1A', '2A'];

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(async () => {
  await harness?.close();
});

/** The SDK plays admitted updates in their place among the signals at first, and after all signals in a replay. */
test('a run replays after a reset to before updates and signals', async () => {
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
  const kinds = (await eventsOf(again)).flatMap(
    ({ workflowExecutionUpdateAdmittedEventAttributes: update, ...event }) =>
      update ? ['update'] : event.workflowExecutionSignaledEventAttributes ? ['signal'] : [],
  );
  assert.deepEqual(kinds, ['update', 'signal', 'update'], 'they came in one task');
  await assertReplays(again);
});

/** Core plays tasks without commands together with the task of the updates at first, and each by itself in a replay. */
test('a run replays after a reset to before updates that followed two tasks without commands', async () => {
  const [first = '1', second = '2'] = APPLICANTS;
  const applicants = [applicant(first, newSsn('4002')), applicant(second)];
  const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL'], applicants, shares }));
  const status = await untilStatus(handle, ({ state }) => state === 'held');
  const { journeyId } = status;
  const grant = consentMessage(journeyId, { applicantId: first });
  await whileLocked(async () => {
    await handle.signal('consent', grant);
    await statusOf(handle);
    await handle.signal('consent', grant);
    await sleep(MESSAGE_MS);
  });
  await sleep(MESSAGE_MS);
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: second }));
  await update(handle, 'resolveInquiry', decisionAbout(status, { action: 'abandon' }));
  await handle.result();
  const again = await resetTo(harness, handle, await taskOfMessage(handle, 'recordConsent'));
  await again.result();
  await assertReplays(again);
});

/** The ledger takes the consents once it is over: their first task and a second one are without commands until then. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const unlock = lockLedger(harness);
  try {
    await work();
  } finally {
    unlock();
  }
}

/** The server forgets a task that brought nothing but a refused update: the next one has the same events and size. */
test('updates that are refused one after the other fail no workflow task', async () => {
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'] }));
  const { journeyId } = await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const wrong = () => update(handle, 'advance', { journeyId, to: 'PRECLOSE' });
  for (const _ of [1, 2]) {
    await assert.rejects(wrong());
    await statusOf(handle);
  }
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await handle.result();
  const failed = (await eventsOf(handle)).filter((event) => event.workflowTaskFailedEventAttributes);
  assert.deepEqual(failed, []);
});
