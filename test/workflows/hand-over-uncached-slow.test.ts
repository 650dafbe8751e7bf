/** A run that no worker has in its cache is played again for each task: what a task brought at first it must bring again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inParallel } from '../../src/base/in-parallel.ts';
import { untilNextRun } from '../support/floods.ts';
import { applicant, consentMessage, journeyInput, newSsn, statusOf, untilStatus } from '../support/journey-harness.ts';
import { startWebhookStage, type WebhookStage } from '../support/webhook-scenarios.ts';

const MESSAGES = 600;
const AT_ONCE = 20;

let stage: WebhookStage;
before(async () => {
  stage = await startWebhookStage();
  const { harness } = stage;
  await harness.stopWorker();
  Object.assign(harness.config.worker, { maxCachedWorkflows: 0 });
  Object.assign(harness.config.protocol, { handOverAfterEvents: 100 });
  await harness.startWorker();
});
after(() => stage?.close());

test('a run that is in no cache hands over among messages that never stop, and loses none', async () => {
  const { harness } = stage;
  const input = journeyInput({
    stages: ['PREQUAL'],
    applicants: [applicant('1A', newSsn('4002'))],
    shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
  });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'held');
  const { runId } = await handle.describe();
  // Every second one is refused: an event tells of it, which takes a regular activity.
  await inParallel(
    Array.from({ length: MESSAGES }, (_, index) => index),
    AT_ONCE,
    (index) =>
      handle.signal(
        'consent',
        consentMessage(input.journeyId, { applicantId: index % 2 ? '1A' : '9Z', consentId: `C${index}` }),
      ),
  );
  const { refusedMessagesTotal } = await untilStatus(handle, (status) => status.refusedMessagesTotal === MESSAGES / 2);
  assert.equal(refusedMessagesTotal, MESSAGES / 2);
  await untilNextRun(handle, runId);
  const told = await statusOf(handle);
  assert.equal(told.state, 'held');
  await handle.terminate();
});
