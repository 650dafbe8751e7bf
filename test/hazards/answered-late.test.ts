/**
 * The answer to an attempt that was given up arrives while the resends that an operator permitted cannot connect. A run
 * keeps the time-outs with which it was prepared. They are shorter than the worker's, so its request outlives its activity.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { type Harness, journeyInput, startHarness, untilStatus, update } from '../support/journey-harness.ts';
import { ON_GATEWAY_QUEUE } from '../support/short-timeouts.ts';
import { decisionAbout, inquiriesOf, traceOf } from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({
    env: {
      ...ON_GATEWAY_QUEUE,
      ...{ GATEWAY_HEADERS_TIMEOUT_MS: '15000', SEND_BY_MS: '1000', BACKOFF_INITIAL_MS: '200', BACKOFF_MAX_MS: '500' },
    },
  });
  Object.assign(harness.config.protocol, { submitTimeoutMs: 1_200 });
});
after(() => harness?.close());

/** The gateway refuses connections from now on, for longer than the first request takes to be answered. */
async function refuseConnections(): Promise<void> {
  const answer = await fetch(`${harness.sandboxUrl}/_sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rules: [], refuseConnectionsForMs: 8_000 }),
  });
  assert.equal(answer.status, 200);
}

test('a late answer while the resend cannot connect holds the inquiry as AnsweredLate, and an operator can accept it', async () => {
  const input = journeyInput({ stages: ['PREQUAL'] });
  const customerTraceNumber = traceOf(harness, input.journeyId, 'PREQUAL');
  await harness.addFaults([{ customerTraceNumber, attempt: 1, fault: 'slowAfterPosting', delayMs: 6_000 }]);
  const handle = await harness.start(input);
  const isHeldFor = (failureType: string) => (status: JourneyStatus) => status.holds[0]?.failureType === failureType;
  const unknown = await untilStatus(handle, isHeldFor('OutcomeUnknown'));
  await refuseConnections();
  await update(handle, 'resolveInquiry', decisionAbout(unknown));

  const late = await untilStatus(handle, isHeldFor('AnsweredLate'));
  assert.deepEqual(late.holds[0]?.allowedActions, ['accept', 'abandon']);
  assert.equal(late.holds[0]?.attempts, 1, 'it is about the attempt that was answered');
  const [inquiry] = await inquiriesOf(harness, input.journeyId);
  const [first, ...others] = inquiry?.attempts ?? [];
  assert.deepEqual([first?.state, first?.answeredLate], ['unknown', true]);
  assert.ok(others.length > 0 && others.every(({ state }) => state === 'notSent'));

  const accepted = decisionAbout(late, {
    decisionId: 'D2',
    action: 'accept',
    outcome: 'noRecord',
    providerSaid: 'posted',
  });
  await update(handle, 'resolveInquiry', accepted);
  const result = await handle.result();
  assert.equal(result.stages[0]?.state, 'noRecord');
  const decided = await inquiriesOf(harness, input.journeyId);
  assert.equal(decided[0]?.attempts[0]?.state, 'accepted');
  // The gateway accepts connections again after a while.
  for (;;) {
    const requests = await harness.received(handle).catch(() => undefined);
    if (!requests) continue;
    assert.equal(requests.length, 1, 'one request has ever arrived');
    break;
  }
});
