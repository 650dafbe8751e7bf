import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type CreditJourneys, InvalidInputError, type JourneyStatus } from '../../src/client.ts';
import { describeStanding, toRunView } from '../../src/words/runs.ts';
import { eventsOf, resetTo, taskBeforeSend, until, untilIdle } from '../hazards/operator-hands.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
} from '../support/journey-harness.ts';
import { lockLedger, openLedgerOf } from '../support/ledger-access.ts';

let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  harness = await startHarness();
  journeys = await connectTo(harness, {
    openLedger: () => openLedgerOf(harness),
  });
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

const oneStage = (overrides = {}) => journeyInput({ stages: ['PREQUAL'], ...overrides });

/** Consumes the watch until a status meets the condition. */
async function watchUntil(
  statuses: AsyncIterable<JourneyStatus>,
  isWanted: (status: JourneyStatus) => boolean,
): Promise<JourneyStatus> {
  for await (const status of statuses) if (isWanted(status)) return status;
  throw new Error('the watch ended too soon');
}

const { journeyId: _, ...grant } = consentMessage('', { applicantId: '1A' });

describe('the client', { concurrency: 8 }, () => {
  test('takes a journey through gates, a share and a consent, and reads its result', async () => {
    const journey = await journeys.start(journeyInput({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] }));
    const answer = await journey.advance({ to: 'PREAPP' });
    assert.equal(answer.accepted, true);
    assert.equal(answer.duplicate, false);
    await journey.advance({ to: 'PRECLOSE' });
    assert.equal((await journey.recordConsent(grant)).late, false);
    const states: string[] = [];
    for await (const status of journey.watch()) states.push(status.state);
    assert.equal(states.at(-1), 'completed');

    const result = await journey.result();
    assert.equal(result.outcome, 'completed');
    assert.deepEqual(
      (await journey.status()).stages.map(({ state }) => state),
      ['record', 'record', 'record'],
    );
    const { references, shares } = await journey.references();
    assert.deepEqual(
      references.map(({ productCode, reference }) => [productCode, reference.reportReferenceNumber]),
      result.stages.map(({ productCode, reportReferenceNumber }) => [productCode, reportReferenceNumber]),
    );
    assert.equal(shares[0]?.reportReferenceNumber, result.shares[0]?.reportReferenceNumber);
  });

  test('returns an existing journey as not new, also after its end, and refuses other input for its id', async () => {
    const input = journeyInput();
    const first = await journeys.start(input);
    const again = await journeys.start(input);
    assert.equal((await again.status()).journeyId, first.journeyId);
    assert.deepEqual([first.isNew, again.isNew], [true, false]);
    const other = { ...input, endUserCode: 'EU124', applicants: [applicant('1A')] };
    const isRefused = {
      code: 'differs',
      message: /was started with another input: \/endUserCode, \/applicants\/0\/ssn differ;/,
    };
    await assert.rejects(journeys.start(other), isRefused);
    await first.withdraw({ by: 'ops', reason: 'test' });
    await first.result();
    assert.equal((await journeys.start(input)).isNew, false);
    await assert.rejects(journeys.start(other), isRefused);
    await assert.rejects(first.advance({ to: 'PREAPP' }), { code: 'journeyFinished' });
    assert.equal((await harness.client.workflow.getHandle(first.workflowId).describe()).historyLength > 0, true);
  });

  test('reports notFound for an unknown journey', async () => {
    const journey = journeys.get(`nobody-${randomUUID()}`);
    await assert.rejects(journey.status(), { code: 'notFound' });
    await assert.rejects(journey.references(), { code: 'notFound' });
    await assert.rejects(journey.advance({ to: 'PREAPP' }), { code: 'notFound' });
    await assert.rejects(journey.result(), { code: 'notFound' });
    await assert.rejects(
      watchUntil(journey.watch(), () => true),
      { code: 'notFound' },
    );
  });

  test('refuses invalid input before it is sent, with the path of each problem', async () => {
    const input = oneStage({ applicants: [{ ...applicant('1A'), ssn: '1', dob: '2999-01-01' }], endUserCode: '' });
    await assert.rejects(journeys.start(input), (error) => {
      assert.ok(error instanceof InvalidInputError);
      const paths = error.problems.map(({ path }) => path);
      assert.deepEqual(paths, ['/endUserCode', '/applicants/0/ssn', '/applicants/0/dob']);
      return true;
    });
    await assert.rejects(journeys.get(input.journeyId).status(), { code: 'notFound' });
    assert.throws(() => journeys.get('a@example.com'), InvalidInputError);
    await assert.rejects(journeys.get('J1').withdraw({ by: '', reason: '' }), InvalidInputError);
  });

  test('reports the paths of invalid input from the failure of a run that another program started', async () => {
    const input = { ...oneStage(), applicants: [{ ...applicant('1A'), ssn: '1' }] };
    await harness.start(input);
    const journey = journeys.get(input.journeyId);
    await assert.rejects(journey.result(), (error) => {
      assert.ok(error instanceof InvalidInputError);
      assert.deepEqual(
        error.problems.map(({ path }) => path),
        ['/applicants/0/ssn'],
      );
      return true;
    });
  });

  test('reports how a run ended if it has no result', async () => {
    const journey = await journeys.start(journeyInput());
    await harness.client.workflow.getHandle(journey.workflowId).terminate('test');
    await assert.rejects(journey.result(), { code: 'runFailed', reason: 'Terminated' });
    assert.ok(await journeys.start(journeyInput({ journeyId: journey.journeyId })), 'it may be started again');
    await journey.withdraw({ by: 'ops', reason: 'test' });
  });

  test('says that a run on hold was terminated, in its status and its watch, with its holds as they were', async () => {
    const journey = await journeys.start(oneStage({ applicants: [applicant('1A', newSsn('3408'))] }));
    const statuses = journey.watch()[Symbol.asyncIterator]();
    const watch = { [Symbol.asyncIterator]: () => ({ next: () => statuses.next() }) };
    const { holds } = await watchUntil(watch, ({ state }) => state === 'held');
    const handle = harness.client.workflow.getHandle(journey.workflowId) as JourneyHandle;
    // No worker can answer about a run that has an event after its last task.
    await untilIdle(handle);
    await handle.terminate('gone');
    const ended = await watchUntil(watch, ({ state }) => state === 'terminated');
    assert.deepEqual(ended.holds, holds);
    assert.deepEqual(await statuses.next(), { done: true, value: undefined });
    assert.match(describeStanding(toRunView(ended)), /^It was terminated\. .* An operator must decide about PREQUAL/);
    const { state } = await journey.status();
    assert.equal(state, 'terminated');
  });

  test('shows a hold and its resolution in a watch', async () => {
    const journey = await journeys.start(oneStage({ applicants: [applicant('1A', newSsn('3408'))] }));
    const statuses = journey.watch()[Symbol.asyncIterator]();
    const watch = { [Symbol.asyncIterator]: () => ({ next: () => statuses.next() }) };
    const held = await watchUntil(watch, ({ state }) => state === 'held');
    const { customerTraceNumber = '', attempts = 0 } = held.holds[0] ?? {};
    const answer = await journey.resolveInquiry({
      decisionId: 'D1',
      customerTraceNumber,
      attempt: attempts,
      action: 'abandon',
      by: 'ops',
      reason: 'test',
      providerSaid: 'unknown',
    });
    assert.equal(answer.accepted, true);
    const end = await watchUntil(watch, ({ state }) => state === 'abandoned');
    assert.equal(end.stages[0]?.state, 'abandoned');
    assert.equal((await statuses.next()).done, true);
  });

  test('ends a watch without an error when its signal aborts', async () => {
    const journey = await journeys.start(journeyInput());
    const stop = new AbortController();
    for await (const status of journey.watch({ signal: stop.signal })) {
      if (status.state === 'waitingAtGate') stop.abort();
    }
    await journey.withdraw({ by: 'ops', reason: 'test' });
  });

  test('follows a journey across a reset', async () => {
    const journey = await journeys.start(journeyInput());
    const handle = harness.client.workflow.getHandle(journey.workflowId);
    const states: string[] = [];
    const result = journey.result();
    let isReset = false;
    for await (const status of journey.watch()) {
      states.push(status.state);
      if (status.state !== 'waitingAtGate' || isReset) continue;
      isReset = true;
      const { runId } = await handle.describe();
      await harness.client.workflowService.resetWorkflowExecution({
        namespace: harness.client.options.namespace,
        workflowExecution: { workflowId: journey.workflowId, runId },
        reason: 'test',
        requestId: randomUUID(),
        // The SDK's type requires a Long, but a number is encoded as well.
        ...({ workflowTaskFinishEventId: 4 } as object),
      });
      await journey.withdraw({ by: 'ops', reason: 'test' });
    }
    assert.equal(states.at(-1), 'withdrawn');
    assert.equal((await result).outcome, 'withdrawn', 'the caller has waited since before the reset');
  });
});

