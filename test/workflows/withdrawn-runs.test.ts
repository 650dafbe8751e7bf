/** Withdrawn runs: the ledger has the withdrawal and refuses each later claim, also after a reset. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { WorkflowIdReusePolicy } from '@temporalio/common';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { UpdateAnswer } from '../../src/messages/answers.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { PullResult } from '../../src/messages/pull/shapes.ts';
import { compareWithTemporal } from '../../src/operator/compare-with-temporal.ts';
import { resetTo, taskOfMessage, until, workflowTasksOf } from '../hazards/operator-hands.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { decidedAbout, lockLedger, openLedgerOf } from '../support/ledger-access.ts';
import { reportPull, startPull } from '../support/pull-scenarios.ts';
import { shareInput } from '../support/share-scenarios.ts';
import { ROOMY_TIMEOUTS, SHORT_TIMEOUTS } from '../support/short-timeouts.ts';

let harness: Harness;
let ledger: Ledger;
before(async () => {
  harness = await startHarness({ env: { ...SHORT_TIMEOUTS, ...ROOMY_TIMEOUTS } });
  ledger = await openLedgerOf(harness);
});
after(async () => {
  await ledger?.close();
  await harness?.close();
});

const WHO = { by: 'platform@example.com', reason: 'the applicant has changed their mind' };
const ROW = { decisionId: 'withdraw', action: 'withdraw', ...WHO };

async function startAtGate(overrides: Partial<LendingJourneyInput> = {}) {
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], ...overrides });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  return { handle, journeyId: input.journeyId, input };
}

/** Resets the run to before the message, and drops the message. */
async function resetToBefore(handle: JourneyHandle, message: string): Promise<JourneyHandle> {
  return resetTo(harness, handle, await taskOfMessage(handle, message), { forgetMessages: true });
}

