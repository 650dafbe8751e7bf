import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applicant, recordBody, secondApplicant } from './fixtures.ts';
import { ADA, assertHold, BEN, consumersOf, contextOf, read, record } from './reading-answers.ts';

test('holds more or fewer applicants than were asked for', () => {
  assertHold(read(recordBody([ADA, BEN]), contextOf([ADA])), /must have 1 entries/);
  assertHold(read(recordBody([ADA]), contextOf([ADA, BEN])), /must have 2 entries/);
  assertHold(read(recordBody([])), /must have 1 entries/);
});

test('holds an applicantId that was not asked for, and one that comes twice', () => {
  assertHold(read(recordBody([applicant({ applicantId: '9Z' })])), /applicantId that was asked for/);
  assertHold(read(recordBody([ADA, ADA]), contextOf([ADA, BEN])), /another entry names already/);
});

test('matches by SSN where no applicantId comes, with dashes, as a number, or masked', () => {
  const asked = contextOf([ADA, BEN]);
  for (const [ada, ben] of [
    ['912-34-5678', '998 76 5432'],
    [912345678, 998765432],
    ['XXX-XX-5678', '*****5432'],
    ['5678', '5432'],
    ['###345678', 'xxx765432'],
  ]) {
    const entries = [
      { consumerId: 'BEN', consumer: { ssn: ben } },
      { consumerId: 'ADA', consumer: { ssn: ada } },
    ];
    assert.deepEqual(consumersOf(read(record(entries), asked)), [
      { applicantId: '2A', consumerId: 'BEN' },
      { applicantId: '1A', consumerId: 'ADA' },
    ]);
  }
});

test('holds two applicants with neither applicantId nor a telling SSN', () => {
  const asked = contextOf([ADA, BEN], { ssnMismatch: 'flag' });
  for (const ssn of [undefined, '', 'XXXXXXXXX', '900000000', 'N/A']) {
    const entries = [
      { consumerId: 'C1', consumer: { ssn } },
      { consumerId: 'C2', consumer: { ssn } },
    ];
    assertHold(read(record(entries), asked), /by applicantId or SSN/);
  }
});

test('holds a masked SSN that may be that of either applicant', () => {
  const twin = secondApplicant({ ssn: '900005678' });
  const entries = [
    { consumerId: 'C1', consumer: { ssn: 'XXX-XX-5678' } },
    { consumerId: 'C2', consumer: { ssn: 'XXX-XX-5678' } },
  ];
  assertHold(read(record(entries), contextOf([ADA, twin])), /several applicants/);
  const named = entries.map((entry, index) => ({ ...entry, applicantId: ['1A', '2A'][index] }));
  assert.equal(consumersOf(read(record(named), contextOf([ADA, twin]))).length, 2);
});

for (const ssnMismatch of ['hold', 'flag'] as const) {
  test(`holds an SSN that equals another applicant's, where the profile says ${ssnMismatch}`, () => {
    const asked = contextOf([ADA, BEN], { ssnMismatch });
    const swapped = [
      { applicantId: '1A', consumerId: 'C1', consumer: { ssn: BEN.ssn } },
      { applicantId: '2A', consumerId: 'C2', consumer: { ssn: ADA.ssn } },
    ];
    assertHold(read(record(swapped), asked), /another applicant's SSN/);
    const masked = swapped.map((entry) => ({ ...entry, consumer: { ssn: `XXXXX${entry.consumer.ssn.slice(-4)}` } }));
    assertHold(read(record(masked), asked), /another applicant's SSN/);
    const beside = [{ ...swapped[0], ssn: ADA.ssn }, swapped[1]];
    assertHold(read(record(beside), asked), /another applicant's SSN/);
  });
}

test('holds an SSN that equals none, or flags it where the profile says so', () => {
  const body = record([{ applicantId: '1A', consumerId: 'C1', consumer: { ssn: '900000001' } }]);
  assertHold(read(body), /SSN that was asked for/);
  const flagged = read(body, contextOf([ADA], { ssnMismatch: 'flag' }));
  assert.equal(flagged.kind === 'outcome' && flagged.flagged, 'ssnMismatch');
});

test('takes a single entry for the single applicant, unless it names another', () => {
  assert.equal(consumersOf(read(record([{ consumerId: 'C1', consumer: { accounts: [{}] } }])))[0]?.applicantId, '1A');
  assertHold(read(record([{ consumerId: 'C1', ssn: '900000001' }])), /SSN that was asked for/);
});