describe('the client without a worker', () => {
  test('waits in a watch until a worker runs, and reads a completed journey without a worker', async (t) => {
    const own = await startHarness();
    t.after(() => own.close());
    await using alone = await connectTo(own, { queryTimeoutMs: 1_000 });
    const done = await alone.start(oneStage());
    await done.result();
    await own.stopWorker();
    const journey = await alone.start(oneStage());
    await assert.rejects(journey.status(), { code: 'workerUnavailable' });
    const away = Promise.withResolvers<void>();
    const end = watchUntil(
      journey.watch({ onUnavailable: () => away.resolve() }),
      ({ state }) => state === 'completed',
    );
    assert.equal((await done.status()).state, 'completed');
    await away.promise;
    await own.startWorker();
    assert.equal((await end).stages[0]?.state, 'record');
  });
});

test('a reset run refuses a repeated decision that the ledger refuses, and accepts another one', async () => {
  const other = await journeys.start(oneStage());
  const { reference } = (await other.result()).stages[0] ?? {};
  assert.ok(reference);
  const journey = await journeys.start(oneStage({ applicants: [applicant('1A', newSsn('4002'))] }));
  const held = () => watchUntil(journey.watch(), ({ state }) => state === 'held');
  const [hold] = (await held()).holds;
  const decision = {
    decisionId: 'D1',
    customerTraceNumber: hold?.customerTraceNumber ?? '',
    attempt: 1,
    by: 'operator',
    reason: 'asked the provider',
    providerSaid: 'posted',
  } as const;
  const accept = () =>
    journey.resolveInquiry(
      { ...decision, action: 'accept', outcome: 'record', reference },
      { messageId: 'sent-twice' },
    );
  // The run accepts the decision and the ledger refuses it, so the hold is open again after the reset.
  await assert.rejects(accept(), /in the ledger it belongs to another one/);
  const handle = harness.client.workflow.getHandle(journey.workflowId) as JourneyHandle;
  await resetTo(harness, handle, await taskBeforeSend(handle));
  await held();
  await assert.rejects(accept(), /in the ledger it belongs to another one/);
  await journey.resolveInquiry({ ...decision, decisionId: 'D2', action: 'abandon' });
  assert.equal((await journey.result()).outcome, 'abandoned');
});

