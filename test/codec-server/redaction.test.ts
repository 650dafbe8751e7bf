import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { text } from '../../src/fields/fields.ts';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import { parseApplicants, parseMessage } from '../../src/messages/inputs/parse-message.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { MASKED, readRedactedPointer, redact } from '../../src/protection/redaction/redaction.ts';
import { APPLICANT_MEMBERS } from '../support/applicant-members.ts';
import { APPLICANT, SENTINELS } from './fixtures.ts';

const YEAR = '1980-••-••';
const LAST_FOUR = `${MASKED}5678`;

describe('redaction of', () => {
  const table: [string, unknown, unknown][] = [
    ['an SSN leaves its last four digits', { ssn: '912345678' }, { ssn: LAST_FOUR }],
    ['a dashed SSN leaves its last four digits', { ssn: '912-34-5678' }, { ssn: LAST_FOUR }],
    ['an SSN that is a number', { ssn: 912345678 }, { ssn: LAST_FOUR }],
    ['an SSN by another name', { 'Social Security-Number': '912345678' }, { 'Social Security-Number': LAST_FOUR }],
    ['an SSN under a name that ends in SSN', { coBorrowerSSN: '912345678' }, { coBorrowerSSN: LAST_FOUR }],
    ['an SSN that the gateway masked', { ssn: 'XXXXX5678' }, { ssn: LAST_FOUR }],
    ['a list of SSNs', { ssns: [{ ssn: '912345678', refId: 3 }] }, { ssns: [{ ssn: LAST_FOUR, refId: 3 }] }],
    ['a birth date leaves its year', { dob: '1980-02-03' }, { dob: YEAR }],
    ['a birth date with the month first', { birth_date: '2/3/1980' }, { birth_date: YEAR }],
    ['a birth date without separators', { dateOfBirth: 19800203 }, { dateOfBirth: YEAR }],
    ['a birth date of no known form', { dob: 'second of March' }, { dob: MASKED }],
    ['a birth date in parts', { dob: { year: 1980, month: 2 } }, { dob: { year: YEAR, month: MASKED } }],
    [
      'names',
      { names: [{ first: 'Ann', last: 'X', middle: '' }] },
      { names: [{ first: MASKED, last: MASKED, middle: '' }] },
    ],
    ['names that are texts', { names: ['Ann X'] }, { names: [MASKED] }],
    ['other members of a name', { names: [{ title: 'Dr' }] }, { names: [{ title: MASKED }] }],
    [
      'account numbers',
      { accounts: [{ accountNumber: 'XXXX1234', balance: '1.00' }] },
      { accounts: [{ accountNumber: MASKED, balance: '1.00' }] },
    ],
    ['e-mail addresses', { emailAddress: 'ann@example.com' }, { emailAddress: MASKED }],
    [
      'telephones',
      { phones: [{ phoneNumber: '2025550123', phoneType: 'HOME' }] },
      { phones: [{ phoneNumber: MASKED, phoneType: 'HOME' }] },
    ],
    [
      'an address leaves city, state and a five-digit zip',
      {
        addresses: [
          { line1: '1 A St', line2: 'B', city: 'C', state: 'VA', zip: '221501234', zip4: '1234', county: 'D' },
        ],
      },
      {
        addresses: [
          { line1: MASKED, line2: MASKED, city: 'C', state: 'VA', zip: '22150', zip4: MASKED, county: MASKED },
        ],
      },
    ],
    ['an address in one text', { address: '1 A St, C VA' }, { address: MASKED }],
    ['the consumer id', { consumerId: 'CONSUMER-SENTINEL' }, { consumerId: MASKED }],
    ['the address of a device', { ipAddress: '203.0.113.7' }, { ipAddress: MASKED }],
    ['an SSN in free text', { reason: 'asked 912-34-5678 twice' }, { reason: `asked ${MASKED} twice` }],
    ['nine digits in free text', ['SSN912345678'], [`SSN${MASKED}`]],
    ['a telephone in free text', ['call (202) 555-0123'], [`call ${MASKED}`]],
    ['an e-mail address in free text', { by: 'ann.b@mail.example.com' }, { by: MASKED }],
    ['an SSN in place of an id', { journeyId: '912345678' }, { journeyId: MASKED }],
    ['an SSN within an id', { runKey: 'pull:loan-912-34-5678' }, { runKey: `pull:loan-${MASKED}` }],
    ['an SSN with dots in place of an id', { pullId: '912.34.5678' }, { pullId: MASKED }],
    ['a text that is not a valid id, in place of an id', { shareId: 'ann 2025550123' }, { shareId: `ann ${MASKED}` }],
    ['an object in place of an id', { journeyId: { note: '2025550123' } }, { journeyId: { note: MASKED } }],
    ['a loan number under another name', { note: '1234567890' }, { note: MASKED }],
    ['nine digits that are a number', { unknown: 912345678 }, { unknown: MASKED }],
    ['a member that is named by something personal', { '912-34-5678': true }, { [MASKED]: true }],
    [
      'two member names with the same mask',
      { 'a@example.com': 1, 'b@example.com': 2 },
      { [MASKED]: 1, [`${MASKED} (2)`]: 2 },
    ],
    ['JSON in a text', { message: '{"ssn":"912345678"}' }, { message: JSON.stringify({ ssn: LAST_FOUR }) }],
    [
      'a failure',
      { message: 'at 912345678', stack_trace: 'Error: 912345678\n at f (a.ts:1)' },
      { message: `at ${MASKED}`, stack_trace: `Error: ${MASKED}\n at f (a.ts:1)` },
    ],
  ];
  for (const [title, value, shown] of table) test(title, () => assert.deepEqual(redact(value), shown));

  test('values without personal data changes nothing', () => {
    const value = {
      journeyId: 'J-1001',
      customerTraceNumber: 'PQ123456789AAAAAAAAAAAAAAAAA00',
      reportReferenceNumber: '123456789012',
      runId: '01912345-6789-7123-8123-123456789012',
      digest: 'ab123456789012345678901234567890'.repeat(2),
      requestedAt: '2026-01-02T03:04:05.123456789Z',
      at: 'file:///app/node_modules/@temporalio/worker@1.24.0/lib/x.js:10:5',
      claimedAtMs: 1_767_323_045_123,
      attempts: 3,
      ok: true,
      nothing: null,
      consumerNameRefId: 4,
      otherTraceNumber: 'PQ123456789AAAAAAAAAAAAAAAAA00',
      inquiries: ['1234567890', 'pull:2026000012345', 'portfolio:0123456789/1234567890123456789'].map((journeyId) => ({
        ...{ journeyId, runKey: journeyId, decisionId: '1234567890' },
        workflowId: 'journey-1234567890',
      })),
      definition: { queryDefinitions: [{ name: 'status', description: 'where it stands' }] },
    };
    assert.deepEqual(redact(value), value);
  });

  test('an applicant at any depth leaves nothing personal', () => {
    const text = JSON.stringify(redact([{ a: [{ b: { applicants: [APPLICANT] } }] }]));
    for (const sentinel of SENTINELS) assert.ok(!text.includes(sentinel), sentinel);
  });

  /** Members of an applicant that are shown, since they do not identify the person. */
  const shown = [
    '/applicantId',
    '/phones/0/phoneType',
    ...['addressIdentifier', 'city', 'state'].map((name) => `/addresses/0/${name}`),
  ];
  for (const pointer of APPLICANT_MEMBERS.filter((member) => !shown.includes(member))) {
    test(`the member ${pointer} of an applicant masks it`, () => {
      const names = pointer.slice(1).split('/');
      const applicant = names.reduceRight<unknown>((value, name) => (name === '0' ? [value] : { [name]: value }), 'Zq');
      assert.ok(!JSON.stringify(redact({ applicants: [applicant] })).includes('Zq'));
    });
  }

  test('a text too long to be searched masks it as a whole', () => assert.equal(redact('x'.repeat(100_001)), MASKED));

  test('a __proto__ member masks its contents and changes no prototype', () => {
    const shown = JSON.stringify(redact(JSON.parse('{"__proto__":{"ssn":"912345678"}}')));
    assert.equal(shown, `{"__proto__":{"ssn":"${LAST_FOUR}"}}`);
    assert.equal(({} as Record<string, unknown>).ssn, undefined);
  });
});

