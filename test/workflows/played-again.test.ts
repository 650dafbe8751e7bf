/** Replays of runs in cases in which the SDK orders messages in another way than at first. */
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

/** At first the SDK runs admitted updates in order with the signals, and in a replay after all signals. */
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

/** At first core joins tasks without commands with the task of the updates; in a replay each is separate. */
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

/** Locks the ledger meanwhile, so that the consents' first two workflow tasks have no commands. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const unlock = lockLedger(harness);
  try {
    await work();
  } finally {
    unlock();
  }
}

/** The server drops a task whose only message is a refused update. The next one has the same events and size. */
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
