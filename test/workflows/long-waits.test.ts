/** Waits of days, on the server that skips time: for the whole environment at once, so one test after another. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { JourneyResult, LendingJourneyInput } from '../../src/model/shapes.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
} from '../support/journey-harness.ts';
import { startTimeSkippingEnvironment } from '../support/temporal.ts';

let environment: TestWorkflowEnvironment;
let harness: Harness;
before(async () => {
  environment = await startTimeSkippingEnvironment();
  harness = await startHarness({
    server: { address: environment.address, namespace: environment.namespace ?? 'default' },
  });
});
after(async () => {
  await harness?.close();
  await environment?.teardown();
});

const DAY_MS = 86_400_000;

/** Awaits the result through the environment's own client: that is what lets time skip. */
function resultOf(handle: JourneyHandle): Promise<JourneyResult> {
  return environment.client.workflow.getHandle(handle.workflowId).result() as Promise<JourneyResult>;
}

async function untilStages(handle: JourneyHandle, settled: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const status = await handle.query<{ stages: { state: string }[] }>('status');
    if (status.stages.filter(({ state }) => state === 'record').length >= settled) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('waited in vain');
}

const oneStage = (overrides: Partial<LendingJourneyInput> = {}) => journeyInput({ stages: ['PREQUAL'], ...overrides });

test('a gate that nobody passes expires, and the journey with it', async () => {
  const handle = await harness.start(
    journeyInput({ gates: { PREAPP: { expiresAfter: 'P10D' } }, stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'] }),
  );
  const startedAtMs = await environment.currentTimeMs();
  const result = await resultOf(handle);
  assert.equal(result.outcome, 'expired');
  assert.deepEqual(
    result.stages.map(({ state }) => state),
    ['record', 'expired', 'skipped'],
  );
  assert.ok(result.stages[0]?.reference);
  assert.ok((await environment.currentTimeMs()) - startedAtMs >= 10 * DAY_MS);
  assert.equal((await harness.posted(handle)).length, 1);
});

test('a consent that never comes expires the share after 30 days, and nothing is posted', async () => {
  const handle = await harness.start(oneStage({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] }));
  const result = await resultOf(handle);
  assert.equal(result.outcome, 'completed');
  assert.equal(result.shares[0]?.state, 'expired');
  assert.equal((await harness.posted(handle)).length, 1);
});

test('a consent after 29 days is in time', async () => {
  const input = oneStage({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
  const handle = await harness.start(input);
  await untilStages(handle, 1);
  await environment.sleep(29 * DAY_MS);
  const decidedAt = new Date(await environment.currentTimeMs()).toISOString();
  await handle.signal('consent', consentMessage(input.journeyId, { applicantId: '1A', decidedAt }));
  const result = await resultOf(handle);
  assert.equal(result.shares[0]?.state, 'posted');
  assert.equal((await harness.posted(handle)).length, 2);
});

test('a grant that is too old when its turn comes does not stand', async () => {
  const input = journeyInput({
    stages: ['PREQUAL', 'PREAPP'],
    shares: [
      { shareId: 'S1', endUserCode: 'EU999', reportOf: 'PREAPP', consentValidFor: 'P5D', awaitConsentFor: 'P2D' },
    ],
  });
  const handle = await harness.start(input);
  await untilStages(handle, 1);
  const decidedAt = new Date(await environment.currentTimeMs()).toISOString();
  await handle.signal('consent', consentMessage(input.journeyId, { applicantId: '1A', decidedAt }));
  await environment.sleep(6 * DAY_MS);
  await handle.signal('requestWithdrawal', { journeyId: 'another', by: 'x', reason: 'refused' });
  const advance = harness.client.workflow.getHandle(handle.workflowId);
  await advance.executeUpdate('advance', { args: [{ journeyId: input.journeyId, to: 'PREAPP' }] });
  const result = await resultOf(handle);
  assert.deepEqual(
    result.stages.map(({ state }) => state),
    ['record', 'record'],
  );
  assert.equal(result.shares[0]?.state, 'expired');
  assert.equal((await harness.posted(handle)).length, 2);
});

test('a journey that stays open for shares takes one in that time, and then ends', async () => {
  const input = oneStage({ sharesOpenFor: 'P20D' });
  const handle = await harness.start(input);
  await untilStages(handle, 1);
  await environment.sleep(10 * DAY_MS);
  const decidedAt = new Date(await environment.currentTimeMs()).toISOString();
  await handle.signal('consent', consentMessage(input.journeyId, { applicantId: '1A', decidedAt }));
  await handle.executeUpdate('requestShare', {
    args: [{ journeyId: input.journeyId, share: { shareId: 'S1', endUserCode: 'EU999' } }],
  });
  const result = await resultOf(handle);
  assert.equal(result.shares[0]?.state, 'posted');
  assert.equal((await harness.posted(handle)).length, 2);
});

test('a gateway that is gone for longer than giveUpAfter becomes a hold, and a resend goes on', async () => {
  const input = oneStage({ applicants: [applicant('1A', newSsn('0001'))] });
  await harness.addFaults([{ target: 'token', fault: 'unavailable', times: 1_000_000 }]);
  await fetch(`${harness.sandboxUrl}/_sandbox/tokens/revoke`, { method: 'POST' });
  await harness.stopWorker();
  await harness.startWorker();
  const handle = await harness.start(input);
  const skipping = environment.sleep(2 * DAY_MS);
  let hold: { customerTraceNumber: string; failureType: string; attempts: number } | undefined;
  for (let tries = 0; !hold && tries < 600; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    hold = (await handle.query<{ holds: (typeof hold)[] }>('status')).holds[0];
  }
  await skipping;
  assert.equal(hold?.failureType, 'TokenUnavailable');
  assert.equal((await harness.posted(handle)).length, 0);
  await fetch(`${harness.sandboxUrl}/_sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rules: [] }),
  });
  await handle.executeUpdate('resolveInquiry', {
    args: [
      {
        journeyId: input.journeyId,
        decisionId: 'D1',
        customerTraceNumber: hold?.customerTraceNumber,
        attempt: hold?.attempts,
        action: 'resend',
        by: 'operator',
        reason: 'the token service is back',
        providerSaid: 'notAsked',
      },
    ],
  });
  const result = await resultOf(handle);
  assert.equal(result.outcome, 'completed');
  assert.equal((await harness.posted(handle)).length, 1);
});
