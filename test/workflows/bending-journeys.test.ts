/** Journeys that change on their way, compared with the gateway's postings and the ledger's attempts. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AuditedAttempt } from '../../src/ledger/audit/audited.ts';
import type { InquiryView } from '../../src/ledger/records.ts';
import type { JourneyResult } from '../../src/messages/journey/shapes.ts';
import type { InquiryContent } from '../../src/model/inquiry.ts';
import { currentRun, eventsOf, inquiriesOf, resetTo, withLedger, workflowTasksOf } from '../hazards/operator-hands.ts';
import { BENDING_SCENARIOS } from '../support/bending-scenarios.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';

let harness: Harness;
before(async () => {
  harness = await startHarness({
    env: { SUBMIT_TIMEOUT_MS: '15000', GATEWAY_HEADERS_TIMEOUT_MS: '2000', GATEWAY_BODY_TIMEOUT_MS: '2000' },
  });
});
after(() => harness?.close());

interface Played {
  handle: JourneyHandle;
  result: JourneyResult;
  /** The ledger's inquiries by product, in the order of their trace numbers. */
  inquiries: InquiryView[];
}

async function played(name: keyof typeof BENDING_SCENARIOS): Promise<Played> {
  const handle = await BENDING_SCENARIOS[name].play(harness);
  const result = await handle.result();
  const inquiries = await inquiriesOf(harness, result.journeyId);
  const posted = await harness.posted(handle);
  // The gateway has posted exactly the inquiries that, by the ledger, may have been posted.
  const answered = inquiries.filter(({ attempts }) => attempts.some(({ state }) => state !== 'refused'));
  assert.deepEqual(
    posted.map(({ customerTraceNumber }) => customerTraceNumber).sort(),
    answered.map(({ customerTraceNumber }) => customerTraceNumber).sort(),
  );
  return { handle, result, inquiries };
}

/** Reads every attempt of the journey as an auditor sees it. */
function audited({ result: { journeyId } }: Played): Promise<AuditedAttempt[]> {
  return withLedger(harness, async (ledger) => {
    const attempts: AuditedAttempt[] = [];
    for await (const one of ledger.inquiriesBetween()) if (one.runKey === journeyId) attempts.push(one);
    return attempts;
  });
}

/** Finds the report reference with which the journey's first share was posted. */
async function referenceShared({ handle }: Played): Promise<string | undefined> {
  const inputs = (await eventsOf(handle)).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === 'submitInquiry'
      ? [JSON.parse(Buffer.from(scheduled.input?.payloads?.[0]?.data ?? []).toString()) as InquiryContent]
      : [],
  );
  return inputs.find(({ inquiry }) => inquiry.productCode === 'SECONDUSE')?.reference?.reportReferenceNumber;
}

const ofProduct = ({ inquiries }: Played, product: string) =>
  inquiries.filter(({ productCode }) => productCode === product).sort((a, b) => a.ordinal - b.ordinal);
const applicantsOf = ({ result }: Played) =>
  result.stages.map(({ reference }) => reference?.applicants.map(({ applicantId }) => applicantId));