describe('a masked value', () => {
  test('is refused by path in every field of an applicant', () => {
    const applicants = redact([APPLICANT]);
    assert.throws(
      () => parseApplicants('report', applicants, { maxApplicants: 2 }),
      (error: unknown) => {
        assert.ok(error instanceof InvalidInputError);
        const paths = new Set(error.problems.map(({ path }) => path));
        for (const path of [
          'names/0/first',
          'names/0/middle',
          'names/0/last',
          'ssn',
          'dob',
          'emailAddress',
          'ipAddress',
        ]) {
          assert.ok(paths.has(`/applicants/0/${path}`), path);
        }
        assert.ok(paths.has('/applicants/0/phones/0/phoneNumber'));
        assert.ok(paths.has('/applicants/0/addresses/0/line1'));
        return true;
      },
    );
  });

  test('is refused by each text field of the interface', () => {
    for (const mask of [MASKED, LAST_FOUR, YEAR]) assert.equal(text(80).safeParse(mask).success, false);
  });

  const messages: [string, (value: unknown) => unknown, Record<string, unknown>][] = [
    [
      'consent',
      (value) => parseMessage(MESSAGES.consent, value),
      { journeyId: 'J-1', shareId: 'S1', applicantId: '01', consentId: MASKED },
    ],
    [
      'withdraw',
      (value) => parseMessage(MESSAGES.withdrawJourney, value),
      { journeyId: 'J-1', by: MASKED, reason: 'x' },
    ],
    [
      'resolveInquiry',
      (value) => parseMessage(MESSAGES.resolveInquiry, value, { maxApplicants: 2 }),
      { journeyId: 'J-1', by: MASKED },
    ],
  ];
  for (const [name, parse, message] of messages) {
    test(`is refused in the message ${name}`, () => {
      const masked = name === 'consent' ? '/consentId' : '/by';
      assert.throws(
        () => parse(message),
        (error: unknown) => error instanceof InvalidInputError && error.problems.some(({ path }) => path === masked),
      );
    });
  }

  test('is found at any depth, and its path is reported', () => {
    assert.equal(readRedactedPointer(redact({ applicants: [APPLICANT] })), '/applicants/0/names/0/first');
    assert.equal(readRedactedPointer(redact({ dob: '1980-02-03' })), '/dob');
    assert.equal(readRedactedPointer(MASKED), '');
    assert.equal(readRedactedPointer({ a: [{ [MASKED]: 1 }] }), '/a/0/*');
    assert.equal(readRedactedPointer({ applicants: [APPLICANT], text: 'one • bullet' }), null);
  });
});
