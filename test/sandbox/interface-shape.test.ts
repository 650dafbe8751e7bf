/** Tests that answers have exactly the members that the interface shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applicant,
  Caller,
  failsafeRequest,
  freshTrace,
  type Json,
  json,
  pullReport,
  reportRequest,
  secondaryUse,
} from './caller.ts';

const REPORT = ['applicants', 'reportReferenceNumber', 'returnCode'];
const CONSUMER = ['accounts', 'addresses', 'dob', 'names', 'ssn'];
const ACCOUNT = ['accountNumber', 'balance', 'contributor', 'creditLimit', 'opened', 'statusCode', 'type'];
/** The members of interface 2.8. */
const FAILSAFE_ENTRY = [
  'applicantId',
  'consumerId',
  'customerId',
  'customerTraceNumber',
  'productCode',
  'reportReferenceNumber',
  'returnCode',
  'softwareProviderId',
  'softwareProviderVersion',
  'userId',
];

const members = (object: unknown) => Object.keys(object as Json).sort();
const listOf = (object: unknown, name: string) => (object as Json)[name] as Json[];

test('a report has no applicantId and an empty entry for an applicant without a record', async (t) => {
  const caller = await Caller.start(t);
  const report = await pullReport(caller, '0001', '0404');
  assert.deepEqual(members(report), REPORT);
  const [found, missing] = listOf(report, 'applicants');
  assert.deepEqual(members(found), ['consumer', 'consumerId']);
  assert.deepEqual(missing, {});
  assert.deepEqual(members(found?.consumer), CONSUMER);
  for (const name of listOf(found?.consumer, 'names')) assert.deepEqual(members(name), ['first', 'last', 'middle']);
  for (const account of listOf(found?.consumer, 'accounts')) assert.deepEqual(members(account), ACCOUNT);
});

test('an answer without a record has a return code and no reasons', async (t) => {
  const caller = await Caller.start(t);
  const codes = { '0404': 'No Record', '0405': 'Suppress', '0406': 'Exempt', '0407': 'Error', '0408': 'Deferred' };
  for (const [digits, returnCode] of Object.entries(codes)) {
    const report = await pullReport(caller, digits);
    assert.deepEqual(members(report), REPORT);
    assert.deepEqual([report.returnCode, report.applicants], [returnCode, [{}]]);
  }
  assert.equal((await caller.inquiries()).length, Object.keys(codes).length);
});

test('a REFUPD answer has refIds only in names, and six cross-references in each account', async (t) => {
  const caller = await Caller.start(t);
  const report = json(await caller.post(reportRequest({ productCode: 'REFUPD' })));
  const [entry] = listOf(report, 'applicants');
  assert.deepEqual(members(entry?.consumer), CONSUMER);
  const names = ['activeOccurrences', 'first', 'firstReportedDate', 'last', 'middle', 'refId', 'totalOccurrences'];
  for (const name of listOf(entry?.consumer, 'names')) assert.deepEqual(members(name), names);
  for (const address of listOf(entry?.consumer, 'addresses')) assert.equal(address.refId, undefined);
  for (const account of listOf(entry?.consumer, 'accounts')) {
    assert.deepEqual(members(account), ['accountCrossReference', ...ACCOUNT].sort());
    assert.equal(members(account.accountCrossReference).length, 6);
  }
});

test('a FAILSAFE entry has ten fields and No Record, and echoes nothing of the request', async (t) => {
  const caller = await Caller.start(t);
  const answer = json(await caller.post(failsafeRequest('0001', '0404')));
  assert.deepEqual(members(answer), ['consumers']);
  const consumers = listOf(answer, 'consumers');
  for (const consumer of consumers) {
    assert.deepEqual(members(consumer), FAILSAFE_ENTRY);
    for (const value of Object.values(consumer)) assert.equal(typeof value, 'string');
    assert.equal(consumer.returnCode, 'No Record');
    assert.match(String(consumer.reportReferenceNumber), /^[A-Z0-9]{1,30}$/);
    for (const echo of ['customerTraceNumber', 'productCode']) assert.equal(consumer[echo], '', echo);
    for (const own of ['customerId', 'softwareProviderId', 'userId']) assert.match(String(consumer[own]), /./);
  }
  assert.equal(new Set(consumers.map((consumer) => consumer.reportReferenceNumber)).size, 2);
});

test('a FAILSAFE answer numbers its consumers in another order than the request', async (t) => {
  const caller = await Caller.start(t);
  const answer = json(await caller.post(failsafeRequest('0001', '0404', '0002')));
  const ids = listOf(answer, 'consumers').map(({ applicantId }) => applicantId);
  assert.deepEqual(ids, ['3A', '2A', '1A']);
});

test('a report of this shape can be shared, and the confirmation has two members', async (t) => {
  const caller = await Caller.start(t);
  const applicants = [applicant('0001', '1A'), applicant('0002', '2A')];
  const report = json(await caller.post(reportRequest({ customerTraceNumber: freshTrace(), applicants })));
  const confirmation = json(await caller.post(secondaryUse(report)));
  assert.deepEqual(members(confirmation), ['reportReferenceNumber', 'returnCode']);
  assert.notEqual(confirmation.reportReferenceNumber, report.reportReferenceNumber);
});
