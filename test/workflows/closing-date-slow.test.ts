/** Weeks before a closing, on the server that skips time: for the whole environment at once, so one test after another. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { addDays } from '../../src/base/local-days.ts';
import type { JourneyResult, JourneyStatus, LendingJourneyInput } from '../../src/messages/journey/shapes.ts';
import { inquiriesOf } from '../hazards/operator-hands.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  statusOf,
  untilStatus,
} from '../support/journey-harness.ts';
import { startTimeSkippingEnvironment } from '../support/temporal.ts';

let environment: TestWorkflowEnvironment;
let harness: Harness;
before(async () => {
  environment = await startTimeSkippingEnvironment();
  harness = await startHarness({
    server: { address: environment.address, namespace: environment.namespace ?? 'default', skipsTime: true },
    env: { LEDGER_WATCH_EVERY_MS: '86400000' },
  });
});
after(async () => {
  await harness?.close();
  await environment?.teardown();
});

const DAY_MS = 86_400_000;
const who = { by: 'underwriting', reason: 'the buyer asked for it' };
const policy = { by: 'credit policy', reason: 'the report is to be of the days before closing' };

const inputOf = (overrides: Partial<LendingJourneyInput> = {}) =>
  journeyInput({ stages: ['PREQUAL', 'PRECLOSE'], preclose: { daysBefore: 3, ...policy }, ...overrides });

async function inDays(days: number): Promise<string> {
  return addDays(new Date(await environment.currentTimeMs()).toISOString().slice(0, 10), days);
}

function resultOf(handle: JourneyHandle): Promise<JourneyResult> {
  return environment.client.workflow.getHandle(handle.workflowId).result() as Promise<JourneyResult>;
}

async function send(handle: JourneyHandle, name: string, message: object): Promise<void> {
  const journeyId = handle.workflowId.replace('journey-', '');
  await handle.executeUpdate<unknown, [object]>(name, { args: [{ journeyId, ...who, ...message }] });
}

const settled = (status: JourneyStatus) => status.stages.filter(({ state }) => state === 'record').length;

/** To the minute after an instant. */
async function skipTo(instant: string): Promise<void> {
  await environment.sleep(Date.parse(instant) - (await environment.currentTimeMs()) + 60_000);
}

async function products(handle: JourneyHandle): Promise<string[]> {
  return (await harness.posted(handle)).map(({ productCode }) => productCode).sort();
}

test('PRECLOSE is pulled when its days begin and not before, though its gate was to expire long ago', async () => {
  const input = inputOf({ gates: { PRECLOSE: { expiresAfter: 'P1D' } } });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  await send(handle, 'setClosingDate', { closingDate: await inDays(20), change: 1 });
  const { closing } = await statusOf(handle);
  await environment.sleep(Date.parse(closing?.precloseFrom ?? '') - (await environment.currentTimeMs()) - 3_600_000);
  assert.equal((await statusOf(handle)).state, 'waitingAtGate');
  assert.deepEqual(await products(handle), ['PREQUAL']);
  await skipTo(closing?.precloseFrom ?? '');
  await untilStatus(handle, (status) => settled(status) === 2);
  const result = await resultOf(handle);
  assert.equal(result.outcome, 'completed');
  assert.ok((await environment.currentTimeMs()) >= Date.parse(closing?.precloseFrom ?? '') + 3 * DAY_MS);
  assert.deepEqual(await products(handle), ['PRECLOSE', 'PREQUAL']);
});

test('however often the date moves, the standing decision repeats PRECLOSE once, and the ledger has who decided so', async () => {
  const input = inputOf();
  const { journeyId } = input;
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  for (const [index, days] of [10, 20, 30, 25].entries()) {
    await send(handle, 'setClosingDate', { closingDate: await inDays(days), change: index + 1 });
    const { closing } = await statusOf(handle);
    await skipTo(closing?.precloseFrom ?? '');
    await untilStatus(handle, (status) => settled(status) === Math.min(index + 2, 3));
    if (index >= 1) assert.equal((await statusOf(handle)).closing?.repeatsLeft ?? 0, 0);
    // Used up, it keeps the journey open no longer.
    if (index >= 1) break;
  }
  const result = await resultOf(handle);
  assert.deepEqual(
    result.stages.map(({ productCode, occurrence, state }) => [productCode, occurrence, state]),
    [
      ['PREQUAL', undefined, 'record'],
      ['PRECLOSE', undefined, 'record'],
      ['PRECLOSE', 2, 'record'],
    ],
  );
  assert.deepEqual(await products(handle), ['PRECLOSE', 'PRECLOSE', 'PREQUAL']);
  const decisions = (await inquiriesOf(harness, journeyId)).flatMap((one) => one.decisions);
  assert.deepEqual(
    decisions.map(({ action, by, reason }) => [action, by, reason]),
    [['repeat', policy.by, policy.reason]],
  );
});

test('moved again and again while the journey stays open, it is pulled no more than the decision says', async () => {
  const input = inputOf({ preclose: { daysBefore: 3, repeats: 2, ...policy }, repeatsOpenFor: 'P100D' });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  for (const [index, days] of [10, 20, 15, 40, 9].entries()) {
    await send(handle, 'setClosingDate', { closingDate: await inDays(days), change: index + 1 });
    const { closing } = await statusOf(handle);
    await skipTo(closing?.precloseFrom ?? '');
    await untilStatus(handle, (status) => settled(status) === Math.min(index + 2, 4));
  }
  const result = await resultOf(handle);
  assert.equal(result.stages.length, 4);
  assert.deepEqual(await products(handle), ['PRECLOSE', 'PRECLOSE', 'PRECLOSE', 'PREQUAL']);
});

