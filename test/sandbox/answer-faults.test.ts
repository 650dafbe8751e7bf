import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applicant,
  Caller,
  failsafeRequest,
  type Json,
  json,
  pullReport,
  reportRequest,
  secondaryUse,
} from './caller.ts';

/** Of the form of a caller's own. */
const OTHER_TRACE_NUMBER = 'CRAAAAAAAAAAAAAAAAAAAAAAAA00';

type Entry = Json & { consumer?: Json };

/** The answer to a joint request under this fault. */
async function jointAnswer(caller: Caller, fault: string, params: Json = {}): Promise<Json> {
  await caller.plan({ fault, ...params, times: 1 });
  const before = (await caller.inquiries()).length;
  const other = { ...applicant('0002', '2A'), names: [{ first: 'Noor', last: 'Lee' }] };
  const reply = await caller.post(reportRequest({ applicants: [applicant('0001', '1A'), other] }));
  assert.equal(reply.status, 200);
  assert.equal((await caller.inquiries()).length, before + 1, 'the inquiry was posted');
  return json(reply);
}

function ssns(answer: Json): unknown[] {
  return (answer.applicants as Entry[]).map(({ consumer }) => consumer?.ssn);
}

function ids(answer: Json): unknown[] {
  return (answer.applicants as Entry[]).map(({ applicantId }) => applicantId);
}

const OWN = ['912340001', '912340002'];

const STRANGER = '900000000';

const CASES: readonly [fault: string, check: (answer: Json) => void][] = [
  ['wrongShape', (answer) => assert.ok(Array.isArray(answer))],
  ['withoutReturnCode', (answer) => assert.ok(!('returnCode' in answer))],
  ['withoutReference', (answer) => assert.ok(!('reportReferenceNumber' in answer))],
  ['withoutConsumerId', (answer) => assert.ok(!JSON.stringify(answer).includes('consumerId'))],
  ['missingApplicant', (answer) => assert.deepEqual(ssns(answer), [OWN[0]])],
  ['extraApplicant', (answer) => assert.deepEqual(ssns(answer), [...OWN, STRANGER])],
  ['repeatedApplicant', (answer) => assert.deepEqual(ssns(answer), [OWN[0], OWN[0]])],
  ['strangerSsn', (answer) => assert.deepEqual(ssns(answer), [STRANGER, OWN[1]])],
  [
    'swappedSsns',
    (answer) => {
      assert.deepEqual(ids(answer), ['1A', '2A']);
      assert.deepEqual(ssns(answer), OWN.toReversed());
    },
  ],
  ['otherTraceNumber', (answer) => assert.equal(answer.customerTraceNumber, OTHER_TRACE_NUMBER)],
  ['otherProduct', (answer) => assert.equal(answer.productCode, 'CR')],
  ['otherCustomer', (answer) => assert.equal(answer.customerId, 'SOMEBODYELSE')],
  [
    'severalReferences',
    (answer) => {
      const own = (answer.applicants as Entry[]).map(({ reportReferenceNumber }) => reportReferenceNumber);
      assert.equal(new Set([answer.reportReferenceNumber, ...own]).size, 3);
    },
  ],
  ['consumersArray', (answer) => assert.ok(Array.isArray(answer.consumers) && !('applicants' in answer))],
  ['capitalConsumers', (answer) => assert.ok(Array.isArray(answer.Consumers) && !('applicants' in answer))],
  ['applicantIds', (answer) => assert.deepEqual(ids(answer), ['1A', '2A'])],
  ['withoutIdentity', (answer) => assert.deepEqual(ssns(answer), [undefined, undefined])],
  ['maskedSsns', (answer) => assert.deepEqual(ssns(answer), ['XXXXX0001', 'XXXXX0002'])],
  ['dashedSsns', (answer) => assert.deepEqual(ssns(answer), ['912-34-0001', '912-34-0002'])],
  ['reversedApplicants', (answer) => assert.deepEqual(ssns(answer), OWN.toReversed())],
  [
    'echoes',
    (answer) => {
      assert.match(String(answer.customerTraceNumber), /^TRACE/);
      assert.equal(answer.productCode, 'PREQUAL');
      assert.equal(answer.customerId, 'CUSTOMER1');
    },
  ],
  [
    'returnReasons',
    ({ returnReasonCode, returnReasonDesc, errorMessage }) => {
      assert.deepEqual([returnReasonCode, returnReasonDesc], ['L1', 'Limited file']);
      assert.equal(errorMessage, 'Limited file for 912340001');
    },
  ],
  ['unknownFields', (answer) => assert.equal(answer.sandboxExtra, 'extra')],
];

for (const [fault, check] of CASES) {
  test(`${fault}: posts the inquiry and answers so`, async (t) => {
    const caller = await Caller.start(t);
    check(await jointAnswer(caller, fault));
  });
}

test('largeReport: gives each consumer as many tradelines as are asked for', async (t) => {
  const caller = await Caller.start(t);
  const answer = await jointAnswer(caller, 'largeReport', { accounts: 50 });
  const counts = (answer.applicants as Entry[]).map(
    ({ consumer }) => (consumer?.accounts as Json[] | undefined)?.length,
  );
  assert.deepEqual(counts, [50, 50]);
});

test("changes FAILSAFE's entries where other products have the field at the top", async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ fault: 'otherTraceNumber', times: 1 }, { fault: 'withoutReturnCode', times: 1 });
  const consumers = (answer: Json): Json[] => answer.consumers as Json[];
  const other = json(await caller.post(failsafeRequest('0001', '0002')));
  assert.deepEqual(
    consumers(other).map(({ customerTraceNumber }) => customerTraceNumber),
    [OTHER_TRACE_NUMBER, OTHER_TRACE_NUMBER],
  );
  const without = json(await caller.post(failsafeRequest('0001')));
  assert.ok(!('returnCode' in (consumers(without)[0] ?? {})));
});

test("gives a lone applicant a stranger's SSN where there is nobody to swap with", async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ fault: 'swappedSsns' });
  assert.deepEqual(ssns(await pullReport(caller, '0001')), [STRANGER]);
});

test('passes a SECONDUSE by when the fault needs applicants in the answer', async (t) => {
  const caller = await Caller.start(t);
  const report = await pullReport(caller, '0001');
  await caller.plan({ fault: 'missingApplicant' }, { fault: 'otherTraceNumber' });
  const answer = json(await caller.post(secondaryUse(report)));
  assert.equal(answer.customerTraceNumber, OTHER_TRACE_NUMBER);
});
