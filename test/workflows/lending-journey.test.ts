import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JourneyReferences, JourneyResult } from '../../src/messages/journey/shapes.ts';
import { until } from '../hazards/operator-hands.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness?.close());

const shareWith = (endUserCode: string) => ({ shareId: 'S1', endUserCode });

async function failureOf(result: Promise<JourneyResult>): Promise<{ type?: string; details?: unknown[] }> {
  try {
    await result;
  } catch (error) {
    return (error as { cause: { type?: string; details?: unknown[] } }).cause;
  }
  throw new Error('the journey did not fail');
}

describe('a journey', { concurrency: 8 }, () => {
  test('with two applicants makes one inquiry for each of three stages and a consented share', async () => {
    const input = journeyInput({
      applicants: [applicant('1A'), applicant('2A')],
      shares: [shareWith('EU999')],
    });
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state, waitingFor }) => state === 'waitingAtGate' && waitingFor === 'PREAPP');
    await update(handle, 'advance', { journeyId: input.journeyId, to: 'PREAPP' });
    await update(handle, 'advance', { journeyId: input.journeyId, to: 'PRECLOSE' });
    const waiting = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    assert.deepEqual(waiting.shares[0]?.waitingFor, ['1A', '2A']);
    await handle.signal('consent', consentMessage(input.journeyId, { applicantId: '1A' }));
    const half = await untilStatus(handle, ({ shares }) => shares[0]?.waitingFor.length === 1);
    assert.deepEqual(half.shares[0]?.waitingFor, ['2A']);
    await handle.signal('consent', consentMessage(input.journeyId, { applicantId: '2A' }));
    const result = await handle.result();

    assert.equal(result.outcome, 'completed');
    assert.equal(result.environment, 'sandbox');
    const posted = await harness.posted(handle);
    assert.deepEqual(
      posted.map(({ productCode }) => productCode),
      ['PREQUAL', 'PREAPP', 'PRECLOSE', 'SECONDUSE'],
    );
    assert.equal(posted[3]?.endUserCode, 'EU999');
    assert.deepEqual(
      [...result.stages, ...result.shares].map(({ reportReferenceNumber }) => reportReferenceNumber),
      posted.map((inquiry) => (inquiry as { reportReferenceNumber?: string }).reportReferenceNumber),
    );
    for (const { reference, attempts } of result.stages) {
      assert.equal(attempts, 1);
      assert.deepEqual(
        reference?.applicants.map(({ applicantId }) => applicantId),
        ['1A', '2A'],
      );
    }
    const references = await handle.query<{ references: unknown[]; shares: unknown[] }>('references');
    assert.equal(references.references.length, 3);
    assert.equal(references.shares.length, 1);
  });

  test('stops after a stage without a record, or continues if its input says so', async () => {
    const noRecord = () => [applicant('1A', newSsn('0404'))];
    const stopped = await harness.start(journeyInput({ applicants: noRecord() }));
    const stoppedResult = await stopped.result();
    assert.equal(stoppedResult.outcome, 'stopped');
    assert.deepEqual(
      stoppedResult.stages.map(({ state }) => state),
      ['noRecord', 'skipped', 'skipped'],
    );
    const [posted, ...others] = (await harness.posted(stopped)) as { reportReferenceNumber?: string }[];
    assert.deepEqual(others, []);
    const [none] = stoppedResult.stages;
    assert.equal(none?.returnCode, 'No Record');
    assert.equal(none?.noRecordReference, posted?.reportReferenceNumber);
    assert.equal(none?.reportReferenceNumber, undefined);

    const goesOn = await harness.start(
      journeyInput({
        applicants: noRecord(),
        stages: ['PREQUAL', 'PREAPP'],
        gates: { PREAPP: { pass: 'auto' } },
        onNoRecord: 'continue',
        shares: [shareWith('EU999')],
      }),
    );
    const result = await goesOn.result();
    assert.equal(result.outcome, 'completed');
    assert.deepEqual(
      result.stages.map(({ state }) => state),
      ['noRecord', 'noRecord'],
    );
    assert.equal(result.shares[0]?.state, 'nothingToShare');
  });

  test('shows the gateway’s codes of each applicant, and its texts only to readers of the report', async () => {
    const applicants = [applicant('1A', newSsn('4050')), applicant('2A', newSsn('0404'))];
    const handle = await harness.start(journeyInput({ applicants, stages: ['PREQUAL'] }));
    const result = await handle.result();
    const { returnCode, returnReasonCode, applicantOutcomes, noRecordReference } = result.stages[0] ?? assert.fail();
    assert.deepEqual([returnCode, returnReasonCode, noRecordReference], ['Record', 'L1', undefined]);
    assert.deepEqual(applicantOutcomes, [
      { applicantId: '1A', outcome: 'record' },
      { applicantId: '2A', outcome: 'noRecord' },
    ]);
    const status = await statusOf(handle);
    assert.deepEqual(status.stages[0]?.applicantOutcomes, applicantOutcomes);
    const references = await handle.query<JourneyReferences>('references');
    assert.doesNotMatch(JSON.stringify([result, status, references]), /Limited file/);
  });

  test('holds an inquiry with Suppress, a code that the interface does not explain (7.3), until a decision', async () => {
    const input = journeyInput({ applicants: [applicant('1A', newSsn('0405'))] });
    const handle = await harness.start(input);
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    assert.deepEqual([holds[0]?.failureType, holds[0]?.returnCode], ['ReturnCodeUnknown', 'Suppress']);
    await update(handle, 'resolveInquiry', {
      ...{
        journeyId: input.journeyId,
        decisionId: 'D1',
        customerTraceNumber: holds[0]?.customerTraceNumber,
        attempt: 1,
      },
      ...{ action: 'accept', outcome: 'noReport', providerSaid: 'posted', by: 'ops', reason: 'asked the provider' },
    });
    const result = await handle.result();
    assert.deepEqual([result.outcome, result.stages[0]?.state], ['stopped', 'noReport']);
  });

  test('keeps an early advance, and answers a second one as a duplicate', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    const handle = await harness.start(input);
    const message = { journeyId: input.journeyId, to: 'PREAPP' };
    const first = await update(handle, 'advance', message);
    assert.deepEqual({ accepted: first.accepted, duplicate: first.duplicate }, { accepted: true, duplicate: false });
    assert.equal((await update(handle, 'advance', message)).duplicate, true);
    assert.equal((await handle.result()).outcome, 'completed');
  });

  test('pulls the next stages with the applicants of an advance', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    const wrong = { ...applicant('1A'), ssn: '12' };
    const reason = await refusalOf(
      update(handle, 'advance', { journeyId: input.journeyId, to: 'PREAPP', applicants: [wrong] }),
    );
    assert.match(reason, /\/applicants\/0\/ssn/);
    await update(handle, 'advance', {
      journeyId: input.journeyId,
      to: 'PREAPP',
      applicants: [applicant('1A'), applicant('2A')],
    });
    const result = await handle.result();
    assert.equal(result.stages[1]?.reference?.applicants.length, 2);
  });

  test('shows the line where it waits, and its caller, in the Temporal UI’s call stack', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    const stacks = (await handle.query<string>('__stack_trace')).split('\n\n');
    assert.ok(stacks.some((stack) => /^ +at waitAtGate \(.*advances\.ts:\d+.*\n +at \w+ \(.*stages\.ts/.test(stack)));
    await update(handle, 'withdraw', { journeyId: input.journeyId, by: 'test', reason: 'done' });
    await handle.result();
  });

  test('ends after the answer of an attempt in flight if it is withdrawn by signal', async () => {
    const input = journeyInput({ applicants: [applicant('1A', newSsn('4011'))] });
    const handle = await harness.start(input);
    await untilStatus(handle, ({ stages }) => stages[0]?.state === 'running');
    await until(async () => (await harness.received(handle)).length === 1, 'the gateway has not received it');
    await handle.signal('requestWithdrawal', { journeyId: input.journeyId, by: 'borrower', reason: 'changed mind' });
    const result = await handle.result();
    assert.equal(result.outcome, 'withdrawn');
    assert.equal(result.stages[0]?.state, 'record');
    assert.ok(result.stages[0]?.reference);
  });

  test('records the answer of an attempt in flight in the ledger before it ends as cancelled', async () => {
    const input = journeyInput({ applicants: [applicant('1A', newSsn('4011'))] });
    const handle = await harness.start(input);
    await until(async () => (await harness.received(handle)).length === 1, 'the gateway has not received it');
    await handle.cancel();
    await assert.rejects(handle.result(), (error: Error) => (error.cause as Error).name === 'CancelledFailure');
    const status = await statusOf(handle);
    assert.equal(status.state, 'cancelled');
    assert.equal(status.stages[0]?.state, 'record');
    assert.equal((await harness.posted(handle)).length, 1);
  });

  test('refuses an advance and a share once it is cancelled: nothing would come of them', async () => {
    const input = journeyInput({ applicants: [applicant('1A', newSsn('4011'))] });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await until(async () => (await harness.received(handle)).length === 1, 'the gateway has not received it');
    await handle.cancel();
    assert.match(await refusalOf(update(handle, 'advance', { journeyId, to: 'PREAPP' })), /is cancelled/);
    assert.match(
      await refusalOf(update(handle, 'requestShare', { journeyId, share: shareWith('EU999') })),
      /is cancelled/,
    );
    await assert.rejects(handle.result());
  });

  test('fails with every problem of an invalid input, before it sends anything', async () => {
    const input = journeyInput();
    const wrong = {
      ...input,
      endUserCode: '',
      applicants: [{ ...applicant('1A'), ssn: 'SENTINEL' }],
      extra: 'SENTINEL',
    };
    const handle = await harness.start(wrong as never);
    const failure = await failureOf(handle.result());
    assert.equal(failure.type, 'InvalidInput');
    const [details] = (failure.details ?? []) as { problems: { path: string; rule: string }[] }[];
    const paths = (details?.problems ?? []).map(({ path }) => path);
    assert.ok(paths.includes('/applicants/0/ssn'), String(paths));
    assert.ok(paths.includes('/endUserCode'), String(paths));
    assert.ok(!JSON.stringify(failure).includes('SENTINEL'));
    assert.equal((await harness.received(handle)).length, 0);
    const { state, problems } = await statusOf(handle);
    assert.deepEqual([state, problems], ['failed', details?.problems]);
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.ok(currentDetails.includes('`/applicants/0/ssn` '), currentDetails);
    assert.ok(!currentDetails.includes('SENTINEL'));
  });

  test('fails as invalid with input of any other shape', async () => {
    for (const input of [
      null,
      [],
      'text',
      { journeyId: 7 },
      { journeyId: 'x', applicants: [null], stages: 'PREQUAL' },
    ]) {
      const workflowId = `journey-shape-${Math.random().toString(36).slice(2)}`;
      const handle = await harness.client.workflow.start('lendingJourney', {
        workflowId,
        taskQueue: harness.config.taskQueue,
        args: [input],
      });
      assert.equal((await failureOf(handle.result())).type, 'InvalidInput');
    }
  });

  test('refuses invalid messages with the reason, and shows refused signals', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], shares: [shareWith('EU999')] });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    const eventsBefore = (await handle.fetchHistory()).events?.length;
    const consent = consentMessage(journeyId, { applicantId: '1A' });
    const refusals: [string, object, RegExp][] = [
      ['advance', { journeyId: 'other', to: 'PREAPP' }, /another journey/],
      ['advance', { journeyId, to: 'PRECLOSE' }, /leaves out/],
      ['advance', { journeyId, to: 'PREQUAL' }, /no gate/],
      ['advance', { journeyId, to: 'PREAPP', extra: 1 }, /unknown field/],
      ['advance', { journeyId, to: null }, /\/to must be one of/],
      ['recordConsent', { ...consent, applicantId: '3A' }, /no applicant/],
      ['recordConsent', { ...consent, secondaryUser: { endUserCode: 'EU1' } }, /must be that of the share/],
      ['recordConsent', { ...consent, evidence: undefined }, /evidence/],
      ['recordConsent', { ...consent, decidedAt: '2999-01-01T00:00:00Z' }, /future/],
      ['requestShare', { journeyId, share: shareWith('EU998') }, /other content: \/share\/endUserCode differs$/],
      ['requestShare', { journeyId, share: { shareId: 'S2', endUserCode: 'EU123' } }, /own end user/],
      ['requestShare', { journeyId, share: { shareId: 'S2' } }, /endUserCode, endUser or both/],
      ['withdraw', { journeyId, by: 'x' }, /reason is required/],
      [
        'resolveInquiry',
        {
          journeyId,
          decisionId: 'd',
          customerTraceNumber: 'PQ',
          attempt: 1,
          action: 'abandon',
          by: 'x',
          reason: 'y',
          providerSaid: 'notAsked',
        },
        /no inquiry/,
      ],
    ];
    for (const [name, message, reason] of refusals) {
      assert.match(await refusalOf(update(handle, name, message)), reason, name);
    }
    for (const malformed of [{}, 'a text', { ...consent, decision: 'perhaps' }]) {
      const { cause } = await update(handle, 'recordConsent', malformed as object).catch((error) => error);
      assert.deepEqual([cause.type, cause.details[0].cause], ['UpdateRefused', 'invalidInput']);
    }
    assert.equal((await handle.fetchHistory()).events?.length, eventsBefore);

    await handle.signal('consent', { ...consent, journeyId: 'other' });
    await handle.signal('consent', null);
    await handle.signal('requestWithdrawal', 'nonsense');
    const status = await untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal === 3);
    assert.deepEqual(
      status.refusedMessages.map(({ message }) => message),
      ['consent', 'consent', 'requestWithdrawal'],
    );
    assert.equal(status.refusedMessages[0]?.consentId, consent.consentId);
    await handle.terminate();
  });

  test('is the same run if it is started again, also after it has completed', async () => {
    const input = journeyInput({ stages: ['PREQUAL'] });
    const handle = await harness.start(input);
    await handle.result();
    const again = await harness.client.workflow.start('lendingJourney', {
      workflowId: handle.workflowId,
      taskQueue: harness.config.taskQueue,
      args: [input],
    });
    // A run that the caller's reuse policy allows ends with the ledger's answer and sends nothing.
    const result = (await again.result()) as JourneyResult;
    assert.equal(result.stages[0]?.state, 'record');
    assert.equal((await harness.received(handle)).length, 1);
  });
});