test('a run that was reset to the start of its hold applies the recorded decision again', async () => {
  const journey = await journeys.start(oneStage({ applicants: [applicant('1A', newSsn('4002'))] }));
  const [hold] = (await watchUntil(journey.watch(), ({ state }) => state === 'held')).holds;
  await journey.resolveInquiry({
    decisionId: 'D1',
    customerTraceNumber: hold?.customerTraceNumber ?? '',
    attempt: 1,
    action: 'abandon',
    by: 'operator',
    reason: 'asked the provider',
    providerSaid: 'posted',
  });
  assert.equal((await journey.result()).outcome, 'abandoned');
  // This workflow task handles the attempt's failure. The decision is admitted again in the same task.
  const handle = harness.client.workflow.getHandle(journey.workflowId) as JourneyHandle;
  const events = await eventsOf(handle);
  const failed = events.findIndex((event) => event.activityTaskFailedEventAttributes);
  const task = events.slice(failed).find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
  assert.ok(failed > 0 && task);
  await resetTo(harness, handle, task);
  assert.equal((await journey.result()).outcome, 'abandoned');
});

test('a message that waits for the ledger during a reset is answered by the run that follows', async () => {
  const journey = await journeys.start(journeyInput());
  await watchUntil(journey.watch(), ({ state }) => state === 'waitingAtGate');
  const handle = harness.client.workflow.getHandle(journey.workflowId) as JourneyHandle;
  await untilIdle(handle);
  const unlock = lockLedger(harness);
  try {
    const answered = journey.withdraw({ by: 'ops', reason: 'test' });
    await until(async () => {
      return (await eventsOf(handle)).some((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
    }, 'the run has not accepted the message');
    await resetTo(harness, handle, await taskBeforeSend(handle));
    assert.equal((await answered).accepted, true);
  } finally {
    unlock();
  }
  assert.equal((await journey.result()).outcome, 'withdrawn');
});
