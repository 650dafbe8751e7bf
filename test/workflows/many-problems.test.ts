/** Applicants that break thousands of rules: the list of all problems is larger than the server takes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  applicant,
  type Harness,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';

const times = (count: number, entry: object) => Array.from({ length: count }, () => entry);
const broken = (count: number) =>
  times(count, {
    applicantId: 0,
    ssn: 0,
    dob: 0,
    names: times(20, { a: 0, middle: 0, gen: 0 }),
    phones: times(20, { a: 0, phoneType: 0 }),
    addresses: times(20, { a: 0, line2: 0, zip4: 0 }),
  });

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(async () => {
  await harness?.close();
});

test('an advance and a decision with such applicants are refused, and the journey goes on', async () => {
  const input = journeyInput({ stages: ['PREQUAL', 'PREAPP'], applicants: [applicant('1A', newSsn('1422'))] });
  const { journeyId } = input;
  const handle = await harness.start(input);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  for (const count of [60, 99]) {
    const applicants = broken(count);
    const reason = await refusalOf(update(handle, 'advance', { journeyId, to: 'PREAPP', applicants }));
    assert.match(reason, /^\/applicants\/0\/applicantId must be text; .{1,5000}$/);
    const { customerTraceNumber } = holds[0] ?? {};
    const hold = { journeyId, decisionId: `D${count}`, customerTraceNumber, attempt: 1, action: 'amend' };
    const person = { by: 'ops', reason: 'corrected', providerSaid: 'notPosted' };
    assert.match(await refusalOf(update(handle, 'resolveInquiry', { ...hold, ...person, applicants })), /must be text/);
  }
  assert.equal((await statusOf(handle)).state, 'held');
  await update(handle, 'withdraw', { journeyId, by: 'ops', reason: 'enough' });
  await handle.terminate();
});

test('a start with such applicants fails as invalid input, with the first problems', async () => {
  const handle = await harness.start(journeyInput({ applicants: broken(99) as never }));
  await assert.rejects(handle.result(), ({ cause }: { cause: { type?: string } }) => cause.type === 'InvalidInput');
  assert.equal((await statusOf(handle)).problems?.length, 20);
});
