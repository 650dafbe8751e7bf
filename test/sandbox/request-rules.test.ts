import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applicant,
  Caller,
  call,
  failsafeRequest,
  type Json,
  json,
  localTime,
  problems,
  pullReport,
  REQUEST_PATH,
  reportRequest,
  secondaryUse,
} from './caller.ts';

/**
 * A row of table 2.3 for each rule: path, a value that breaks the row, the rule's name. The sandbox's own rules have a
 * prefix. test/gateway/interface-rows.test.ts tests every row of each table.
 */
const REPORT_ROWS: readonly [path: string, value: unknown, rule: string][] = [
  ['/customerId', undefined, 'required'],
  ['/customerId', 'C'.repeat(17), 'maxLength:16'],
  ['/softwareProviderId', 1234, 'string'],
  ['/applicants', {}, 'array'],
  ['/applicants', [], 'notEmpty'],
  ['/applicants/0/names/0/last', 'tab\there', 'sandbox:noControlCharacters'],
  ['/applicants/0/names/0/last', 'José', 'sandbox:ascii'],
  ['/applicants/0/names/0/last', ' Lee', 'sandbox:noBlankAtEnds'],
  ['/applicants/0/ssn', '91234000', 'digits:9'],
  ['/applicants/0/dob', '1985-02-29', 'calendarDate:YYYY-MM-DD'],
  ['/applicants/0/dob', '2999-01-01', 'sandbox:notInTheFuture'],
  ['/applicants/0/phones/0/phoneNumber', '202-555-0123', 'digits:10'],
  ['/applicants/0/phones/0/phoneType', 'CELL', 'oneOf:HOME,MOBL,WORK'],
  ['/applicants/0/emailAddress', 'example.com', 'sandbox:emailAddress'],
  ['/applicants/0/ipAddress', '192.0.2', 'sandbox:ipAddress'],
  ['/applicants/0/addresses/0/state', 'NYC', 'letters:2'],
  ['/applicants/0/addresses/0/zip', '12207-1234', 'digits:5 or 9'],
  ['/applicants/0/addresses/0/zip', '122071234', 'sandbox:digits:5'],
  ['/applicants/0/addresses/0/zip4', '12', 'digits:4'],
];

/** Copies the request with another value at a path. `undefined` removes the field. */
function changed(request: Json, path: string, value: unknown): Json {
  const copy = structuredClone(request);
  const steps = path.slice(1).split('/');
  const last = steps.pop() ?? '';
  const place = steps.reduce((at, step) => at[step] as Json, copy);
  place[last] = value;
  return JSON.parse(JSON.stringify(copy));
}

test('the sandbox refuses each invalid field of a report request with 400, by path and rule', async (t) => {
  const caller = await Caller.start(t, { with: ['own-rules'] });
  for (const [path, value, rule] of REPORT_ROWS) {
    const reply = await caller.post(changed(reportRequest(), path, value));
    assert.equal(reply.status, 400, `${path} ${rule}`);
    assert.deepEqual(problems(reply), [{ path, rule }]);
  }
  assert.deepEqual(await caller.inquiries(), []);
  assert.equal((await caller.requests()).length, REPORT_ROWS.length);
});

test('without own-rules the sandbox refuses only what the text of the interface forbids', async (t) => {
  const caller = await Caller.start(t);
  for (const [path, value, rule] of REPORT_ROWS) {
    const reply = await caller.post(changed(reportRequest(), path, value));
    assert.equal(reply.status, rule.startsWith('sandbox:') ? 200 : 400, `${path} ${rule}`);
  }
});

test('the sandbox refuses unknown fields and products without quoting them', async (t) => {
  const caller = await Caller.start(t, { with: ['own-rules'] });
  const field = await caller.post({ ...reportRequest(), 'ssn-912345678': 'x' });
  assert.deepEqual(problems(field), [{ path: '', rule: 'sandbox:unknownField' }]);
  assert.ok(!field.text.includes('912345678'));
  const product = await caller.post(reportRequest({ productCode: 'CREDIT' }));
  assert.deepEqual(problems(product), [{ path: '/productCode', rule: 'unknownProduct' }]);
  const none = await caller.post(reportRequest({ productCode: undefined }));
  assert.deepEqual(problems(none), [{ path: '/productCode', rule: 'required' }]);
});

