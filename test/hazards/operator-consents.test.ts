/** Consents and revocations around a share's attempts, and across a reset. Counted at the gateway. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { InquiryView } from '../../src/ledger/records.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { ShareStatus } from '../../src/messages/journey/shapes.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { readAttention } from '../support/open-inquiries.ts';
import { SHORT_TIMEOUTS } from '../support/short-timeouts.ts';
import {
  decisionAbout,
  inquiriesOf,
  resetTo,
  taskBeforeSend,
  taskOfMessage,
  traceOf,
  until,
  withLedger,
} from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({ env: SHORT_TIMEOUTS });
});
after(() => harness?.close());

const USERS = { S1: 'EU901', S2: 'EU902' } as const;

function sharesTo(...shareIds: (keyof typeof USERS)[]) {
  return journeyInput({
    stages: ['PREQUAL'],
    shares: shareIds.map((shareId) => ({ shareId, endUserCode: USERS[shareId] })),
  });
}

function grantFor(journeyId: string, shareId: keyof typeof USERS): ConsentMessage {
  return consentMessage(journeyId, { applicantId: '1A', shareId, secondaryUser: { endUserCode: USERS[shareId] } });
}

function revocationOf({ evidence: _, ...grant }: ConsentMessage): ConsentMessage {
  return { ...grant, decision: 'revoked' };
}

async function untilShared(handle: JourneyHandle, shareId: string): Promise<ShareStatus | undefined> {
  const isPosted = (share: ShareStatus) => share.shareId === shareId && share.state === 'posted';
  return (await untilStatus(handle, ({ shares }) => shares.some(isPosted))).shares.find(isPosted);
}

async function sharesReceived(handle: JourneyHandle): Promise<number> {
  return (await harness.received(handle)).filter(({ productCode }) => productCode === 'SECONDUSE').length;
}

describe('two shares', () => {
  test('are posted once each, under separate trace numbers, also after a reset that forgets the consents', async () => {
    const input = sharesTo('S1', 'S2');
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    for (const shareId of ['S1', 'S2'] as const) {
      await update(handle, 'recordConsent', grantFor(journeyId, shareId));
      await untilShared(handle, shareId);
    }
    const { shares } = await handle.result();
    assert.equal(new Set(shares.map(({ customerTraceNumber }) => customerTraceNumber)).size, 2);
    assert.equal(new Set(shares.map(({ reportReferenceNumber }) => reportReferenceNumber)).size, 2);

    const task = await taskOfMessage(handle, 'recordConsent');
    const again = await resetTo(harness, handle, task, { forgetMessages: true });
    for (const shareId of ['S1', 'S2']) await untilShared(again, shareId);
    assert.deepEqual((await again.result()).shares, shares);
    assert.equal(await sharesReceived(again), 2);
    assert.deepEqual(
      (await harness.posted(again))
        .slice(1)
        .map(({ endUserCode, customerTraceNumber }) => [endUserCode, customerTraceNumber]),
      shares.map(({ shareId, customerTraceNumber }) => [USERS[shareId as 'S1'], customerTraceNumber]),
    );
  });
});

describe('a share', { concurrency: 4 }, () => {
  test('whose consent is revoked while its request is in flight is posted once, and flagged', async () => {
    const input = sharesTo('S1');
    const customerTraceNumber = traceOf(harness, input.journeyId, 'SECONDUSE', 'S1');
    await harness.addFaults([{ customerTraceNumber, fault: 'slowAfterPosting', delayMs: 1_500 }]);
    const handle = await harness.start(input);
    const grant = grantFor(input.journeyId, 'S1');
    await update(handle, 'recordConsent', grant);
    await until(async () => (await sharesReceived(handle)) === 1, 'nothing was received');
    await update(handle, 'recordConsent', revocationOf(grant));
    const [posted] = (await handle.result()).shares;
    assert.equal(posted?.state, 'posted');
    assert.equal(posted?.attention, 'revokedAfterPosting');
    assert.equal(await sharesReceived(handle), 1);
    const inquiry = await share(input.journeyId);
    assert.deepEqual(await attentionOf(inquiry?.customerTraceNumber), ['revokedAfterPosting']);
    assert.deepEqual(
      inquiry?.attempts.map(({ state }) => state),
      ['answered'],
    );
  });

  test('whose consent is revoked while it is on hold is not sent again, even after a resend decision', async () => {
    const input = sharesTo('S1');
    const customerTraceNumber = traceOf(harness, input.journeyId, 'SECONDUSE', 'S1');
    await harness.addFaults([{ customerTraceNumber, attempt: 1, fault: 'resetBeforePosting' }]);
    const handle = await harness.start(input);
    const grant = grantFor(input.journeyId, 'S1');
    await update(handle, 'recordConsent', grant);
    const status = await untilStatus(handle, ({ state }) => state === 'held');
    await update(handle, 'recordConsent', revocationOf(grant));
    await update(handle, 'resolveInquiry', decisionAbout(status));
    assert.equal((await handle.result()).shares[0]?.state, 'revoked');
    assert.equal(await sharesReceived(handle), 1);
    // One attempt of the stage, one of the share. The run makes no further attempt; the ledger would refuse it, too.
    await assert.rejects(taskBeforeSend(handle, 3), /has made 2 attempts/);
    // The gateway may have posted the share. The consumer who revoked the consent has a right to know that.
    assert.deepEqual(await attentionOf((await share(input.journeyId))?.customerTraceNumber), ['revokedAfterPosting']);
  });

  test('whose consent was revoked between two runs of its journey is not posted by the second run', async () => {
    const input = sharesTo('S1');
    const { journeyId } = input;
    const first = await harness.start(input);
    await untilStatus(first, ({ state }) => state === 'waitingForConsent');
    await first.terminate();
    const grant = grantFor(journeyId, 'S1');
    await harness.client.workflow.execute('recordLateConsent', {
      taskQueue: harness.config.taskQueue,
      workflowId: `late-consent-${journeyId}`,
      args: [{ consent: revocationOf(grant) }],
    });
    // The second run receives the refusal when it starts, and waits for no consent.
    const handle = await harness.start(input);
    assert.equal((await handle.result()).shares[0]?.state, 'revoked');
    assert.equal(await sharesReceived(handle), 0);
    assert.equal(await share(journeyId), undefined);
  });

  function attentionOf(customerTraceNumber: string | undefined) {
    return withLedger(harness, (ledger) => readAttention(ledger, customerTraceNumber));
  }

  async function share(journeyId: string): Promise<InquiryView | undefined> {
    return (await inquiriesOf(harness, journeyId)).find(({ shareId }) => shareId === 'S1');
  }
});

/** Ends the share's wait after the reset. */
const ENDS: Record<string, (run: JourneyHandle, journeyId: string) => Promise<unknown>> = {
  'a grant for another person and a time-out': async (run, journeyId) => {
    await update(run, 'recordConsent', grantFor(journeyId, 'S1'));
    await amendAsOther(run);
  },
  'the journey’s withdrawal': async (run, journeyId) => {
    await amendAsOther(run);
    await untilStatus(run, ({ state }) => state === 'waitingForConsent');
    await update(run, 'withdraw', { journeyId, by: 'borrower', reason: 'bought elsewhere' });
  },
};

