import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parsePlan } from '../../sandbox/faults/plan.ts';
import { applicant, Caller, type Json, json, reportRequest } from './caller.ts';

test('a rule can be limited by product, SSN digits, trace number, attempt and times', async (t) => {
  const caller = await Caller.start(t);
  const request = reportRequest({ customerTraceNumber: 'MINE' });
  const status = async (body: Json): Promise<number> => (await caller.post(body)).status;
  await caller.plan(
    { fault: 'status', status: 500, customerTraceNumber: 'MINE', attempt: 2 },
    { fault: 'status', status: 502, productCode: 'PREAPP', times: 1 },
    { fault: 'status', status: 504, ssnLast4: '0777' },
  );
  assert.equal(await status(request), 200);
  assert.equal(await status(request), 500);
  assert.equal(await status(request), 200);
  assert.equal(await status(reportRequest({ productCode: 'PREAPP' })), 502);
  assert.equal(await status(reportRequest({ productCode: 'PREAPP' })), 200);
  assert.equal(await status(reportRequest({ applicants: [applicant(), applicant('0777', '2A')] })), 504);
  const rules = json(await caller.admin('GET', 'faults')).rules as Json[];
  assert.deepEqual(
    rules.map(({ struck }) => struck),
    [1, 1, 1],
  );
});

test('the first matching rule decides, before any magic applicant', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ fault: 'status', status: 500 }, { fault: 'status', status: 502 });
  assert.equal((await caller.post(reportRequest({ applicants: [applicant('1403')] }))).status, 500);
});

test('a fault strikes only valid and authorized requests', async (t) => {
  const caller = await Caller.start(t);
  await caller.plan({ fault: 'status', status: 500 });
  assert.equal((await caller.post(reportRequest({ applicants: [] }))).status, 400);
  assert.equal((await caller.post(reportRequest(), { headers: { authorization: 'none' } })).status, 401);
});

/** Sends 40 inquiries in this order and returns those that a fault with probability 0.5 strikes. */
async function drawn(t: TestContext, seed: number, order: (traces: string[]) => string[]): Promise<string[]> {
  const caller = await Caller.start(t);
  const rules = [{ fault: 'status', status: 500, probability: 0.5 }];
  await caller.admin('PUT', 'faults', { seed, rules });
  const struck: string[] = [];
  const traces = Array.from({ length: 40 }, (_, index) => `LOAD${index}`);
  for (const customerTraceNumber of order(traces)) {
    if ((await caller.post(reportRequest({ customerTraceNumber }))).status === 500) struck.push(customerTraceNumber);
  }
  return struck.sort();
}

test('a fault with a probability depends on seed and trace number, not on the order of requests', async (t) => {
  const forwards = await drawn(t, 7, (traces) => traces);
  assert.ok(forwards.length > 8 && forwards.length < 32);
  assert.deepEqual(await drawn(t, 7, (traces) => traces.toReversed()), forwards);
  assert.notDeepEqual(await drawn(t, 8, (traces) => traces), forwards);
});

test('the seed comes from the sandbox options if the plan has none', async (t) => {
  const caller = await Caller.start(t, { seed: 42 });
  assert.equal(json(await caller.admin('PUT', 'faults', { rules: [] })).seed, 42);
});

const WRONG_PLANS = [
  ['an unknown fault', { rules: [{ fault: 'earthquake' }] }, '/rules/0/fault'],
  ['a request fault for the token service', { rules: [{ target: 'token', fault: 'swappedSsns' }] }, '/rules/0/fault'],
  ['an unknown target', { rules: [{ target: 'dns', fault: 'reset' }] }, '/rules/0/target'],
  ['a parameter that the fault lacks', { rules: [{ fault: 'finMidBody', delayMs: 5 }] }, '/rules/0'],
  ['a missing parameter', { rules: [{ fault: 'status' }] }, '/rules/0/status'],
  ['an invalid status', { rules: [{ fault: 'status', status: 200 }] }, '/rules/0/status'],
  [
    'a header that would break the answer',
    { rules: [{ fault: 'status', status: 429, retryAfter: '1\r\nx: y' }] },
    '/rules/0/retryAfter',
  ],
  ['a probability above one', { rules: [{ fault: 'emptyBody', probability: 2 }] }, '/rules/0/probability'],
  ['digits that are not four', { rules: [{ fault: 'emptyBody', ssnLast4: '12' }] }, '/rules/0/ssnLast4'],
  ['a body matcher before the body is read', { rules: [{ fault: 'resetOnArrival', productCode: 'CR' }] }, '/rules/0'],
  [
    "a report's fault for SECONDUSE",
    { rules: [{ fault: 'maskedSsns', productCode: 'SECONDUSE' }] },
    '/rules/0/productCode',
  ],
  ['a seed that is not an integer', { seed: 'x' }, '/seed'],
  ['an unknown field', { rules: [], extra: 1 }, ''],
  ['rules that are not a list', { rules: {} }, '/rules'],
  ['a plan that is not an object', 'nothing', ''],
] as const;

test('an invalid plan is refused by path, and the current plan remains in force', async (t) => {
  for (const [what, plan, path] of WRONG_PLANS) {
    const parsed = parsePlan(plan, 0);
    assert.ok('problems' in parsed, what);
    assert.equal(parsed.problems[0]?.path, path, what);
  }
  const caller = await Caller.start(t);
  await caller.plan({ fault: 'emptyBody' });
  assert.equal((await caller.admin('PUT', 'faults', { rules: {} })).status, 400);
  assert.equal((json(await caller.admin('GET', 'faults')).rules as Json[]).length, 1);
});