test('the sandbox refuses and lists bodies that are no JSON object, too large or of another media type', async (t) => {
  const caller = await Caller.start(t);
  assert.equal((await caller.post('{"a":')).status, 400);
  assert.equal((await caller.post('[]')).status, 400);
  assert.equal((await caller.post('null')).status, 400);
  assert.equal((await caller.post(reportRequest(), { headers: { 'content-type': 'text/plain' } })).status, 415);
  assert.equal((await caller.post({ filler: 'x'.repeat(1_100_000) })).status, 413);
  const listed = await caller.requests();
  assert.deepEqual(
    listed.map(({ status, posted }) => [status, posted]),
    [
      [400, false],
      [400, false],
      [400, false],
      [415, false],
      [413, false],
    ],
  );
});

test('the sandbox refuses an SSN that could belong to a real person with 422 and posts nothing', async (t) => {
  const caller = await Caller.start(t);
  const applicants = [applicant('0001', '1A'), { ...applicant('0001', '2A'), ssn: '666340001' }];
  const reply = await caller.post(reportRequest({ applicants }));
  assert.equal(reply.status, 422);
  assert.deepEqual(problems(reply), [{ path: '/applicants/1/ssn', rule: 'sandbox:startsWith9' }]);
  assert.deepEqual(await caller.inquiries(), []);
  const failsafe = failsafeRequest('0001');
  assert.equal((await caller.post(changed(failsafe, '/applicants/0/ssn', '000340001'))).status, 422);
});

test('the sandbox refuses each invalid field of a SECONDUSE request with 400 and posts nothing', async (t) => {
  const caller = await Caller.start(t);
  const report = await pullReport(caller, '0001');
  const future = 'dateTime:YYYY-MM-DD HH:MM:SS, not in the future';
  const rows: readonly [string, unknown, string][] = [
    ['/accessMethod', 'XX', 'oneOf:ID'],
    ['/originalInquiryDate', '2025-13-01 00:00:00', future],
    ['/originalInquiryDate', '2025-01-01T00:00:00', future],
    ['/originalInquiryDate', '2025-01-01 24:00:00', future],
    ['/originalInquiryDate', '2025-01-01', future],
    ['/originalInquiryDate', localTime('UTC', 60), future],
  ];
  for (const [path, value, rule] of rows) {
    const reply = await caller.post(changed(secondaryUse(report), path, value));
    assert.equal(reply.status, 400, `${path} ${rule}`);
    assert.deepEqual(problems(reply), [{ path, rule }]);
  }
  const nobody = await caller.post(secondaryUse(report, { endUserCode: undefined }));
  assert.deepEqual(problems(nobody), [{ path: '', rule: 'oneOfRequired:endUserCode,endUser' }]);
  assert.equal((await caller.inquiries()).length, 1);
});

test('the sandbox reads originalInquiryDate in its own time zone', async (t) => {
  const caller = await Caller.start(t, { timeZone: 'America/New_York' });
  const report = await pullReport(caller, '0001');
  const inUtc = secondaryUse(report, { originalInquiryDate: localTime('UTC') });
  assert.equal((await caller.post(inUtc)).status, 400);
  const inNewYork = secondaryUse(report, { originalInquiryDate: localTime('America/New_York') });
  assert.equal((await caller.post(inNewYork)).status, 200);
});

test("every answer has the sandbox's header, including errors and unknown paths", async (t) => {
  const caller = await Caller.start(t);
  const replies = [
    await caller.post(reportRequest()),
    await caller.post('nonsense'),
    await caller.askForToken({}),
    await call(`${caller.url}/nowhere`),
    await call(`${caller.url}${REQUEST_PATH}`),
    await caller.admin('GET', 'inquiries'),
  ];
  for (const reply of replies) assert.equal(reply.headers['x-sandbox-gateway'], 'credit-journey');
  assert.equal(replies[3]?.status, 404);
  assert.equal(json(replies[3] as never).returnCode, 'Error');
});