async function amendAsOther(run: JourneyHandle): Promise<void> {
  const held = await untilStatus(run, ({ state }) => state === 'held');
  const names = [{ first: 'Robin', last: 'Other' }];
  const applicants = [{ ...applicant('1A', '912340001'), names }];
  await update(run, 'resolveInquiry', decisionAbout(held, { action: 'amend', applicants }));
}

describe('a share that was posted before a reset', { concurrency: 4 }, () => {
  for (const [by, end] of Object.entries(ENDS)) {
    test(`is reported as posted when its wait ends by ${by}`, async () => {
      const input = {
        ...journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('1422'))] }),
        shares: [{ shareId: 'S1', endUserCode: USERS.S1, awaitConsentFor: 'PT4S' }],
      };
      const { journeyId } = input;
      const handle = await harness.start(input);
      await amendAsOther(handle);
      await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
      await update(handle, 'recordConsent', grantFor(journeyId, 'S1'));
      const [posted] = (await handle.result()).shares;
      assert.equal(posted?.state, 'posted');

      const again = await resetTo(harness, handle, await taskOfMessage(handle, 'resolveInquiry'), {
        forgetMessages: true,
      });
      await end(again, journeyId);
      const [share] = (await again.result()).shares;
      assert.equal(share?.state, 'posted');
      assert.equal(share?.customerTraceNumber, posted?.customerTraceNumber);
      assert.equal(share?.reportReferenceNumber, posted?.reportReferenceNumber);
      assert.equal(await sharesReceived(again), 1);
    });
  }
});
