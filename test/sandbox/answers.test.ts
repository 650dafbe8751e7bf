import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Caller, failsafeRequest, type Json, json, pullReport, reportRequest, secondaryUse } from './caller.ts';

type Entry = { consumerId?: string; consumer?: Json };

function entries(report: Json): Entry[] {
  return report.applicants as Entry[];
}

test('a record has the fields of the interface, upper-case names, masked accounts and amounts as text', async (t) => {
  const caller = await Caller.start(t);
  const report = await pullReport(caller, '0001');
  assert.equal(report.returnCode, 'Record');
  assert.match(String(report.reportReferenceNumber), /^[A-Z0-9]{1,30}$/);
  const [entry] = entries(report);
  assert.match(String(entry?.consumerId), /^[A-Z0-9]{1,16}$/);
  const consumer = entry?.consumer ?? {};
  assert.deepEqual(consumer.names, [{ first: 'MAYA', middle: 'R', last: "O'BRIEN-LEE" }]);
  assert.equal(consumer.ssn, '912340001');
  assert.equal(consumer.dob, '1984-02-29');
  assert.deepEqual(consumer.addresses, [
    { line1: '1 SAMPLE WAY', line2: '', city: 'ALBANY', state: 'NY', zip: '12207' },
  ]);
  const accounts = consumer.accounts as Record<string, string>[];
  assert.ok(accounts.length >= 3);
  for (const account of accounts) {
    assert.match(account.accountNumber ?? '', /^X{12}\d{4}$/);
    assert.match(account.balance ?? '', /^\d+\.\d{2}$/);
    assert.match(account.creditLimit ?? '', /^\d+\.\d{2}$/);
    assert.match(account.opened ?? '', /^\d{4}-\d{2}-\d{2}$/);
  }
});

test('an applicant always gets the same file and consumerId, and each posting its own reference', async (t) => {
  const [caller, another] = [await Caller.start(t), await Caller.start(t)];
  const reports = [
    await pullReport(caller, '0001'),
    await pullReport(caller, '0001'),
    await pullReport(another, '0001'),
  ];
  const [first] = reports;
  for (const report of reports) assert.deepEqual(report.applicants, first?.applicants);
  assert.equal(new Set(reports.map((report) => report.reportReferenceNumber)).size, 3);
  assert.notEqual(entries(await pullReport(caller, '0002'))[0]?.consumerId, entries(first ?? {})[0]?.consumerId);
});

test('the reference depends only on trace number and sequence, so that repeated runs get the same values', async (t) => {
  const request = reportRequest();
  const runs: unknown[][] = [];
  for (const caller of [await Caller.start(t), await Caller.start(t)]) {
    const replies = [await caller.post(request), await caller.post(request)];
    runs.push(replies.map((reply) => json(reply).reportReferenceNumber));
  }
  assert.deepEqual(runs[0], runs[1]);
  assert.notEqual(runs[0]?.[0], runs[0]?.[1]);
});

test('a REFUPD answer has cross-references that resolve, and names with refIds', async (t) => {
  const caller = await Caller.start(t, { with: ['reference-lists'] });
  const reply = await caller.post(reportRequest({ productCode: 'REFUPD' }));
  const consumer = (entries(json(reply))[0]?.consumer ?? {}) as Record<string, Json[]>;
  const ids = (list: string): unknown[] => (consumer[list] ?? []).map((entry) => entry.refId);
  for (const name of consumer.names ?? []) {
    assert.match(String(name.firstReportedDate), /^\d{4}-\d{2}-\d{2}$/);
    assert.ok(Number(name.totalOccurrences) >= Number(name.activeOccurrences));
  }
  for (const account of consumer.accounts ?? []) {
    const references = account.accountCrossReference as Record<string, number>;
    assert.ok(ids('names').includes(references.consumerNameRefId));
    assert.ok(ids('addresses').includes(references.consumerAddressRefId));
    assert.ok(ids('ssns').includes(references.consumerSsnRefId));
    assert.ok(ids('dobs').includes(references.consumerDOBRefId));
    assert.equal(references.consumerPhoneNbrRefId, 0);
    assert.equal(references.relatedAddressRefId, 0);
  }
});

test("the sandbox accepts SECONDUSE by name, code or both, and for a part of the report's consumers", async (t) => {
  const caller = await Caller.start(t);
  const report = await pullReport(caller, '0001', '0002');
  const one = { applicants: [{ consumerId: entries(report)[1]?.consumerId }] };
  for (const changes of [{ endUser: 'Partner Bank' }, { endUserCode: undefined, endUser: 'Partner Bank' }, one]) {
    assert.equal((await caller.post(secondaryUse(report, changes))).status, 200);
  }
  const posted = await caller.inquiries();
  assert.deepEqual(
    posted.map(({ productCode, endUserCode, endUser, applicants }) => [productCode, endUserCode, endUser, applicants]),
    [
      ['PREQUAL', 'LENDER01', null, 2],
      ['SECONDUSE', 'PARTNER01', 'Partner Bank', 2],
      ['SECONDUSE', null, 'Partner Bank', 2],
      ['SECONDUSE', 'PARTNER01', null, 1],
    ],
  );
});

test('the sandbox refuses SECONDUSE of a report or consumer that it did not issue with 422', async (t) => {
  const caller = await Caller.start(t);
  const report = await pullReport(caller, '0001', '0404');
  const other = await pullReport(caller, '0002');
  const share = json(await caller.post(secondaryUse(report)));
  const none = await pullReport(caller, '0404');
  const consumerId = entries(report)[0]?.consumerId;
  const before = (await caller.inquiries()).length;
  const failsafe = json(await caller.post(failsafeRequest('0001'))) as { consumers: Json[] };
  for (const changes of [
    { reportReferenceNumber: 'UNHEARDOF' },
    { reportReferenceNumber: share.reportReferenceNumber },
    { reportReferenceNumber: none.reportReferenceNumber },
    { reportReferenceNumber: failsafe.consumers[0]?.reportReferenceNumber },
    { reportReferenceNumber: other.reportReferenceNumber },
    { applicants: [{ consumerId: 'CUNHEARDOF' }] },
    { applicants: [{ consumerId }, { consumerId }] },
    { endUserCode: 'LENDER01' },
  ]) {
    const reply = await caller.post(secondaryUse(report, changes));
    assert.equal(reply.status, 422, JSON.stringify(changes));
  }
  assert.equal((await caller.inquiries()).length, before + 1);
});
