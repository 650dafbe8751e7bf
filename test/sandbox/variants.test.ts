/** Tests `--with` (fields beyond the interface in every answer) and `--fault` (faults that strike from the start). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSandbox } from '../../sandbox/server.ts';
import { Caller, failsafeRequest, type Json, json, pullReport, secondaryUse } from './caller.ts';

const consumersOf = (answer: Json) => answer.consumers as Json[];
const applicantsOf = (report: Json) => report.applicants as Json[];

test('several variants apply together, in each answer that has the fields for them', async (t) => {
  const caller = await Caller.start(t, {
    with: ['applicant-ids', 'failsafe-records', 'echoes', 'reversed-applicants'],
  });
  const request = failsafeRequest('0001', '0404');
  const consumers = consumersOf(json(await caller.post(request)));
  assert.deepEqual(
    consumers.map(({ applicantId, returnCode, customerTraceNumber, productCode }) => {
      return [applicantId, returnCode, customerTraceNumber, productCode];
    }),
    [
      ['2A', 'No Record', request.customerTraceNumber, 'FAILSAFE'],
      ['1A', 'Record', request.customerTraceNumber, 'FAILSAFE'],
    ],
  );
  const report = await pullReport(caller, '0001', '0002');
  assert.deepEqual(
    applicantsOf(report).map(({ applicantId }) => applicantId),
    ['2A', '1A'],
  );
  assert.equal(report.productCode, 'PREQUAL');
  const share = json(await caller.post(secondaryUse(report)));
  assert.equal(share.productCode, 'SECONDUSE');
  assert.ok(!('applicants' in share));
});

test('an applicant without a record has a consumerId under the variant consumerIds', async (t) => {
  const caller = await Caller.start(t, { with: ['consumerIds'] });
  const [missing] = applicantsOf(await pullReport(caller, '0404'));
  assert.deepEqual(Object.keys(missing ?? {}), ['consumerId']);
});

test('faults given at start-up strike until another plan is set, and again after a reset', async (t) => {
  const caller = await Caller.start(t, { fault: ['maskedSsns', '{"target":"token","fault":"throttled","attempt":2}'] });
  const ssnOf = async () => {
    const [entry] = applicantsOf(await pullReport(caller, '0001'));
    return (entry?.consumer as Json | undefined)?.ssn;
  };
  assert.equal(await ssnOf(), 'XXXXX0001');
  assert.equal((await caller.askForToken()).status, 429);
  await caller.plan();
  assert.equal(await ssnOf(), '912340001');
  await caller.admin('POST', 'reset');
  assert.equal(await ssnOf(), 'XXXXX0001');
});

test('an unknown variant or an invalid fault is refused at start-up', async () => {
  await assert.rejects(startSandbox({ with: ['round'] }), /option with must be of applicantIds, .*ownRules$/);
  await assert.rejects(startSandbox({ fault: ['round'] }), /option fault: \/rules\/0\/fault must be/);
  await assert.rejects(startSandbox({ fault: ['{"fault"'] }), /option fault must be a fault's name, or a rule in JSON/);
});
