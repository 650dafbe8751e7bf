/** A profile's allowed values are checked when a share is requested, and again after the profile is corrected. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hasCode } from '../../src/client/connection/errors.ts';
import type { CallError, Content, CreditJourneys, HoldStatus, ShareInput } from '../../src/client.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { resetTo, taskBeforeSend, taskOfMessage } from '../hazards/operator-hands.ts';
import { connectTo, firstHoldOf } from '../support/harness-client.ts';
import {
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  startHarness,
} from '../support/journey-harness.ts';

let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  harness = await startHarness();
  journeys = await connectTo(harness);
});
after(async () => {
  await journeys?.close();
  await harness?.close();
});

/** Runs `act` while the default profile allows only this. The tests of this file take turns. */
async function whileAllowed<T>(allowed: GatewayProfile['allowed'], act: () => Promise<T>): Promise<T> {
  const profiles = harness.config.profiles as Map<string, GatewayProfile>;
  const own = profiles.get('default') ?? assert.fail();
  profiles.set('default', { ...own, allowed });
  return act().finally(() => profiles.set('default', own));
}

function resend({ customerTraceNumber, attempts: attempt }: HoldStatus): Content<'journey', 'resolveInquiry'> {
  const about = { decisionId: 'D1', customerTraceNumber, attempt };
  return { ...about, action: 'resend', providerSaid: 'notAsked', by: 'ops', reason: 'the profile was corrected' };
}

const { journeyId: _, ...grant } = consentMessage('', { applicantId: '1A' });

/** Counts the SECONDUSE postings for an end user in the whole sandbox. */
async function postedTo(endUserCode: string): Promise<number> {
  const answer = await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`);
  const posted = (await answer.json()) as { productCode: string; endUserCode?: string }[];
  return posted.filter((one) => one.productCode === 'SECONDUSE' && one.endUserCode === endUserCode).length;
}

test('a share that the profile does not allow is refused when it is requested, and the corrected one is posted', async () => {
  const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'], sharesOpenFor: 'P1D' }));
  const refusal = async (share: ShareInput) => {
    const error = await journey.requestShare({ share }).catch((thrown) => thrown);
    assert.ok(hasCode(error, 'updateRefused'), String(error));
    return error.reason;
  };
  await whileAllowed({ SECONDUSE: { endUserCodes: ['EU999'], permissiblePurposeCodes: ['02'] } }, async () => {
    const rule = 'must be an end user that the profile allows for SECONDUSE';
    assert.equal(await refusal({ shareId: 'S1', endUserCode: 'EU777' }), `/share/endUserCode ${rule}`);
    const purpose = { shareId: 'S1', endUserCode: 'EU999', permissiblePurposeCode: '03' };
    assert.match(await refusal(purpose), /^\/share\/permissiblePurposeCode must be a purpose that the profile allows/);
    assert.deepEqual((await journey.status()).shares, [], 'a share that was refused is not kept');
    const [one, two] = await Promise.all(
      [1, 2].map(() => journey.requestShare({ share: { shareId: 'S1', endUserCode: 'EU999' } })),
    );
    assert.deepEqual([one?.duplicate, two?.duplicate].sort(), [false, true]);
  });
  await whileAllowed({ SECONDUSE: { permissiblePurposeCodes: ['05'] } }, async () => {
    assert.match(await refusal({ shareId: 'S2', endUserCode: 'EU999' }), /^\/permissiblePurposeCodes\/SECONDUSE must/);
  });
  await journey.withdraw({ by: 'ops', reason: 'test' });
});

test('a share that is requested as the journey’s last stage ends is accepted, however long its check takes', async () => {
  const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'] }));
  const asked = [1, 2, 3, 4].map((n) =>
    journey.requestShare({ share: { shareId: `S${n}`, endUserCode: 'EU999', awaitConsentFor: 'PT1S' } }).then(
      () => 'accepted',
      (error: CallError) => error.code,
    ),
  );
  // The run posted each share that it accepted. Requests after its end failed with an error that says so.
  const answers = await Promise.all(asked);
  const accepted = answers.filter((answer) => answer === 'accepted').length;
  assert.ok(answers.every((answer) => ['accepted', 'shareAfterEnd', 'updateRefused'].includes(answer)));
  assert.equal((await journey.result()).shares.length, accepted);
});

test('a journey’s share that is held for its profile is posted once after the profile was corrected', async () => {
  const endUserCode = 'EU661';
  const shares = [{ shareId: 'S1', endUserCode }];
  const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'], shares }));
  for await (const { state } of journey.watch()) if (state === 'waitingForConsent') break;
  const hold = await whileAllowed({ SECONDUSE: { endUserCodes: ['EU0'] } }, async () => {
    await journey.recordConsent({ ...grant, secondaryUser: { endUserCode } });
    const held = await firstHoldOf(journey);
    assert.equal(held.failureType, 'InvalidInput');
    const rule = 'must be an end user that the profile allows for SECONDUSE';
    assert.deepEqual(held.problems, [{ path: '/endUserCode', rule }]);
    assert.deepEqual(held.allowedActions, ['resend', 'abandon']);
    await journey.resolveInquiry(resend(held));
    // The profile is still wrong, so the resend is held again and needs another decision.
    for await (const { holds } of journey.watch()) {
      const [anew] = holds;
      if (anew && anew.since !== held.since) return anew;
    }
    return assert.fail();
  });
  assert.equal(await postedTo(endUserCode), 0);
  assert.deepEqual([hold.failureType, hold.attempts], ['InvalidInput', 1]);
  await journey.resolveInquiry({ ...resend(hold), decisionId: 'D2' });
  assert.equal((await journey.result()).shares[0]?.state, 'posted');
  assert.equal(await postedTo(endUserCode), 1);
});

test('a stage that a resend continued is sent once, also after resets to before the decision and before the hold', async () => {
  const journey = await journeys.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'] }));
  for await (const { state } of journey.watch()) if (state === 'waitingAtGate') break;
  const held = await whileAllowed({ PREAPP: { endUserCodes: ['EU0'] } }, async () => {
    await journey.advance({ to: 'PREAPP' });
    return firstHoldOf(journey);
  });
  await journey.resolveInquiry(resend(held));
  await journey.result();
  const handle = harness.client.workflow.getHandle(journey.workflowId) as JourneyHandle;
  const sent = (await harness.received(handle)).map(({ productCode }) => productCode);
  assert.deepEqual(sent, ['PREQUAL', 'PREAPP']);
  const { stages } = await journey.status();
  // The reset drops the attempt from the history and replays the decision. The ledger still has the attempt.
  for (const before of [await taskOfMessage(handle, 'resolveInquiry'), await taskBeforeSend(handle, 2)]) {
    const again = await resetTo(harness, handle, before);
    await again.result();
    assert.deepEqual(
      (await harness.received(handle)).map(({ productCode }) => productCode),
      sent,
    );
    assert.deepEqual((await journey.status()).stages, stages);
  }
});
