import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Applicant } from '../../src/model/applicant.ts';
import { applicant, recordBody, secondApplicant } from './fixtures.ts';
import { ADA, assertHold, BEN, consumersOf, contextOf, read, record } from './reading-answers.ts';

test('an answer with more or fewer applicants than the request is held', () => {
  assertHold(read(recordBody([ADA, BEN]), contextOf([ADA])), /must have 1 entries/);
  assertHold(read(recordBody([ADA]), contextOf([ADA, BEN])), /must have 2 entries/);
  assertHold(read(recordBody([])), /must have 1 entries/);
});

test('an answer with an unknown or a repeated applicantId is held', () => {
  assertHold(read(recordBody([applicant({ applicantId: '9Z' })])), /applicantId that was asked for/);
  assertHold(read(recordBody([ADA, ADA]), contextOf([ADA, BEN])), /another entry names already/);
});

test('entries without applicantId are matched by SSN, with dashes, as a number or masked', () => {
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

test('entries of two applicants are held if they have neither applicantId nor a usable SSN', () => {
  const asked = contextOf([ADA, BEN], { ssnMismatch: 'flag' });
  for (const ssn of [undefined, '', 'XXXXXXXXX', '900000000', 'N/A']) {
    const entries = [
      { consumerId: 'C1', consumer: { ssn } },
      { consumerId: 'C2', consumer: { ssn } },
    ];
    assertHold(read(record(entries), asked), /by applicantId or SSN/);
  }
});

test('an entry is held if its masked SSN matches both applicants', () => {
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
  test(`an entry with another applicant's SSN is held if ssnMismatch is ${ssnMismatch}`, () => {
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

test('an entry whose SSN matches no applicant is held, or flagged if the profile says so', () => {
  const body = record([{ applicantId: '1A', consumerId: 'C1', consumer: { ssn: '900000001' } }]);
  assertHold(read(body), /SSN that was asked for/);
  const flagged = read(body, contextOf([ADA], { ssnMismatch: 'flag' }));
  assert.equal(flagged.kind === 'outcome' && flagged.flagged, 'ssnMismatch');
});

test('a single entry belongs to the single applicant unless its SSN differs', () => {
  assert.equal(consumersOf(read(record([{ consumerId: 'C1', consumer: { accounts: [{}] } }])))[0]?.applicantId, '1A');
  assertHold(read(record([{ consumerId: 'C1', ssn: '900000001' }])), /SSN that was asked for/);
});

// Entries without an identifier (interface 2.4 shows no applicantId)

const EVA = applicant({
  applicantId: '3A',
  names: [{ first: 'Eva', last: 'Lind' }],
  ssn: '944440001',
  dob: '1990-05-06',
});

/** Returns the file of a person without the SSN. */
function fileOf(person: Applicant, changes: Record<string, unknown> = {}) {
  return { names: person.names.map(({ first, last }) => ({ first, last })), dob: person.dob, accounts: [], ...changes };
}

const withSsn = (person: Applicant, consumerId: string) => ({
  consumerId,
  consumer: { ...fileOf(person), ssn: person.ssn },
});

test('entries without a record need no identification if all have the same outcome', () => {
  const context = contextOf([ADA, BEN], { returnCodes: { PREQUAL: { Suppress: 'noReport' } } });
  for (const [returnCode, outcome] of [
    ['No Record', 'noRecord'],
    ['Suppress', 'noReport'],
  ]) {
    const answer = read({ returnCode, applicants: [{}, {}] }, context);
    assert.deepEqual(answer, { kind: 'outcome', outcome, returnCode });
    const each = read({ applicants: [{ returnCode }, { returnCode }] }, context);
    assert.deepEqual(each.kind === 'outcome' && each.applicants, [
      { applicantId: '1A', outcome },
      { applicantId: '2A', outcome },
    ]);
  }
  const differ = [{ returnCode: 'No Record' }, { returnCode: 'Suppress' }];
  assertHold(read({ applicants: differ }, context), /by applicantId or SSN/);
});

test('an answer without records is held if an entry names another person', () => {
  const none = (entries: unknown[]) => read({ returnCode: 'No Record', applicants: entries }, contextOf([ADA, BEN]));
  assertHold(none([{}, { applicantId: '9Z' }]), /applicantId that was asked for/);
  assertHold(none([{}, { ssn: '900000001' }]), /by applicantId or SSN/);
  assertHold(none([{ applicantId: '1A' }, { applicantId: '1A' }]), /another entry names already/);
});

test('empty entries are read as noRecord for the remaining applicants if each record names its owner', () => {
  const answer = read(record([{}, withSsn(BEN, 'C-BEN'), {}]), contextOf([ADA, BEN, EVA]));
  assert.deepEqual(consumersOf(answer), [{ applicantId: '2A', consumerId: 'C-BEN' }]);
  assert.deepEqual(answer.kind === 'outcome' && answer.applicants, [
    { applicantId: '1A', outcome: 'noRecord' },
    { applicantId: '2A', outcome: 'record' },
    { applicantId: '3A', outcome: 'noRecord' },
  ]);
});

test('an unidentified record belongs to the remaining applicant if name and date of birth match', () => {
  const left = { consumerId: 'C-ADA', consumer: fileOf(ADA, { names: [{ first: 'ADA', last: 'OBRIEN' }] }) };
  const asked = contextOf([ADA, BEN]);
  for (const sure of [withSsn(BEN, 'C-BEN'), { applicantId: '2A', ...withSsn(BEN, 'C-BEN') }]) {
    assert.deepEqual(consumersOf(read(record([left, sure]), asked)), [
      { applicantId: '1A', consumerId: 'C-ADA' },
      { applicantId: '2A', consumerId: 'C-BEN' },
    ]);
  }
});

test('an unidentified record is held unless full name, date of birth and the other SSN are certain', () => {
  const asked = contextOf([ADA, BEN]);
  const ben = withSsn(BEN, 'C-BEN');
  const left = (changes: Record<string, unknown>) => ({ consumerId: 'C-ADA', consumer: fileOf(ADA, changes) });
  const cases: [what: string, entries: unknown[]][] = [
    ['no name', [left({ names: [] }), ben]],
    ['half a name', [left({ names: [{ last: "O'Brien" }] }), ben]],
    ['an initial', [left({ names: [{ first: 'A', last: "O'Brien" }] }), ben]],
    ['another first name', [left({ names: [{ first: 'Ida', last: "O'Brien" }] }), ben]],
    ['another last name', [left({ names: [{ first: 'Ada', last: 'Bryan' }] }), ben]],
    ['no date of birth', [left({ dob: undefined }), ben]],
    ['another date of birth', [left({ dob: '1980-02-28' }), ben]],
    ['an SSN that no applicant has', [left({ ssn: '900000001' }), ben]],
    ['the other by a masked SSN', [left({}), { ...ben, consumer: { ...ben.consumer, ssn: 'XXX-XX-5432' } }]],
    ['no entry with an identifier', [left({}), { consumerId: 'C-BEN', consumer: fileOf(BEN) }]],
  ];
  for (const [what, entries] of cases) {
    assert.equal(read(record(entries), asked).kind, 'unexpectedResponse', what);
  }
});

test('an unidentified record is held if it may belong to a twin with the same initial', () => {
  const twin = secondApplicant({ names: [{ first: 'A', last: "O'Brien" }], dob: ADA.dob });
  const left = { consumerId: 'C-ADA', consumer: fileOf(ADA) };
  assertHold(read(record([left, withSsn(twin, 'C-TWIN')]), contextOf([ADA, twin])), /by applicantId or SSN/);
});

test("an entry with another applicant's name and date of birth is held", () => {
  const born = secondApplicant({ dob: '1991-01-01' });
  const swapped = [
    { applicantId: '1A', consumerId: 'C1', consumer: fileOf(born) },
    { applicantId: '2A', consumerId: 'C2', consumer: fileOf(ADA) },
  ];
  assertHold(read(record(swapped), contextOf([ADA, born])), /another applicant's name and date of birth/);
});

test('a single entry without SSN is held if name or date of birth contradicts the applicant', () => {
  const only = (changes: Record<string, unknown>) =>
    read(record([{ consumerId: 'C1', consumer: fileOf(ADA, changes) }]));
  assert.equal(consumersOf(only({}))[0]?.consumerId, 'C1');
  assert.equal(consumersOf(only({ dob: undefined }))[0]?.consumerId, 'C1');
  for (const changes of [{ dob: '1980-02-28' }, { names: [{ first: 'BEN', last: 'SMITH' }] }]) {
    assertHold(only(changes), /name and date of birth, or the applicant's SSN/);
    assert.equal(consumersOf(only({ ...changes, ssn: ADA.ssn }))[0]?.consumerId, 'C1');
  }
});
