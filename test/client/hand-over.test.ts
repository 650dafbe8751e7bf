/** The client follows a run from one hand-over to the next: journeys, pulls, shares by themselves. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CreditJourneys } from '../../src/client.ts';
import { floodWithNonsense, HANDS_OVER_SOON, untilNextRun } from '../support/floods.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
} from '../support/journey-harness.ts';
import { reportPull } from '../support/pull-scenarios.ts';
import { shareInput } from '../support/share-scenarios.ts';

let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  harness = await startHarness({ env: HANDS_OVER_SOON });
  journeys = await connectTo(harness);
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

async function handsOver({ workflowId }: { workflowId: string }): Promise<void> {
  const handle = harness.client.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  await floodWithNonsense(handle, 110);
  await untilNextRun(handle, runId);
}

async function until<Status extends { state: string }>(
  run: { watch(): AsyncIterable<Status> },
  state: string,
): Promise<Status> {
  for await (const status of run.watch()) if (status.state === state) return status;
  throw new Error(`it ended before it was ${state}`);
}

function grant(applicantId = '1A') {
  const { journeyId: _, shareId: __, ...message } = consentMessage('', { applicantId });
  return message;
}

describe('the client follows a run that hands over', { concurrency: 4 }, () => {
  test('a journey: its status, its watch, its result, its references, and that it was started already', async () => {
    const share = { shareId: 'S1', endUserCode: 'EU999' };
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares: [share] });
    const journey = await journeys.start(input);
    await until(journey, 'waitingAtGate');
    const seen: string[] = [];
    const watched = (async () => {
      for await (const { state } of journey.watch()) seen.push(state);
    })();
    const result = journey.result();
    await handsOver(journey);
    assert.equal((await journey.status()).state, 'waitingAtGate');
    const again = await journeys.start(input);
    assert.equal(again.workflowId, journey.workflowId);
    await again.advance({ to: 'PREAPP' });
    await until(journey, 'waitingForConsent');
    await handsOver(journey);
    assert.equal((await journey.references()).references.length, 2);
    const answer = await journey.recordConsent({ ...grant(), shareId: 'S1' });
    assert.equal(answer.late, false);
    assert.equal((await result).outcome, 'completed');
    await watched;
    assert.equal(seen.at(-1), 'completed');
  });

  test('a pull that is held: the decision reaches the new run', async () => {
    const input = reportPull('4002');
    const pull = await journeys.pull(input);
    const before = await until(pull, 'held');
    await handsOver(pull);
    const status = await pull.status();
    assert.deepEqual(status.holds, before.holds);
    const { customerTraceNumber = '', attempts: attempt = 0 } = status.holds[0] ?? {};
    await pull.resolve({
      ...{ decisionId: 'D1', customerTraceNumber, attempt, action: 'abandon' },
      ...{ by: 'operator', reason: 'asked the provider', providerSaid: 'notPosted' },
    });
    assert.equal((await pull.result()).outcome, 'abandoned');
    await journeys.pull(input);
  });

  test('a pull that is amended, and handed over while the amendment is held', async () => {
    const pull = await journeys.pull(reportPull('1422'));
    const word = { by: 'operator', reason: 'a typing error', providerSaid: 'notPosted' } as const;
    for (const [index, lastFour] of ['1422', '0001'].entries()) {
      const { holds } = await until(pull, 'held');
      const { customerTraceNumber = '', attempts: attempt = 0 } = holds[0] ?? {};
      const applicants = [applicant('1A', newSsn(lastFour))];
      const decision = { decisionId: `D${index}`, customerTraceNumber, attempt, action: 'amend' as const, applicants };
      await pull.resolve({ ...decision, ...word });
      if (index > 0) break;
      for await (const { holds: next } of pull.watch()) if (next[0]?.customerTraceNumber.endsWith('01')) break;
      await handsOver(pull);
    }
    const { outcome, customerTraceNumber } = await pull.result();
    assert.equal(outcome, 'record');
    assert.equal(customerTraceNumber.slice(-2), '02');
  });

  test('a share by itself: who consented before counts, and a refusal after that ends it', async () => {
    const input = reportPull('0001', { applicants: [applicant('1A'), applicant('2A')] });
    await (await journeys.pull(input)).result();
    const report = { pullId: input.pullId, productCode: 'CR' as const };
    const [posted, refused] = await Promise.all([
      journeys.shareReport(shareInput(report)),
      journeys.shareReport(shareInput(report, { endUserCode: 'EU998' })),
    ]);
    const consentOf = (applicantId: string) => ({ ...grant(applicantId), secondaryUser: { endUserCode: 'EU999' } });
    const refusedUser = { secondaryUser: { endUserCode: 'EU998' } };
    for (const share of [posted, refused]) await until(share, 'waitingForConsent');
    await posted.recordConsent(consentOf('1A'));
    await refused.recordConsent({ ...grant('1A'), ...refusedUser });
    for (const share of [posted, refused]) await handsOver(share);
    assert.deepEqual((await posted.status()).consentsMissing, ['2A']);
    await posted.recordConsent(consentOf('2A'));
    await refused.recordConsent({ ...grant('1A'), ...refusedUser, decision: 'denied' });
    assert.equal((await posted.result()).outcome, 'posted');
    assert.equal((await refused.result()).outcome, 'denied');
  });
});