describe('a journey that is withdrawn', { concurrency: 4 }, () => {
  test('is in the ledger when the update is answered, with who and why, and has one row if withdrawn twice', async () => {
    const { handle, journeyId } = await startAtGate({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
    const answer = await update(handle, 'withdraw', { journeyId, ...WHO });
    assert.deepEqual([answer.recorded, answer.duplicate], [true, false]);
    assert.deepEqual(await decidedAbout(ledger, journeyId), [ROW]);
    const { outcome, stages, shares } = await handle.result();
    assert.equal(outcome, 'withdrawn');
    assert.deepEqual(
      [...stages, ...shares].map(({ state }) => state),
      ['record', 'skipped', 'abandoned'],
    );
    assert.deepEqual((await ledger.verifyChain()).findings, []);
  });

  test('has its row before it ends also if it is withdrawn by a signal', async () => {
    const { handle, journeyId } = await startAtGate();
    await handle.signal('requestWithdrawal', { journeyId, ...WHO });
    assert.equal((await handle.result()).outcome, 'withdrawn');
    assert.deepEqual(await decidedAbout(ledger, journeyId), [ROW]);
  });

  test('posts no stage after a reset to before the withdrawal: its claim is refused, and it ends', async () => {
    const since = new Date(Date.now() - 1_000).toISOString();
    const { handle, journeyId } = await startAtGate();
    await update(handle, 'withdraw', { journeyId, ...WHO });
    await handle.result();

    const again = await resetToBefore(handle, 'withdraw');
    await untilStatus(again, ({ state }) => state === 'waitingAtGate');
    const { runs } = await compareWithTemporal(harness.client, ledger, since);
    const own = runs.find(({ runKey }) => runKey === journeyId);
    assert.deepEqual([own?.kind, own?.decisions], ['open', 1]);
    await update(again, 'advance', { journeyId, to: 'PREAPP' });
    const { outcome, stages } = await again.result();
    assert.equal(outcome, 'withdrawn');
    assert.deepEqual(
      stages.map(({ state, attempts }) => [state, attempts]),
      [
        ['record', 1],
        ['skipped', 0],
      ],
    );
    assert.equal((await harness.received(again)).length, 1, 'PREAPP was never sent');
    assert.deepEqual(await decidedAbout(ledger, journeyId), [ROW]);
  });

  test('ends as withdrawn after a reset to each of its workflow tasks', async () => {
    const { handle, journeyId } = await startAtGate();
    await update(handle, 'withdraw', { journeyId, ...WHO });
    await handle.result();
    const { runId } = (await handle.describe()).raw.workflowExecutionInfo?.execution ?? {};
    for (const task of await workflowTasksOf(handle)) {
      const again = await resetTo(harness, handle, task, { runId: runId ?? '' });
      assert.equal((await again.result()).outcome, 'withdrawn');
    }
    assert.equal((await harness.received(handle)).length, 1);
    assert.deepEqual(await decidedAbout(ledger, journeyId), [ROW]);
  });
});

test('a withdrawal stops the run at once without the ledger, and the run ends once the ledger has recorded it', async () => {
  const { handle, journeyId } = await startAtGate();
  const unlock = lockLedger(harness);
  try {
    const answer = await update(handle, 'withdraw', { journeyId, ...WHO });
    assert.deepEqual([answer.recorded, answer.duplicate], [false, false]);
    const late = update(handle, 'advance', { journeyId, to: 'PREAPP' });
    assert.match(await refusalOf(late), /ending|over|ended/);
    assert.match(await refusalOf(update(handle, 'withdraw', { journeyId, ...WHO, by: 'else' })), /\/by differs/);
    assert.equal((await handle.describe()).status.name, 'RUNNING', 'it waits for the ledger');
    assert.deepEqual(await decidedAbout(ledger, journeyId), []);
  } finally {
    unlock();
  }
  assert.equal((await handle.result()).outcome, 'withdrawn');
  assert.deepEqual(await decidedAbout(ledger, journeyId), [ROW]);
});

test('a cancelled run that was withdrawn before has its withdrawal in the ledger', async () => {
  const { handle, journeyId } = await startAtGate();
  const unlock = lockLedger(harness);
  try {
    assert.equal((await update(handle, 'withdraw', { journeyId, ...WHO })).recorded, false);
    await handle.cancel();
  } finally {
    unlock();
  }
  await assert.rejects(handle.result());
  assert.deepEqual(await decidedAbout(ledger, journeyId), [ROW]);
});

test('a withdrawal is answered as taken although the run is cancelled before the ledger has it', async () => {
  const { handle, journeyId } = await startAtGate();
  const unlock = lockLedger(harness);
  try {
    const answered = update(handle, 'withdraw', { journeyId, ...WHO });
    await untilStatus(handle, ({ state }) => state !== 'waitingAtGate');
    await handle.cancel();
    assert.deepEqual(await answered.then(({ accepted, recorded }) => [accepted, recorded]), [true, false]);
    assert.equal((await update(handle, 'withdraw', { journeyId, ...WHO })).duplicate, true);
  } finally {
    unlock();
  }
  await assert.rejects(handle.result());
  assert.deepEqual(await decidedAbout(ledger, journeyId), [ROW]);
});

test('a journey that waits for the ledger before its end ends as withdrawn if it is withdrawn meanwhile', async () => {
  const input = journeyInput({ stages: ['PREQUAL'], sharesOpenFor: 'PT2S' });
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ stages }) => stages[0]?.state === 'record');
  const unlock = lockLedger(harness);
  try {
    await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A', decision: 'denied' }));
    await until(async () => (await refusalOf(requestLate(handle, journeyId))).includes('is ending'), 'it stays open');
    assert.equal((await update(handle, 'withdraw', { journeyId, ...WHO })).accepted, true);
  } finally {
    unlock();
  }
  assert.equal((await handle.result()).outcome, 'withdrawn');
});

function requestLate(handle: JourneyHandle, journeyId: string) {
  return update(handle, 'requestShare', { journeyId, share: { shareId: 'S9', endUserCode: 'EU123' } });
}

