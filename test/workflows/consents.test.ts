/** Consents in every order, sent as real signals and updates, and counted at the gateway. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { WorkflowNotFoundError } from '@temporalio/common';
import fc from 'fast-check';
import { toLateConsentWorkflowId } from '../../src/client/connection/run-messages.ts';
import { startLateConsent } from '../../src/client/runs/consents.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { LateConsentResult } from '../../src/messages/journey/shapes.ts';
import { traceOf, until } from '../hazards/operator-hands.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { sharesPosted } from '../support/share-scenarios.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness?.close());

const share = { shareId: 'S1', endUserCode: 'EU999' };

async function startJoint(overrides: Partial<LendingJourneyInput> = {}) {
  const input = journeyInput({
    stages: ['PREQUAL'],
    applicants: [applicant('1A'), applicant('2A')],
    shares: [share],
    ...overrides,
  });
  return { handle: await harness.start(input), journeyId: input.journeyId };
}

describe('a share', { concurrency: 8 }, () => {
  test('is denied by one of two applicants, whose grant was dated ahead within the tolerance', async () => {
    const { handle, journeyId } = await startJoint();
    const say = (message: Parameters<typeof consentMessage>[1]) =>
      update(handle, 'recordConsent', consentMessage(journeyId, message));
    await say({ applicantId: '1A', decidedAt: new Date(Date.now() + 4 * 60_000).toISOString() });
    const denied = await say({ applicantId: '1A', decision: 'denied', decidedAt: new Date().toISOString() });
    assert.equal(denied.recorded, true);
    await say({ applicantId: '2A' }).catch(() => undefined);
    const result = await handle.result();
    assert.deepEqual([result.outcome, result.shares[0]?.state], ['completed', 'denied']);
    assert.equal(await sharesPosted(harness, handle), 0);
  });

  test('uses consents that came before its request, and only those for its secondary user', async () => {
    const { handle, journeyId } = await startJoint({ shares: [], sharesOpenFor: 'P1D' });
    await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A' }));
    await handle.signal(
      'consent',
      consentMessage(journeyId, { applicantId: '2A', consentId: 'for-another', secondaryUser: { endUserCode: 'EU1' } }),
    );
    await untilStatus(handle, ({ stages }) => stages[0]?.state === 'record');
    await update(handle, 'requestShare', { journeyId, share });
    const waiting = await untilStatus(handle, ({ shares }) => shares[0]?.waitingFor.join() === '2A');
    assert.equal(waiting.refusedMessages[0]?.consentId, 'for-another');
    assert.equal((await update(handle, 'requestShare', { journeyId, share })).duplicate, true);
    await handle.signal('consent', consentMessage(journeyId, { applicantId: '2A' }));
    await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
    await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
    assert.equal(await sharesPosted(harness, handle), 1);
  });

  test('is not retried if it is revoked while the gateway throttles it', async () => {
    const journeyId = `T-${randomUUID().slice(0, 13)}`;
    // The gateway throttles for longer than the revocation can take on any machine.
    const wait = { fault: 'status', status: 429, retryAfter: 3_000 };
    await harness.addFaults([{ customerTraceNumber: traceOf(harness, journeyId, 'SECONDUSE', 'S1'), ...wait }]);
    const { handle } = await startJoint({ journeyId, applicants: [applicant('1A')] });
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    await handle.signal('consent', grant);
    await untilReceived(handle, 'SECONDUSE');
    const { evidence: _, ...rest } = grant;
    await handle.signal('consent', { ...rest, decision: 'revoked' });
    const result = await handle.result();
    assert.equal(result.shares[0]?.state, 'revoked');
    assert.equal(await sharesPosted(harness, handle), 0);
    assert.equal((await harness.received(handle)).length, 2);
  });

  test('runs a late consent with its secondary user as the fairness key', async () => {
    const { client, config } = harness;
    const users = [{ endUserCode: 'EU999' }, { endUser: 'A Bank' }];
    const priorities = await Promise.all(
      users.map(async (secondaryUser) => {
        const consent = consentMessage(randomUUID(), { applicantId: '1A', secondaryUser });
        const messageId = randomUUID();
        await (await startLateConsent(client, config.taskQueue, consent, messageId)).result();
        const workflowId = toLateConsentWorkflowId(consent.journeyId, messageId);
        const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
        const { priorityKey, fairnessKey } = events?.[0]?.workflowExecutionStartedEventAttributes?.priority ?? {};
        return [priorityKey, fairnessKey];
      }),
    );
    assert.deepEqual(priorities, [
      [0, 'EU999'],
      [0, ''],
    ]);
  });

  test('refuses a late consent that was started without input, and blocks no workflow task', async () => {
    const started = [undefined, null].map((input) =>
      harness.client.workflow.execute<(input?: unknown) => Promise<LateConsentResult>>('recordLateConsent', {
        workflowId: `late-consent-${randomUUID()}`,
        taskQueue: harness.config.taskQueue,
        args: input === undefined ? [] : [input],
        workflowRunTimeout: '20 seconds',
      }),
    );
    for (const answer of await Promise.all(started)) {
      assert.ok('problems' in answer && answer.cause === 'invalidInput', JSON.stringify(answer));
    }
  });
});

async function untilReceived(handle: JourneyHandle, productCode: string): Promise<void> {
  const isReceived = async () =>
    (await harness.received(handle)).some((request) => request.productCode === productCode);
  await until(isReceived, 'the gateway has received nothing');
}

interface Step {
  applicantId: '1A' | '2A' | '3A';
  consentId: 'C1' | 'C2';
  decision: ConsentMessage['decision'];
  minutesAgo: number;
  wrong: 'nothing' | 'journey' | 'secondaryUser';
}

/** States the oracle: by the end each applicant has a grant that no denial or revocation cancels. */
function everybodyGranted(steps: readonly Step[]): boolean {
  return ['1A', '2A'].every((applicantId) => {
    const mine = steps.filter((step) => step.applicantId === applicantId && step.wrong !== 'journey');
    const refusals = mine.filter(({ decision }) => decision !== 'granted');
    return mine.some(
      (grant) =>
        grant.decision === 'granted' &&
        grant.wrong === 'nothing' &&
        !refusals.some(({ decision, consentId }) => decision === 'revoked' && consentId === grant.consentId) &&
        !refusals.some(({ decision, minutesAgo }) => decision === 'denied' && minutesAgo <= grant.minutesAgo),
    );
  });
}