test('a journey that has forgotten its standing repeat makes no further one: the ledger counts them over all runs', async () => {
  const input = inputOf({ repeatsOpenFor: 'P100D' });
  const first = await harness.start(input);
  await untilStatus(first, ({ state }) => state === 'waitingAtGate');
  for (const [index, days] of [10, 20].entries()) {
    await send(first, 'setClosingDate', { closingDate: await inDays(days), change: index + 1 });
    await skipTo((await statusOf(first)).closing?.precloseFrom ?? '');
    await untilStatus(first, (status) => settled(status) === index + 2);
  }
  const posted = await products(first);
  assert.deepEqual(posted, ['PRECLOSE', 'PRECLOSE', 'PREQUAL']);
  await first.terminate();

  const second = await harness.start(input);
  await untilStatus(second, ({ state }) => state === 'waitingAtGate');
  await send(second, 'setClosingDate', { closingDate: await inDays(10), change: 1 });
  await skipTo((await statusOf(second)).closing?.precloseFrom ?? '');
  await untilStatus(second, (status) => settled(status) === 2);
  // What the first run's standing repeat has brought: so the next one would have a number of its own.
  await send(second, 'advance', { repeat: 'PRECLOSE', occurrence: 2 });
  await untilStatus(second, (status) => settled(status) === 3);
  await send(second, 'setClosingDate', { closingDate: await inDays(20), change: 2 });
  await skipTo((await statusOf(second)).closing?.precloseFrom ?? '');
  const { stages } = await untilStatus(second, (status) => status.stages[3]?.state === 'abandoned');
  assert.equal(stages.length, 4);
  assert.deepEqual(await products(second), posted);
  await second.terminate();
  const decided = (await inquiriesOf(harness, input.journeyId)).flatMap((one) => one.decisions);
  assert.deepEqual(decided.map(({ decisionId }) => decisionId).sort(), [
    'repeat-PRECLOSE-2',
    'standing-repeat-PRECLOSE-2',
  ]);
});

test('none while PRECLOSE is held; once that is decided, its report is older than the days before closing', async () => {
  const input = inputOf({ closingDate: await inDays(30) });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  await send(handle, 'advance', {
    to: 'PRECLOSE',
    by: undefined,
    reason: undefined,
    applicants: [applicant('1A', newSsn('4002'))],
  });
  const { holds: [hold] = [], closing } = await untilStatus(handle, ({ state }) => state === 'held');
  const waiting = await statusOf(handle);
  await skipTo(closing?.precloseFrom ?? '');
  assert.deepEqual((await statusOf(handle)).stages, waiting.stages);
  assert.deepEqual(await products(handle), ['PRECLOSE', 'PREQUAL']);
  const about = { customerTraceNumber: hold?.customerTraceNumber, attempt: hold?.attempts };
  const accept = { decisionId: 'D1', action: 'accept', outcome: 'noRecord', providerSaid: 'posted' };
  await send(handle, 'resolveInquiry', { ...about, ...accept });
  // The default stops at a stage without a record: no repeat follows that.
  assert.equal((await resultOf(handle)).outcome, 'stopped');
  assert.deepEqual(await products(handle), ['PRECLOSE', 'PREQUAL']);

  const second = inputOf({ closingDate: await inDays(30), onNoRecord: 'continue' });
  const other = await harness.start(second);
  await untilStatus(other, ({ state }) => state === 'waitingAtGate');
  await send(other, 'advance', {
    to: 'PRECLOSE',
    by: undefined,
    reason: undefined,
    applicants: [applicant('1A', newSsn('4002'))],
  });
  const held = await untilStatus(other, ({ state }) => state === 'held');
  await skipTo(held.closing?.precloseFrom ?? '');
  const [first] = held.holds;
  const decided = { customerTraceNumber: first?.customerTraceNumber, attempt: first?.attempts };
  await send(other, 'resolveInquiry', { ...decided, ...accept });
  const again = await untilStatus(other, ({ stages }) => stages[2]?.state === 'held');
  assert.deepEqual(await products(other), ['PRECLOSE', 'PRECLOSE', 'PREQUAL']);
  const [next] = again.holds;
  const given = { customerTraceNumber: next?.customerTraceNumber, attempt: next?.attempts, decisionId: 'D2' };
  await send(other, 'resolveInquiry', { ...given, action: 'abandon', providerSaid: 'posted' });
  assert.equal((await resultOf(other)).outcome, 'completed');
  assert.deepEqual(await products(other), ['PRECLOSE', 'PRECLOSE', 'PREQUAL']);
});

test('an extended gate waits past its time, and a share for consent as well', async () => {
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], gates: { PREAPP: { expiresAfter: 'P5D' } } });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  await send(handle, 'extend', { gate: 'PREAPP', until: `${await inDays(60)}T00:00:00Z` });
  await environment.sleep(50 * DAY_MS);
  assert.equal((await statusOf(handle)).state, 'waitingAtGate');
  assert.equal((await resultOf(handle)).outcome, 'expired');

  const shared = journeyInput({
    ...{ stages: ['PREQUAL'], shares: [{ shareId: 'S1', endUserCode: 'EU999', awaitConsentFor: 'P5D' }] },
  });
  const sharing = await harness.start(shared);
  await untilStatus(sharing, ({ shares: [share] }) => share?.until !== undefined);
  await send(sharing, 'extend', { shareId: 'S1', until: `${await inDays(60)}T00:00:00Z` });
  await environment.sleep(50 * DAY_MS);
  assert.equal((await statusOf(sharing)).shares[0]?.state, 'awaitingConsent');
  assert.equal((await resultOf(sharing)).shares[0]?.state, 'expired');
});
