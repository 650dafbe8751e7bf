/** Operators and consumers act on an attempt that waits in the gateway's queue without a worker. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { ON_GATEWAY_QUEUE, SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import {
  activityCommands,
  eventsOf,
  inquiriesOf,
  pendingAttempt,
  runsPerAttempt,
  withoutGatewayWorker,
} from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: { ...SHORT_TIMEOUTS, ...ON_GATEWAY_QUEUE } });
});
after(() => harness?.close());

function oneStage(lastFour = '0001') {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

async function waiting(lastFour?: string) {
  const handle = await harness.start(oneStage(lastFour));
  const { activityId } = await pendingAttempt(handle, { of: 'submitInquiry' });
  return { handle, commands: activityCommands(harness, handle, activityId) };
}

describe('while no gateway worker runs', () => {
  test('a paused attempt is not sent, and is sent once after a reset and an unpause', async () => {
    const { handle, commands } = await withoutGatewayWorker(harness, async () => {
      const paused = await waiting();
      await paused.commands.pause();
      return paused;
    });
    await commands.reset();
    // The worker takes a later attempt, so it would have taken this one too.
    await (await harness.start(oneStage())).result();
    assert.equal((await harness.received(handle)).length, 0);
    await commands.unpause();
    assert.equal((await handle.result()).stages[0]?.state, 'record');
    assert.equal((await harness.received(handle)).length, 1);
  });

  test('an attempt with five tries and a shorter start-to-close time-out is sent once, and its late answer counts', async () => {
    const { handle } = await withoutGatewayWorker(harness, async () => {
      const changed = await waiting('4011');
      await changed.commands.widenRetries();
      await changed.commands.shortenStartToClose(1_000);
      return changed;
    });
    const result = await handle.result();
    assert.ok((await eventsOf(handle)).some((event) => event.activityTaskTimedOutEventAttributes));
    assert.equal(result.stages[0]?.state, 'record');
    assert.equal(result.stages[0]?.attempts, 1);
    assert.equal(await runsPerAttempt(handle), 1);
    assert.equal((await harness.received(handle)).length, 1);
  });

  test('a queued share whose consent is revoked is never sent', async () => {
    const input = journeyInput({ stages: ['PREQUAL'], shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await withoutGatewayWorker(harness, async () => {
      const { evidence, ...grant } = consentMessage(input.journeyId, { applicantId: '1A' });
      await update(handle, 'recordConsent', { ...grant, evidence });
      await pendingAttempt(handle, { of: 'submitInquiry' });
      await update(handle, 'recordConsent', { ...grant, decision: 'revoked' });
      assert.equal((await handle.result()).shares[0]?.state, 'revoked');
    });
    // The worker that is back finds no attempt of the share in the queue.
    await (await harness.start(oneStage())).result();
    assert.deepEqual(
      (await harness.received(handle)).map(({ productCode }) => productCode),
      ['PREQUAL'],
    );
    // No worker claimed its attempt. The ledger closed it, so a worker that still has the activity cannot claim it.
    assert.deepEqual(
      (await inquiriesOf(harness, input.journeyId)).map(({ productCode, attempts }) => [
        productCode,
        attempts.map(({ state, claimedAt }) => [state, claimedAt !== undefined]),
      ]),
      [
        ['PREQUAL', [['answered', true]]],
        ['SECONDUSE', [['notSent', false]]],
      ],
    );
  });
});
