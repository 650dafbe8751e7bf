/** A run that receives very many messages continues as new, and neither loses nor repeats anything. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { toRowRunKey } from '../../src/model/run-key.ts';
import { currentRun, traceOf, until, withLedger } from '../hazards/operator-hands.ts';
import { floodWithNonsense, HANDS_OVER_SOON, handsOver, untilNextRun } from '../support/floods.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { decidedAbout, lockLedger } from '../support/ledger-access.ts';
import { csvText, FOLDER, writePortfolio } from '../support/portfolio-files.ts';
import { runsSlowParts } from '../support/slow-parts.ts';
import { waitingRows } from '../support/timeline-rows.ts';

let harness: Harness;
let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-portfolios-'));
  harness = await startHarness({ env: { ...HANDS_OVER_SOON, PORTFOLIO_DIR: directory } });
});
after(async () => {
  await harness.close();
  await rm(directory, { recursive: true, force: true });
});

const share = { shareId: 'S1', endUserCode: 'EU999' };
const auto = { pass: 'auto' } as const;

function journeyIdOf(handle: JourneyHandle): string {
  return handle.workflowId.replace('journey-', '');
}

async function decide(handle: JourneyHandle, decision: object): Promise<void> {
  const { holds, journeyId } = await statusOf(handle);
  const { customerTraceNumber, attempts: attempt } = holds[0] ?? {};
  const word = { by: 'operator', reason: 'asked the provider', providerSaid: 'notPosted' };
  await update(handle, 'resolveInquiry', {
    ...{ journeyId, customerTraceNumber, attempt, decisionId: 'D1', ...word },
    ...decision,
  });
}

describe('a journey that continues as new because of its long history', () => {
  test('accepts the decision about a held inquiry in the new run, and in the next as a duplicate', async () => {
    const applicants = [applicant('1A', newSsn('4002'))];
    const handle = await harness.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'], applicants }));
    const before = await untilStatus(handle, ({ state }) => state === 'held');
    const row = 'ON HOLD · OutcomeUnknown · PREQUAL · see User Metadata';
    await until(async () => (await waitingRows(handle)).join() === row, 'the run to show the hold');
    await handsOver(handle);
    const held = await statusOf(handle);
    await until(async () => (await waitingRows(handle)).join() === row, 'the next run to show the hold');
    assert.deepEqual(held.holds, before.holds);
    assert.deepEqual(held.stages, before.stages);
    const { searchAttributes } = await handle.describe();
    assert.deepEqual(searchAttributes.NeedsAttention, ['OutcomeUnknown']);
    const reference = {
      reportReferenceNumber: 'RPT-FROM-PROVIDER',
      requestedAt: new Date().toISOString(),
      applicants: [{ applicantId: '1A', consumerId: 'CONSUMER1' }],
    };
    const accept = { action: 'accept', providerSaid: 'posted', outcome: 'record', reference };
    const { customerTraceNumber, attempts: attempt } = held.holds[0] ?? {};
    await decide(handle, accept);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    assert.match((await waitingRows(handle)).join(), /^gate before PREAPP: waiting for advance, until \d{4}-[^,]*$/);
    await handsOver(handle);
    const word = { by: 'operator', reason: 'asked the provider' };
    const message = { journeyId: held.journeyId, customerTraceNumber, attempt, decisionId: 'D1', ...word, ...accept };
    assert.equal((await update(handle, 'resolveInquiry', message)).duplicate, true);
    assert.equal((await handle.describe()).searchAttributes.NeedsAttention, undefined);
    await update(handle, 'withdraw', { journeyId: held.journeyId, by: 'test', reason: 'done' });
    assert.equal((await handle.result()).outcome, 'withdrawn');
    assert.equal((await harness.received(handle)).length, 1);
  });

  test('keeps the withdrawal of a share that the unreachable ledger does not have yet', {
    skip: !runsSlowParts,
  }, async () => {
    const handle = await harness.start(journeyInput({ stages: ['PREQUAL'], shares: [share] }));
    await untilStatus(handle, ({ shares }) => (shares[0]?.waitingFor.length ?? 0) > 0);
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    const journeyId = journeyIdOf(handle);
    const withdrawal = { journeyId, shareId: 'S1', by: 'ops', reason: 'typed wrong' };
    const unlock = lockLedger(harness);
    try {
      assert.equal((await update(handle, 'withdrawShare', withdrawal)).recorded, false);
      await handsOver(handle);
    } finally {
      unlock();
    }
    assert.equal((await handle.result()).shares[0]?.state, 'withdrawn');
  });

  test('gives the attempt after a waiting retry the next number', async () => {
    const input = journeyInput({ stages: ['PREQUAL'] });
    const customerTraceNumber = traceOf(harness, input.journeyId, 'PREQUAL');
    // The retry waits for as long as a flood may take on a busy machine.
    await harness.addFaults([{ customerTraceNumber, fault: 'status', status: 429, retryAfter: 20, times: 1 }]);
    const handle = await harness.start(input);
    await untilStatus(handle, ({ waitingFor }) => waitingFor?.startsWith('waiting') === true);
    const { runId } = await handle.describe();
    await floodWithNonsense(handle, 110);
    const result = await handle.result();
    assert.equal(result.stages[0]?.state, 'record');
    assert.equal(result.stages[0]?.attempts, (await harness.received(handle)).length);
    assert.notEqual((await handle.describe()).runId, runId);
  });

  test('completes although each of its waits continues as new', async () => {
    const input = journeyInput({ gates: { PREAPP: auto, PRECLOSE: {} }, shares: [share], repeatsOpenFor: 'P1D' });
    const handle = await harness.start(input);
    const { journeyId } = input;
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    await handsOver(handle);
    await update(handle, 'advance', { journeyId, to: 'PRECLOSE' });
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await handsOver(handle);
    await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
    await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
    await handsOver(handle);
    const repeat = { journeyId, repeat: 'PRECLOSE', occurrence: 2, by: 'loan officer', reason: 'put off' };
    await update(handle, 'advance', repeat);
    await untilStatus(handle, ({ stages }) => stages[3]?.state === 'record');
    await handsOver(handle);
    assert.equal((await update(handle, 'advance', repeat)).duplicate, true);
    const revocation = consentMessage(journeyId, { applicantId: '1A', decision: 'revoked' });
    await handle.signal('consent', revocation);
    await untilStatus(handle, ({ shares }) => shares[0]?.attention === 'revokedAfterPosting');
    await handsOver(handle);
    assert.equal((await statusOf(handle)).shares[0]?.attention, 'revokedAfterPosting');
    await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
    const result = await handle.result();
    assert.deepEqual(
      result.stages.map(({ state }) => state),
      ['record', 'record', 'record', 'record'],
    );
    assert.ok(result.stages[2]?.changes && result.stages[3]?.changes);
    assert.equal((await harness.posted(handle)).length, 5);
  });
});

test('a reset of the run before a continue-as-new sends nothing twice', async () => {
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares: [share] }));
  const journeyId = journeyIdOf(handle);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const runs = await handsOver(handle);
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  assert.equal((await harness.posted(handle)).length, 2);
  const { events } = await harness.client.workflow.getHandle(handle.workflowId, runs.before).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await harness.client.workflowService.resetWorkflowExecution({
    namespace: harness.client.options.namespace,
    workflowExecution: { workflowId: handle.workflowId, runId: runs.before },
    workflowTaskFinishEventId: first?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'test',
  });
  await untilNextRun(handle, runs.after);
  // The server sends the messages of both runs to the new run again.
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
  // The handle of the start refers to the runs that the reset has ended.
  await harness.client.workflow.getHandle(handle.workflowId).result();
  assert.equal((await harness.posted(handle)).length, 3);
});

for (const end of ['another file comes back', 'it is cancelled'] as const) {
  test(`a review records a decision that it took while its file was away, also where ${end}`, async () => {
    const reviewId = `R-${randomUUID().slice(0, 13)}`;
    const text = csvText(3, (index) => (index === 1 ? '4002' : '0001'));
    const file = await writePortfolio(directory, `${reviewId}.csv`, text);
    const handle = (await harness.client.workflow.start('portfolioReview', {
      workflowId: `portfolio-${reviewId}`,
      taskQueue: harness.config.taskQueue,
      args: [{ reviewId, endUserCode: 'EU123', permissiblePurposeCode: '01', file }],
    })) as unknown as JourneyHandle;
    await untilStatus(handle, ({ state }) => state === 'held');
    const path = join(directory, FOLDER, file);
    await rename(path, `${path}.away`);
    await handsOver(handle);
    const review = currentRun(harness, handle);
    const { holds } = await statusOf(review);
    const { customerTraceNumber = '', attempts: attempt } = holds[0] ?? {};
    const word = { by: 'operator', reason: 'asked the provider', providerSaid: 'notPosted' };
    const decision = { reviewId, customerTraceNumber, attempt, decisionId: 'D1', action: 'abandon', ...word };
    assert.equal((await update(review, 'resolveInquiry', decision)).accepted, true);
    if (end === 'it is cancelled') await review.cancel();
    else await writePortfolio(directory, file, text.replaceAll('Casey', 'Robin'));
    if (end === 'it is cancelled') await rename(`${path}.away`, path);
    await assert.rejects(review.result());
    const decided = await withLedger(harness, (ledger) => decidedAbout(ledger, toRowRunKey(reviewId, 'ACC-1')));
    assert.deepEqual(
      decided.map(({ action }) => action),
      ['abandon'],
    );
  });
}

test('a start whose caller gives the state of a previous run is refused', async () => {
  const input = journeyInput();
  for (const workflowType of ['lendingJourney', 'creditReport', 'shareReport', 'portfolioReview']) {
    const handle = await harness.client.workflow.start(workflowType, {
      workflowId: `${workflowType}-${input.journeyId}`,
      taskQueue: harness.config.taskQueue,
      args: [input, { stages: [], shares: [] }],
    });
    await assert.rejects(handle.result(), (error) => {
      assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure);
      assert.match(error.cause.message, /a second argument was given/, workflowType);
      return true;
    });
  }
});
