import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnswer } from '../../src/gateway/answers.ts';
import { readResponse } from '../../src/gateway/envelope.ts';
import { applicant, recordBody } from './fixtures.ts';
import { ADA, assertHold, BEN, contextOf, read, record } from './reading-answers.ts';

test('a body that is not JSON is no answer', () => {
  for (const text of ['', 'Record', '{"returnCode":', '{} {}', '\u0000']) {
    assert.equal(readAnswer(text, contextOf([ADA])), null);
  }
});

test('JSON that is not an object and lists with wrong contents are held', () => {
  for (const text of ['null', '"Record"', '12', 'true', '[]']) assertHold(read(text), /\/ must be an object/);
  assertHold(read({ returnCode: 'Record', applicants: {} }), /applicants must be a list/);
  assertHold(read({ returnCode: 'Record', applicants: [null] }), /nothing but objects/);
  assertHold(read({ returnCode: 'Record', applicants: [], consumers: [] }), /must not have both/);
});

test('JSON with excessive nesting is held', () => {
  const text = `{"returnCode":"No Record","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  assertHold(read(text), /nests deeper/);
});

test('JSON that repeats a deciding member is held, also if the repetition is escaped', () => {
  assertHold(read('{"returnCode":"No Record","returnCode":"Record"}'), /gives returnCode twice/);
  assertHold(read('{"returnCode":"No Record","return\\u0043ode" : "Record"}'), /gives returnCode twice/);
  const twice = recordBody().replace('"consumerId":"CONSUMER1"', '"consumerId":"OTHER","consumerId":"CONSUMER1"');
  assertHold(read(twice), /gives consumerId twice/);
  const byElimination = JSON.stringify(
    record([
      { consumerId: 'C1', consumer: { ssn: ADA.ssn } },
      { consumerId: 'C2', consumer: { names: BEN.names, dob: BEN.dob } },
    ]),
  );
  assert.equal(read(byElimination, contextOf([ADA, BEN])).kind, 'outcome');
  const twoPeople = byElimination.replace(`"dob":"${BEN.dob}"`, `"dob":"${ADA.dob}","dob":"${BEN.dob}"`);
  assertHold(read(twoPeople, contextOf([ADA, BEN])), /gives dob twice/);
  // Text that looks like members does not count, and two objects may have the same name.
  assert.equal(read(recordBody([ADA], { note: '"returnCode":"Record","returnCode":"No Record"' })).kind, 'outcome');
  assert.equal(read(recordBody([ADA, BEN]), contextOf([ADA, BEN])).kind, 'outcome');
});

test('an answer with a problem in each of very many entries is held with the first problems alone', () => {
  const answer = read(record(Array.from({ length: 1_000 }, () => ({ productCode: 'CR' }))));
  assertHold(answer, /productCode must be that of the request/);
  assert.equal(answer.kind === 'unexpectedResponse' && answer.problems.length, 20);
});

test('members of a prototype are ignored', () => {
  const inherited = '{"__proto__":{"returnCode":"Record","reportReferenceNumber":"R"},"applicants":[]}';
  assertHold(read(inherited), /returnCode is required/);
  const entry = '{"returnCode":"Record","reportReferenceNumber":"R","applicants":[{"__proto__":{"consumerId":"C1"}}]}';
  assertHold(read(entry), /consumerId/);
  assert.equal(({} as { returnCode?: string }).returnCode, undefined);
  assert.deepEqual(readResponse(inherited), { applicants: [] });
});

test('problems contain no value of the answer', () => {
  const sentinel = 'SENTINEL-VALUE-OF-SOMEBODY';
  const hostile = [
    recordBody([ADA], { customerTraceNumber: sentinel, reportReferenceNumber: sentinel.repeat(3) }),
    recordBody([applicant({ applicantId: sentinel })]),
    JSON.stringify(record([{ applicantId: '1A', consumerId: sentinel, consumer: { ssn: sentinel } }])),
    JSON.stringify({ returnCode: `${sentinel}\n`, [sentinel]: 1 }),
  ];
  for (const body of hostile) assert.ok(!JSON.stringify(read(body)).includes(sentinel), body);
});
