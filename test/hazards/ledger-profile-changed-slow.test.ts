/** A worker restarts with another gateway profile. Runs that began under the old one are held and send nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startSandbox } from '../../sandbox/server.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import {
  applicant,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import { decisionAbout, resetTo, taskBeforeSend, traceOf, untilIdle } from './operator-hands.ts';

let harness: Harness;
let other: Awaited<ReturnType<typeof startSandbox>>;
before(async () => {
  [harness, other] = await Promise.all([startHarness({ env: SHORT_TIMEOUTS }), startSandbox({})]);
});
after(async () => {
  await harness?.close();
  await other?.close();
});

async function restartWith(changes: Partial<GatewayProfile>): Promise<void> {
  await harness.stopWorker();
  const profiles = harness.config.profiles as Map<string, GatewayProfile>;
  profiles.set('default', { ...(profiles.get('default') as GatewayProfile), ...changes });
  await harness.startWorker();
}

async function receivedBy(url: string): Promise<number> {
  const requests = (await (await fetch(`${url}/_sandbox/requests`)).json()) as unknown[];
  return requests.length;
}

const CHANGES: [what: string, changes: () => Partial<GatewayProfile>][] = [
  ['customer', () => ({ customerId: 'OTHERCUSTOMER' })],
  ['gateway address', () => ({ baseUrl: other.url })],
];

describe('a worker that is started again', () => {
  for (const [what, changes] of CHANGES) {
    test(`with another ${what} holds running journeys, sends nothing, and continues once the profile is back`, async () => {
      const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
      const handle = await harness.start(input);
      await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
      const lost = await harness.start(
        journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4001'))] }),
      );
      const lostStatus = await untilStatus(lost, ({ state }) => state === 'held');
      const own = harness.config.profiles.get('default') as GatewayProfile;

      await restartWith(changes());
      await update(handle, 'advance', { journeyId: input.journeyId, to: 'PREAPP' });
      await update(lost, 'resolveInquiry', decisionAbout(lostStatus));
      const changed = await untilStatus(handle, ({ state }) => state === 'held');
      const lostChanged = await untilStatus(lost, ({ holds: [first] }) => first?.failureType === 'ProfileChanged');
      assert.equal(changed.holds[0]?.failureType, 'ProfileChanged');
      assert.deepEqual(changed.holds[0]?.allowedActions, ['resend', 'abandon']);
      // The profile is still the other one, so a decision to continue leads to another hold.
      await update(handle, 'resolveInquiry', decisionAbout(changed));
      const isHeldAnew = ({ holds: [first] }: typeof changed) =>
        first !== undefined && first.since !== changed.holds[0]?.since;
      const again = await untilStatus(handle, isHeldAnew);
      assert.deepEqual([(await harness.received(handle)).length, (await harness.received(lost)).length], [1, 1]);

      await restartWith(own);
      await update(handle, 'resolveInquiry', decisionAbout(again, { decisionId: 'D2' }));
      assert.equal((await handle.result()).outcome, 'completed');
      assert.equal((await harness.received(handle)).length, 2);
      // The decision to resend was recorded before the profile was found to be another: it still permits one attempt.
      await update(lost, 'resolveInquiry', decisionAbout(lostChanged, { decisionId: 'D2' }));
      assert.equal((await lost.result()).stages[0]?.attempts, 2);
      assert.equal((await harness.received(lost)).length, 2);
      assert.equal(await receivedBy(other.url), 0);
    });
  }

  test('with a new address and the former one under `formerly` continues journeys, but not for another customer', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    const own = harness.config.profiles.get('default') as GatewayProfile;
    const { authUrl, baseUrl, audience, apiVersion } = own;
    const moved = { authUrl: other.url, baseUrl: other.url, formerly: [{ authUrl, baseUrl, audience, apiVersion }] };
    const sentBefore = await receivedBy(other.url);

    await restartWith({ ...moved, customerId: 'OTHERCUSTOMER' });
    await update(handle, 'advance', { journeyId: input.journeyId, to: 'PREAPP' });
    const held = await untilStatus(handle, ({ state }) => state === 'held');
    assert.equal(held.holds[0]?.failureType, 'ProfileChanged');
    assert.equal((await receivedBy(other.url)) - sentBefore, 0);

    await restartWith({ ...own, ...moved });
    await update(handle, 'resolveInquiry', decisionAbout(held));
    assert.equal((await handle.result()).outcome, 'completed');
    assert.equal((await receivedBy(other.url)) - sentBefore, 1);
    // Runs that begin now are bound to the new address, so going back would need an entry for it.
    await restartWith({ ...own, formerly: undefined as never });
  });

  const REFUSALS: [what: string, changes: () => Partial<GatewayProfile>][] = [
    ['stricter rules', () => ({ allowed: { PREAPP: { endUserCodes: ['ANOTHER'] } } })],
    ...CHANGES,
  ];
  for (const [what, changes] of REFUSALS) {
    test(`with another profile (${what}) reads the ledger before it reports that nothing was sent`, async () => {
      const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], gates: { PREAPP: { pass: 'auto' } } });
      const customerTraceNumber = traceOf(harness, input.journeyId, 'PREAPP');
      await harness.addFaults([{ customerTraceNumber, attempt: 1, fault: 'resetBeforePosting' }]);
      const handle = await harness.start(input);
      await untilStatus(handle, ({ state }) => state === 'held');
      const own = harness.config.profiles.get('default') as GatewayProfile;
      await restartWith(changes());
      // The run forgets its attempt. That it cannot make another attempt says nothing about the first.
      const again = await resetTo(harness, handle, await taskBeforeSend(handle, 2));
      const { holds } = await untilStatus(again, ({ state }) => state === 'held');
      await untilIdle(again);
      await again.terminate();
      await restartWith(own);
      assert.deepEqual(
        holds.map(({ failureType, attempts }) => [failureType, attempts]),
        [['OutcomeUnknown', 1]],
      );
      assert.equal((await harness.received(handle)).length, 2);
    });
  }
});
