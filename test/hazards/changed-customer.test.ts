/** A journey is started again for another customer: no inquiry of the first customer is posted again without a decision. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import type { OperatorTask } from '../../src/ledger/holds/holds.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import {
  type Harness,
  type JourneyHandle,
  journeyInput,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { decisionAbout, inquiriesOf } from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: SHORT_TIMEOUTS });
});
after(() => harness?.close());

/** Acts as a deploy: the worker that starts next has another customer. */
async function changeCustomer(customerId: string): Promise<string> {
  await harness.stopWorker();
  const profiles = harness.config.profiles as Map<string, GatewayProfile>;
  const profile = profiles.get('default') ?? assert.fail();
  profiles.set('default', { ...profile, customerId });
  await harness.startWorker();
  return profile.customerId;
}

function twoStages() {
  return journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
}

/** A journey whose first stage was answered, and which was terminated at its gate. */
async function answeredAndTerminated(input = twoStages()): Promise<{ input: typeof input; first: string }> {
  const handle = await harness.start(input);
  const { stages } = await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  await handle.terminate();
  return { input, first: stages[0]?.customerTraceNumber ?? assert.fail() };
}

async function postedFor(journeyId: string): Promise<number> {
  const inquiries = await inquiriesOf(harness, journeyId);
  return inquiries.flatMap(({ attempts }) => attempts).filter(({ state }) => state === 'answered').length;
}

async function untilHeld(handle: JourneyHandle, first: string) {
  const status = await untilStatus(handle, ({ state }) => state === 'held');
  const [hold] = status.holds;
  assert.deepEqual(
    [hold?.failureType, hold?.otherTraceNumber, hold?.attempts, hold?.allowedActions],
    ['AnotherNumber', first, 1, ['resend', 'abandon']],
  );
  return status;
}

/** Waits for the row: the run writes it in the background. */
async function untilTold(ledger: Ledger, runKey: string): Promise<OperatorTask[]> {
  for (let tries = 1; ; tries++) {
    const { rows } = await ledger.tasks.open({ runKey, limit: 10 });
    if (rows.length > 0) return rows;
    assert.ok(tries < 500, 'the ledger was told of nothing');
    await delay(20);
  }
}

describe('a journey that is started again for another customer', () => {
  test('is held, names the other inquiry, and posts again only after a resend decision', async (t) => {
    const { input, first } = await answeredAndTerminated();
    await changeCustomer('CORRECTED1');
    const again = await harness.start(input);
    const status = await untilHeld(again, first);
    assert.equal(await postedFor(input.journeyId), 1);
    const ledger = await openLedgerOf(harness);
    t.after(() => ledger.close());
    const rows = await untilTold(ledger, input.journeyId);
    const [{ workId: _, ...row } = assert.fail()] = rows;
    const { customerTraceNumber = '', since = '' } = status.holds[0] ?? {};
    assert.deepEqual(row, {
      ...{ kind: 'held', reason: 'AnotherNumber', since, runKey: input.journeyId, customerTraceNumber, attempt: 1 },
      ...{ productCode: 'PREQUAL', profile: 'default', endUserCode: input.endUserCode },
      details: { applicantIds: input.applicants.map(({ applicantId }) => applicantId), otherTraceNumber: first },
    });
    const { searchAttributes } = await again.describe();
    const { GatewayProfile, EndUserCodes } = searchAttributes;
    assert.deepEqual([GatewayProfile, EndUserCodes], [['default'], [input.endUserCode]]);
    await update(again, 'resolveInquiry', decisionAbout(status, { action: 'resend', providerSaid: 'notPosted' }));
    await untilStatus(again, ({ state }) => state === 'waitingAtGate');
    const ends = (await ledger.tasks.of(input.journeyId)).map(({ closedHow }) => closedHow);
    assert.deepEqual(ends, ['decided']);
    assert.equal(await postedFor(input.journeyId), 2);
    // The decision was about this stage. The next stage was posted for neither customer.
    await update(again, 'advance', { journeyId: input.journeyId, to: 'PREAPP' });
    assert.equal((await again.result()).outcome, 'completed');
    assert.equal(await postedFor(input.journeyId), 3);
    const decided = (await inquiriesOf(harness, input.journeyId)).flatMap(({ decisions }) => decisions);
    assert.deepEqual(
      decided.map(({ action, failureType }) => [action, failureType]),
      [['resend', 'AnotherNumber']],
    );
  });

  test('posts nothing after an abandon, and continues with the first answer when started for the first customer again', async () => {
    const { input, first } = await answeredAndTerminated();
    const own = await changeCustomer('CORRECTED2');
    const again = await harness.start(input);
    const status = await untilHeld(again, first);
    await update(again, 'resolveInquiry', decisionAbout(status, { action: 'abandon' }));
    assert.equal((await again.result()).outcome, 'abandoned');
    await changeCustomer(own);
    const { stages } = await untilStatus(await harness.start(input), ({ state }) => state === 'waitingAtGate');
    assert.equal(stages[0]?.customerTraceNumber, first);
    assert.equal(await postedFor(input.journeyId), 1);
  });
});