function weighted<T extends string>(weights: Record<T, number>): fc.Arbitrary<T> {
  const entries = Object.entries<number>(weights) as [T, number][];
  return fc.oneof(...entries.map(([value, weight]) => ({ weight, arbitrary: fc.constant(value) })));
}

test('a revocation ends every grant if it came before the grant of its own id, also in the same task', async () => {
  const { handle, journeyId } = await startJoint();
  await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
  const later = { applicantId: '1A', consentId: 'C-LATER', decidedAt: new Date().toISOString() };
  await harness.stopWorker();
  await handle.signal('consent', consentMessage(journeyId, { ...later, decision: 'revoked' }));
  await handle.signal('consent', consentMessage(journeyId, later));
  await handle.signal('consent', consentMessage(journeyId, { applicantId: '2A' }));
  await harness.startWorker();
  assert.equal((await handle.result()).shares[0]?.state, 'revoked');
  assert.equal(await sharesPosted(harness, handle), 0);
});

test('no sequence of consents posts a share twice, or without the grant of every applicant', async (t) => {
  const steps = fc.array(
    fc.record({
      applicantId: weighted({ '1A': 5, '2A': 5, '3A': 1 }),
      consentId: fc.constantFrom('C1' as const, 'C2' as const),
      decision: weighted({ granted: 6, denied: 1, revoked: 1 }),
      minutesAgo: fc.integer({ min: 1, max: 4 }),
      wrong: weighted({ nothing: 8, journey: 1, secondaryUser: 1 }),
    }),
    { minLength: 2, maxLength: 7 },
  );
  // A prefix of the sequence may already permit the posting, which is then correct.
  const sequences = fc.sample(steps, { numRuns: 40, seed: 20_261_121 });
  const now = Date.now();
  let postedInAll = 0;
  await Promise.all(
    sequences.map(async (sequence, index) => {
      const isEarly = index % 2 === 0;
      const { handle, journeyId } = await startJoint(isEarly ? {} : { shares: [], sharesOpenFor: 'P1D' });
      if (!isEarly) await untilStatus(handle, ({ stages }) => stages[0]?.state === 'record');
      for (const step of sequence) await handle.signal('consent', messageOf(step, journeyId, now));
      if (!isEarly) await update(handle, 'requestShare', { journeyId, share }).catch(() => undefined);
      const isSettled = (state?: string) => ['posted', 'denied', 'revoked'].includes(state ?? '');
      const mayPost = sequence.some((_, end) => everybodyGranted(sequence.slice(0, end + 1)));
      await untilStatus(handle, ({ stages, shares }) => {
        if (stages[0]?.state !== 'record' || !shares[0]) return false;
        return isSettled(shares[0].state) || shares[0].waitingFor.length > 0;
      });
      const posted = await sharesPosted(harness, handle);
      postedInAll += posted;
      assert.ok(posted <= 1, `posted ${posted} times: ${JSON.stringify(sequence)}`);
      if (posted === 1) assert.ok(mayPost, `posted without a grant: ${JSON.stringify(sequence)}`);
      // The run may be about to end by itself.
      await handle.terminate().catch((error) => assert.ok(error instanceof WorkflowNotFoundError, error));
    }),
  );
  // Without this check the test would pass on a journey that shares nothing.
  assert.ok(postedInAll >= 3);
  t.diagnostic(`${postedInAll} of ${sequences.length} sequences ended in a posting`);
});

function messageOf({ applicantId, consentId, decision, minutesAgo, wrong }: Step, journeyId: string, now: number) {
  return consentMessage(wrong === 'journey' ? 'another-journey' : journeyId, {
    applicantId,
    consentId: `${applicantId}-${consentId}`,
    decision,
    decidedAt: new Date(now - minutesAgo * 60_000).toISOString(),
    ...(wrong === 'secondaryUser' ? { secondaryUser: { endUserCode: 'EU1' } } : {}),
  });
}
