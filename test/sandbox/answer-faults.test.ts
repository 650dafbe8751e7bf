import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applicant, Caller, type Json, json, reportRequest } from './caller.ts';

type Entry = Json & { consumer?: Json };

/** Returns the answer to a joint request under this fault. */
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

const CASES: readonly [fault: string, check: (answer: Json) => void][] = [
  // test/sandbox/failure-table.test.ts tests how a client reads answers with these faults.
  ['consumersArray', (answer) => assert.ok(Array.isArray(answer.consumers) && !('applicants' in answer))],
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
  test(`the fault ${fault} posts the inquiry and changes the answer`, async (t) => {
    const caller = await Caller.start(t);
    check(await jointAnswer(caller, fault));
  });
}

test('the fault largeReport gives each consumer the requested number of tradelines', async (t) => {
  const caller = await Caller.start(t);
  const answer = await jointAnswer(caller, 'largeReport', { accounts: 50 });
  const counts = (answer.applicants as Entry[]).map(
    ({ consumer }) => (consumer?.accounts as Json[] | undefined)?.length,
  );
  assert.deepEqual(counts, [50, 50]);
});
