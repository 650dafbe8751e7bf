/** A share whose grant is too old waits for that applicant, in the status, the list and the events. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { traceOf } from '../hazards/operator-hands.ts';
import {
  applicant,
  consentMessage,
  journeyInput,
  refusalOf,
  statusOf,
  untilStatus,
  update,
  WAIT_LIMIT_MS,
} from '../support/journey-harness.ts';
import { lateRefusal } from '../support/share-scenarios.ts';
import { runsSlowParts } from '../support/slow-parts.ts';
import { startWebhookStage, type WebhookStage } from '../support/webhook-scenarios.ts';

let stage: WebhookStage;
before(async () => {
  stage = await startWebhookStage();
});
after(() => stage?.close());

const joint = [applicant('1A'), applicant('2A')];
const decidedAgo = (seconds: number) => ({ decidedAt: new Date(Date.now() - seconds * 1_000).toISOString() });

async function missingTold(subject: string, count: number): Promise<string[][]> {
  const told = await stage.receiver.accepted('/all', subject, count);
  return told.flatMap(({ event }) =>
    event?.type === 'consent.missing' ? [(event.data as unknown as { waitingFor: string[] }).waitingFor] : [],
  );
}

describe('a share with a grant that is too old', { concurrency: 4 }, () => {
  test('waits for its applicant in the journey’s status, the list filter and the event', async () => {
    const { harness } = stage;
    const shares = [{ shareId: 'S1', endUserCode: 'EU999', consentValidFor: 'PT10M' }];
    const input = journeyInput({ stages: ['PREQUAL'], shares });
    const { journeyId } = input;
    const handle = await harness.start(input);
    const old = consentMessage(journeyId, { applicantId: '1A', ...decidedAgo(3_600) });
    await update(handle, 'recordConsent', old);
    const waiting = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    assert.deepEqual(waiting.shares[0]?.waitingFor, ['1A']);
    assert.deepEqual(await missingTold(journeyId, 2), [['1A']]);
    const isListed = async () => String((await handle.describe()).searchAttributes.WaitsFor ?? '') === 'consents';
    const endsAt = performance.now() + WAIT_LIMIT_MS;
    while (!(await isListed())) assert.ok(performance.now() < endsAt, 'it is listed as waiting for consent');
    const why = /does not count: the grant is too old for this share: .* under a new consentId/;
    assert.match(await refusalOf(update(handle, 'recordConsent', old)), why);
    await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
  });

  test('receives the answer that the grant is too old, also after the run has ended', async () => {
    const { harness } = stage;
    const shares = [{ shareId: 'S1', endUserCode: 'EU999', consentValidFor: 'PT10M', awaitConsentFor: 'PT2S' }];
    const input = journeyInput({ stages: ['PREQUAL'], shares });
    const { journeyId } = input;
    const handle = await harness.start(input);
    const old = consentMessage(journeyId, { applicantId: '1A', ...decidedAgo(3_600) });
    await update(handle, 'recordConsent', old);
    assert.equal((await handle.result()).shares[0]?.state, 'expired');
    assert.match(await lateRefusal(harness, old), /the grant is too old for this share: .* under a new consentId/);
  });

  test('names its applicant again as soon as the grant becomes too old', async () => {
    const { harness } = stage;
    const shares = [{ shareId: 'S1', endUserCode: 'EU999', consentValidFor: 'PT4S' }];
    const input = journeyInput({ stages: ['PREQUAL'], applicants: joint, shares });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A', ...decidedAgo(0) }));
    assert.deepEqual((await statusOf(handle)).shares[0]?.waitingFor, ['2A']);
    // No message arrives and a query does not advance the run's clock, so only the share's timer shows the age.
    const again = await untilStatus(handle, ({ shares: [share] }) => share?.waitingFor.length === 2);
    assert.deepEqual(again.shares[0]?.waitingFor, ['1A', '2A']);
    const told = await missingTold(journeyId, 3);
    assert.deepEqual(told, [
      ['1A', '2A'],
      ['1A', '2A'],
    ]);
    await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
    await handle.result();
  });

  test('posts under a new grant once the gateway’s wait is over, which the old grant did not outlast', {
    skip: !runsSlowParts,
  }, async () => {
    const { harness } = stage;
    const shares = [{ shareId: 'S1', endUserCode: 'EU999', consentValidFor: 'PT5S' }];
    const input = journeyInput({ stages: ['PREQUAL'], shares });
    const { journeyId } = input;
    const customerTraceNumber = traceOf(harness, journeyId, 'SECONDUSE', 'S1');
    await harness.addFaults([{ customerTraceNumber, fault: 'status', status: 429, retryAfter: 6, times: 1 }]);
    const handle = await harness.start(input);
    for (let grants = 0; grants < 2; grants++) {
      await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
      await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A', ...decidedAgo(0) }));
      await untilStatus(handle, ({ state }) => state !== 'waitingForConsent');
    }
    const { shares: ended } = await untilStatus(handle, ({ state }) => state !== 'running');
    assert.equal(ended[0]?.state, 'posted');
  });
});