test('a pull that is withdrawn sends nothing more, also if it is started again under its id', async () => {
  // The gateway throttles this pull for a long time.
  const pull = reportPull('4430');
  const { pullId } = pull;
  const handle = await startPull(harness, pull);
  await until(async () => (await ledger.inquiriesOf(`pull:${pullId}`))[0]?.attempts.length === 1, 'no attempt');
  await until(async () => (await statusOf(handle)).waitingFor !== undefined, 'it does not wait');
  const answer = await update(handle, 'withdraw', { pullId, ...WHO });
  assert.deepEqual([answer.recorded, answer.duplicate], [true, false]);
  assert.equal(((await handle.result()) as unknown as PullResult).outcome, 'withdrawn');
  assert.deepEqual(await decidedAbout(ledger, `pull:${pullId}`), [ROW]);

  const { client, config } = harness;
  const again = await client.workflow.start('creditReport', {
    workflowId: `pull-${pullId}`,
    taskQueue: config.taskQueue,
    args: [{ ...pull, applicants: pull.applicants }],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  });
  assert.equal(((await again.result()) as PullResult).outcome, 'withdrawn');
  assert.equal((await ledger.inquiriesOf(`pull:${pullId}`))[0]?.attempts.length, 1);
});

test('a pull that is withdrawn ends once the ledger has it', async () => {
  const pull = reportPull('4430');
  const handle = await startPull(harness, pull);
  await until(async () => (await statusOf(handle)).waitingFor !== undefined, 'it does not wait');
  const unlock = lockLedger(harness);
  try {
    assert.equal((await update(handle, 'withdraw', { pullId: pull.pullId, ...WHO })).recorded, false);
    assert.equal((await handle.describe()).status.name, 'RUNNING');
  } finally {
    unlock();
  }
  assert.equal(((await handle.result()) as unknown as PullResult).outcome, 'withdrawn');
  assert.deepEqual(await decidedAbout(ledger, `pull:${pull.pullId}`), [ROW]);
});

interface Wrong {
  workflowId: string;
  input: object;
  id: object;
  /** The update that is sent. Default: `withdraw` */
  name?: string;
}

/** Each workflow type, with an input that its first activity refuses. */
const WRONG = {
  lendingJourney: () => {
    const input = journeyInput({ stages: [] });
    return { workflowId: `journey-${input.journeyId}`, input, id: { journeyId: input.journeyId } };
  },
  creditReport: () => {
    const input = { ...reportPull('0001'), applicants: [] };
    return { workflowId: `pull-${input.pullId}`, input, id: { pullId: input.pullId } };
  },
  shareReport: () => {
    const input = shareInput({ pullId: 'nobody', productCode: 'CR' });
    return { workflowId: `share-${input.shareId}`, input, id: { shareId: input.shareId } };
  },
  portfolioReview: () => {
    const reviewId = `R-${randomUUID().slice(0, 8)}`;
    const input = { reviewId, file: 'rows.csv', permissiblePurposeCode: 'AR', endUserCode: { code: 'EU1' } };
    return { workflowId: `portfolio-${reviewId}`, input, id: { reviewId }, name: 'pause' };
  },
};

for (const [type, wrong] of Object.entries(WRONG)) {
  test(`a withdrawal or a pause is answered although the run’s input is invalid: ${type}`, async () => {
    const { workflowId, input, id, name = 'withdraw' }: Wrong = wrong();
    const startWorkflowOperation = new WithStartWorkflowOperation(type, {
      ...{ workflowId, taskQueue: harness.config.taskQueue, workflowIdConflictPolicy: 'FAIL' as const },
      args: [input],
    });
    const asked = { startWorkflowOperation, args: [{ ...id, ...WHO }] };
    const answer = (await harness.client.workflow.executeUpdateWithStart(name, asked)) as UpdateAnswer;
    assert.deepEqual([answer.accepted, answer.recorded], [true, false]);
    await assert.rejects((await startWorkflowOperation.workflowHandle()).result());
  });
}

test('a caller who waits for an answer when the run is terminated gets an error that it has ended', async () => {
  const { handle, journeyId } = await startAtGate();
  await using journeys = await connectTo(harness);
  const unlock = lockLedger(harness);
  try {
    const told = assert.rejects(journeys.get(journeyId).withdraw(WHO), { code: 'journeyFinished' });
    await until(async () => (await taskOfMessage(handle, 'withdraw').catch(() => undefined)) !== undefined, 'accepted');
    await handle.terminate();
    await told;
  } finally {
    unlock();
  }
});