describe('a journey with changes on its way', { concurrency: 8 }, () => {
  test('requires the consent of each report’s own applicants: one joins at a gate, another leaves at the next', async () => {
    const journey = await played('coApplicant');
    assert.deepEqual(applicantsOf(journey), [['1A'], ['1A', '2A'], ['2A']]);
    assert.deepEqual(
      journey.result.shares.map(({ state }) => state),
      ['posted', 'posted', 'posted'],
    );
    const posted = await harness.posted(journey.handle);
    const applicants = (product: string) =>
      posted.filter(({ productCode }) => productCode === product).map((one) => one.applicants);
    assert.deepEqual(applicants('SECONDUSE').sort(), [1, 1, 2]);
    assert.equal(journey.inquiries.length, 6);
  });

  test('waits at a gate, also an automatic one, if the report is too old, and pulls it again on a repeat', async () => {
    const journey = await played('reportTooOld');
    const pulls = ofProduct(journey, 'PREQUAL');
    assert.deepEqual(
      journey.result.stages.map(({ productCode, occurrence, state }) => [productCode, occurrence, state]),
      [
        ['PREQUAL', undefined, 'record'],
        ['PREQUAL', 2, 'record'],
        ['PREAPP', undefined, 'record'],
      ],
    );
    assert.deepEqual(
      pulls.map(({ ordinal, amends, decisions }) => [ordinal, amends, decisions.map(({ action, by }) => [action, by])]),
      [
        [0, undefined, [['accept', 'operator']]],
        [1, undefined, [['repeat', 'loan officer']]],
      ],
    );
    const { permittedBy } = (await audited(journey)).find(({ ordinal }) => ordinal === 1) ?? {};
    assert.deepEqual(
      [permittedBy?.action, permittedBy?.by, permittedBy?.reason],
      ['repeat', 'loan officer', 'the closing was put off'],
    );
    const references = await journey.handle.query<{ references: { occurrence?: number }[] }>('references');
    assert.deepEqual(
      references.references.map(({ occurrence }) => occurrence),
      [undefined, 2, undefined],
    );
  });

  test('refuses to pass a gate with a report that is too old, until an operator accepts its age', async () => {
    const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], maxReportAge: 'PT1S' });
    const { journeyId } = input;
    const handle = await harness.start(input);
    const status = await untilStatus(handle, ({ reportTooOld }) => reportTooOld === 'PREQUAL');
    assert.deepEqual([status.state, status.waitingFor], ['waitingAtGate', 'PREAPP']);
    const refusal = refusalOf(update(handle, 'advance', { journeyId, to: 'PREAPP' }));
    assert.match(await refusal, /older than maxReportAge: repeat PREQUAL, or send acceptAge/);
    assert.match(
      await refusalOf(update(handle, 'advance', { journeyId, to: 'PREAPP', acceptAge: true })),
      /\/by is required with acceptAge; \/reason is required/,
    );
    await handle.terminate();

    const journey = await played('ageAccepted');
    assert.equal(journey.result.outcome, 'completed');
    assert.equal(journey.inquiries.length, 2);
  });

  test('starts at PREAPP without a gate before it, and shares that report', async () => {
    const journey = await played('startsAtPreapproval');
    assert.deepEqual(
      journey.inquiries.map(({ productCode }) => productCode),
      ['PREAPP', 'SECONDUSE', 'PRECLOSE'],
    );
    assert.deepEqual(
      journey.result.stages.map(({ productCode, state }) => [productCode, state]),
      [
        ['PREAPP', 'record'],
        ['PRECLOSE', 'record'],
      ],
    );
    assert.equal(journey.result.shares[0]?.state, 'posted');
  });

  test('shares one report with several investors, each with consents of its own', async () => {
    const journey = await played('severalShares');
    assert.deepEqual(
      journey.result.shares.map(({ shareId, state }) => [shareId, state]),
      [
        ['S1', 'posted'],
        ['S2', 'denied'],
        ['S3', 'posted'],
        ['S4', 'revoked'],
      ],
    );
    const shares = ofProduct(journey, 'SECONDUSE');
    assert.deepEqual(shares.map(({ shareId, endUserCode }) => [shareId, endUserCode]).sort(), [
      ['S1', 'EU901'],
      ['S3', 'EU903'],
    ]);
    for (const { productCode, consents } of await audited(journey)) {
      assert.deepEqual(
        consents.map(({ applicantId }) => applicantId).sort(),
        productCode === 'SECONDUSE' ? ['1A', '2A'] : [],
      );
    }
  });

  test('repeats PRECLOSE before a delayed closing, and shares the newest report', async () => {
    const journey = await played('repeatedPreclose');
    const pulls = ofProduct(journey, 'PRECLOSE');
    assert.deepEqual(
      pulls.map(({ ordinal, amends }) => [ordinal, amends]),
      [
        [0, undefined],
        [1, pulls[0]?.customerTraceNumber],
        [2, undefined],
        [3, pulls[2]?.customerTraceNumber],
      ],
    );
    const [, first, second] = journey.result.stages;
    assert.deepEqual(
      [first?.customerTraceNumber, second?.customerTraceNumber, second?.occurrence],
      [pulls[1]?.customerTraceNumber, pulls[3]?.customerTraceNumber, 2],
    );
    assert.notEqual(first?.reportReferenceNumber, second?.reportReferenceNumber);
    assert.equal(journey.result.outcome, 'completed');
    assert.equal(journey.result.shares[0]?.state, 'posted');
    assert.equal(await referenceShared(journey), second?.reportReferenceNumber);
  });

  test('returns to its state after an operator abandons a repeat, and numbers the next repeat onwards', async () => {
    const journey = await played('repeatGivenUp');
    assert.deepEqual(
      journey.result.stages.map(({ state, occurrence }) => [state, occurrence]),
      [
        ['record', undefined],
        ['abandoned', 2],
        ['record', 3],
      ],
    );
    assert.deepEqual(
      ofProduct(journey, 'PRECLOSE').map(({ ordinal, decisions }) => [ordinal, decisions.map(({ action }) => action)]),
      [
        [0, []],
        [1, ['repeat', 'abandon']],
        [2, ['repeat']],
      ],
    );
    assert.equal(journey.result.outcome, 'withdrawn');
  });

  test('makes one inquiry for each occurrence, also if the message is sent again or the run is reset', async () => {
    const journey = await played('repeatedEarly');
    const { handle, result } = journey;
    const received = await harness.received(handle);
    const { runId } = (await handle.describe()).raw.workflowExecutionInfo?.execution ?? {};
    const [firstTask] = await workflowTasksOf(handle);
    assert.ok(firstTask && runId);
    const again = await resetTo(harness, handle, firstTask, { runId });
    assert.deepEqual(await again.result(), result);
    assert.deepEqual(await harness.received(currentRun(harness, handle)), received);
    assert.deepEqual(
      ofProduct(journey, 'PREQUAL').map(({ ordinal }) => ordinal),
      [0, 1],
    );

    const input = journeyInput({ stages: ['PREAPP'], repeatsOpenFor: 'P1D', applicants: [applicant('1A')] });
    const { journeyId } = input;
    const other = await harness.start(input);
    const repeat = { journeyId, repeat: 'PREAPP', occurrence: 2, by: 'loan officer', reason: 'put off' };
    await untilStatus(other, ({ stages }) => stages[0]?.state === 'record');
    assert.match(
      await refusalOf(update(other, 'advance', { ...repeat, occurrence: 3 })),
      /\/occurrence must be 2: PREAPP was asked for once/,
    );
    assert.match(await refusalOf(update(other, 'advance', { ...repeat, repeat: 'PREQUAL' })), /leaves out/);
    const answers = await Promise.all([1, 2, 3].map(() => update(other, 'advance', repeat)));
    assert.deepEqual(answers.map(({ duplicate }) => duplicate).sort(), [false, true, true]);
    await untilStatus(other, ({ stages }) => stages[1]?.state === 'record');
    assert.equal((await update(other, 'advance', repeat)).duplicate, true);
    const another = { ...repeat, reason: 'another', applicants: [applicant('1A')] };
    assert.match(await refusalOf(update(other, 'advance', another)), /other content: \/reason, \/applicants differ$/);
    assert.equal((await harness.posted(other)).length, 2);
    assert.equal((await statusOf(other)).stages.length, 2);
    await other.terminate();
  });
});
