/**
 * Answers that arrive after their attempt was given up. A run keeps the time-outs with which it was prepared. They are
 * shorter than the worker's, so its requests outlive their activities.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Harness,
  journeyInput,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { ON_GATEWAY_QUEUE } from '../support/short-timeouts.ts';
import { decisionAbout, inquiriesOf, traceOf, until } from './operator-hands.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({
    env: { ...ON_GATEWAY_QUEUE, GATEWAY_HEADERS_TIMEOUT_MS: '10000', SEND_BY_MS: '1000' },
  });
  Object.assign(harness.config.protocol, { submitTimeoutMs: 1_200 });
});
after(() => harness?.close());

/** A journey that is held because its attempt timed out. The answer arrives later. */
async function heldUnanswered(answeredAfterMs: number) {
  const input = journeyInput({ stages: ['PREQUAL'] });
  const customerTraceNumber = traceOf(harness, input.journeyId, 'PREQUAL');
  await harness.addFaults([{ customerTraceNumber, attempt: 1, fault: 'slowAfterPosting', delayMs: answeredAfterMs }]);
  const handle = await harness.start(input);
  const status = await untilStatus(handle, ({ state }) => state === 'held');
  assert.equal(status.holds[0]?.failureType, 'OutcomeUnknown');
  return { handle, status, inquiry: async () => (await inquiriesOf(harness, input.journeyId))[0] };
}

type ReadInquiry = Awaited<ReturnType<typeof heldUnanswered>>['inquiry'];

async function lateAnswer(inquiry: ReadInquiry): Promise<string | undefined> {
  return (await inquiry())?.attempts[0]?.lateAnswerAt;
}

describe('an answer that arrives after its attempt was given up', { concurrency: 4 }, () => {
  test('and before any decision is the outcome; a later resend decision is refused', async () => {
    const { handle, status, inquiry } = await heldUnanswered(3_000);
    await until(async () => (await inquiry())?.attempts[0]?.state === 'answered', 'the answer was not recorded');
    const late = decisionAbout(status);
    const overtaken = /^nothing was decided: by now its attempt 1 is answered$/;
    assert.match(await refusalOf(update(handle, 'resolveInquiry', late)), overtaken);
    const result = await handle.result();
    assert.equal(result.stages[0]?.state, 'record');
    assert.equal(result.stages[0]?.attempts, 1);
    assert.equal((await harness.received(handle)).length, 1);
    assert.equal(await lateAnswer(inquiry), undefined);
  });

  test('and after a resend decision is recorded as late, and the journey does not receive it', async () => {
    const { handle, status, inquiry } = await heldUnanswered(5_000);
    await update(handle, 'resolveInquiry', decisionAbout(status));
    const result = await handle.result();
    assert.equal(result.stages[0]?.attempts, 2);
    assert.equal(await lateAnswer(inquiry), undefined, 'the first answer has come before the second');
    await until(async () => (await lateAnswer(inquiry)) !== undefined, 'the late answer was not recorded');

    assert.deepEqual(
      (await inquiry())?.attempts.map(({ state, lateAnswerAt }) => [state, lateAnswerAt !== undefined]),
      [
        ['unknown', true],
        ['answered', false],
      ],
    );
    const references = (await harness.posted(handle)).map(({ reportReferenceNumber }) => reportReferenceNumber);
    assert.equal(references.length, 2);
    assert.equal(result.stages[0]?.reference?.reportReferenceNumber, references[1]);
    assert.equal((await harness.received(handle)).length, 2);
  });

  test('and after an abandon decision is recorded as late, and the journey stays abandoned', async () => {
    const { handle, status, inquiry } = await heldUnanswered(4_000);
    await update(handle, 'resolveInquiry', decisionAbout(status, { action: 'abandon' }));
    assert.equal((await handle.result()).outcome, 'abandoned');
    await until(async () => (await lateAnswer(inquiry)) !== undefined, 'the late answer was not recorded');
    assert.notEqual((await inquiry())?.abandonedAt, undefined);
    assert.equal((await harness.received(handle)).length, 1);
  });
});
