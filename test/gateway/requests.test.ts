import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeProfileFingerprint, type GatewayProfile, hasFingerprint } from '../../src/gateway/profile.ts';
import {
  buildFailsafeRequest,
  buildReportRequest,
  buildSecondUseRequest,
  type ReportRequestParts,
  type SecondUseRequestParts,
} from '../../src/gateway/requests.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { REPORT_PRODUCTS } from '../../src/model/products.ts';
import { applicant, profileFor, secondApplicant, TRACE_NUMBER } from './fixtures.ts';

const PROFILE = profileFor('http://127.0.0.1');

function report(changes: Partial<ReportRequestParts> = {}) {
  return buildReportRequest({
    profile: PROFILE,
    productCode: 'PREQUAL',
    customerTraceNumber: TRACE_NUMBER,
    endUserCode: 'LENDER01',
    permissiblePurposeCode: 'CP',
    applicants: [applicant()],
    ...changes,
  });
}

function secondUse(changes: Partial<SecondUseRequestParts> = {}) {
  return buildSecondUseRequest({
    profile: PROFILE,
    customerTraceNumber: TRACE_NUMBER,
    endUserCode: 'LENDER02',
    permissiblePurposeCode: 'CP',
    reference: {
      reportReferenceNumber: 'RRN-1',
      requestedAt: '2026-01-01T00:00:00Z',
      applicants: [{ applicantId: '1A', consumerId: 'C1' }],
    },
    originalInquiryAt: new Date('2026-01-15T17:04:05.999Z'),
    ...changes,
  });
}

function problemsOf(build: () => unknown): Record<string, string> {
  try {
    build();
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, String(error));
    return Object.fromEntries(error.problems.map(({ path, rule }) => [path, rule]));
  }
  return assert.fail('must be refused');
}

function withApplicant(changes: Record<string, unknown>): Applicant[] {
  return [{ ...applicant(), ...changes } as Applicant];
}

function withAddress(changes: Record<string, unknown>): Applicant[] {
  return withApplicant({ addresses: [{ ...applicant().addresses[0], ...changes }] });
}

for (const productCode of REPORT_PRODUCTS) {
  test(`a ${productCode} request has the standard form and differs from others only in its product code`, () => {
    assert.deepEqual({ ...report({ productCode }), productCode: 'PREQUAL' }, report());
    assert.equal(report({ productCode }).productCode, productCode);
  });
}

test('alphanumeric fields accept the punctuation that names and codes need', () => {
  const names = [{ first: "D'Arcy", middle: 'J.', last: "St. John-O'Brien", gen: '3' }];
  const applicants = withApplicant({ names, emailAddress: "o'brien+x@example.com", ipAddress: '2001:db8::1' });
  assert.deepEqual(report({ applicants, endUserCode: 'A:B-C@D/E' }).applicants[0]?.names, names);
});

test('2.3: an end user or a purpose without a letter or digit is refused, and the refusal says so', () => {
  const problems = problemsOf(() => report({ endUserCode: '-.-', permissiblePurposeCode: '?!' }));
  const rule = 'must have a letter or a digit';
  assert.deepEqual(problems, { '/endUserCode': rule, '/permissiblePurposeCode': rule });
});

test('nine digits or ZIP+4 are split into zip and zip4, with or without a matching zip4', () => {
  for (const [zip, zip4] of [
    ['100011234', undefined],
    ['10001-1234', undefined],
    ['10001-1234', '1234'],
    ['10001', '1234'],
  ]) {
    const address = report({ applicants: withAddress({ zip, ...(zip4 && { zip4 }) }) }).applicants[0]?.addresses[0];
    assert.deepEqual([address?.zip, address?.zip4], ['10001', '1234']);
  }
  assert.equal('zip4' in (report().applicants[0]?.addresses[0] ?? {}), false);
});

test('a zip4 that contradicts the zip is refused', () => {
  const problems = problemsOf(() => report({ applicants: withAddress({ zip: '100011234', zip4: '4321' }) }));
  assert.deepEqual(Object.keys(problems), ['/applicants/0/addresses/0/zip4']);
});

test('state codes are sent in capitals', () => {
  assert.equal(report({ applicants: withAddress({ state: 'ny' }) }).applicants[0]?.addresses[0]?.state, 'NY');
});

// interface-rows.test.ts tests each row of table 2.3 by itself.
const REFUSED: [title: string, changes: Record<string, unknown>, path: string][] = [
  ['an SSN of zeros', { ssn: '000000000' }, '/applicants/0/ssn'],
  ['a birth date of the year 0', { dob: '0000-01-01' }, '/applicants/0/dob'],
  ['a birth date before 1900', { dob: '1899-12-31' }, '/applicants/0/dob'],
  ['a birth date with a time', { dob: '1980-01-01T00:00:00Z' }, '/applicants/0/dob'],
];

for (const [title, changes, path] of REFUSED) {
  test(`an applicant with ${title} is refused by path`, () => {
    const problems = problemsOf(() => report({ applicants: withApplicant(changes) }));
    assert.deepEqual(Object.keys(problems), [path]);
  });
}

test('a refusal lists every problem at once, without values and without unknown keys', () => {
  const applicants = withApplicant({ ssn: 'SENTINEL', 'SENTINEL-KEY': 1, dob: 'SENTINEL', emailAddress: 'SENTINEL' });
  let shown = '';
  const problems = problemsOf(() => {
    try {
      report({ applicants, endUserCode: `SENTINEL${'x'.repeat(16)}` });
    } catch (error) {
      shown = `${error} ${JSON.stringify(error)}`;
      throw error;
    }
  });
  assert.deepEqual(Object.keys(problems).sort(), [
    '/applicants/0',
    '/applicants/0/dob',
    '/applicants/0/emailAddress',
    '/applicants/0/ssn',
    '/endUserCode',
  ]);
  assert.match(problems['/applicants/0'] ?? '', /^has an unknown field; known are applicantId, names, ssn,/);
  assert.ok(!shown.includes('SENTINEL'), shown);
});

test('a report request needs one to four applicants with distinct identifiers and SSNs', () => {
  assert.deepEqual(Object.keys(problemsOf(() => report({ applicants: [] }))), ['/applicants']);
  const five = Array.from({ length: 5 }, (_, index) =>
    applicant({ applicantId: `${index}A`, ssn: `90000000${index}` }),
  );
  assert.deepEqual(Object.keys(problemsOf(() => report({ applicants: five }))), ['/applicants']);
  const sameId = [applicant(), secondApplicant({ applicantId: '1A' })];
  assert.deepEqual(Object.keys(problemsOf(() => report({ applicants: sameId }))), ['/applicants/1/applicantId']);
  const sameSsn = [applicant(), secondApplicant({ ssn: applicant().ssn })];
  assert.deepEqual(Object.keys(problemsOf(() => report({ applicants: sameSsn }))), ['/applicants/1/ssn']);
});

test('an applicant can have up to 20 names, 20 phones and 20 addresses', () => {
  for (const list of ['names', 'phones', 'addresses'] as const) {
    const [entry] = applicant()[list] ?? [];
    assert.ok(entry, list);
    const withEntries = (count: number) => applicant({ [list]: Array.from({ length: count }, () => entry) });
    assert.equal(report({ applicants: [withEntries(20)] }).applicants[0]?.[list]?.length, 20);
    const problems = problemsOf(() => report({ applicants: [withEntries(21)] }));
    assert.deepEqual(Object.keys(problems), [`/applicants/0/${list}`]);
  }
});

test('a share request has access method ID and the inquiry date in the profile’s time zone', () => {
  assert.deepEqual(secondUse({ endUser: 'Second Lender' }), {
    customerId: 'HOUSE0001',
    customerTraceNumber: TRACE_NUMBER,
    endUserCode: 'LENDER02',
    endUser: 'Second Lender',
    productCode: 'SECONDUSE',
    permissiblePurposeCode: 'CP',
    softwareProviderId: 'CRJY',
    accessMethod: 'ID',
    originalInquiryDate: '2026-01-15 12:04:05',
    reportReferenceNumber: 'RRN-1',
    applicants: [{ consumerId: 'C1' }],
  });
  const midnight = secondUse({ originalInquiryAt: new Date('2025-07-01T04:00:00Z') });
  assert.equal(midnight.originalInquiryDate, '2025-07-01 00:00:00');
});

test('a share request needs an end user code or a name, and can have both', () => {
  assert.equal('endUserCode' in secondUse({ endUserCode: undefined, endUser: 'Second Lender' }), false);
  assert.deepEqual(Object.keys(problemsOf(() => secondUse({ endUserCode: undefined }))), ['/endUserCode']);
});

test('a share request with a future inquiry date or a wrong reference is refused by path', () => {
  const future = problemsOf(() => secondUse({ originalInquiryAt: new Date(Date.now() + 60_000) }));
  assert.deepEqual(future, { '/originalInquiryAt': 'must not be in the future' });
  const reference = {
    reportReferenceNumber: 'x'.repeat(31),
    requestedAt: '2026-01-01T00:00:00Z',
    applicants: [
      { applicantId: '1A', consumerId: 'C1' },
      { applicantId: '2A', consumerId: 'C1' },
      { applicantId: '3A', consumerId: '' },
    ],
  };
  assert.deepEqual(Object.keys(problemsOf(() => secondUse({ reference }))).sort(), [
    '/reference/applicants/1/consumerId',
    '/reference/applicants/2/consumerId',
    '/reference/reportReferenceNumber',
  ]);
  const twice = { ...reference, reportReferenceNumber: 'R', applicants: reference.applicants.slice(0, 2) };
  assert.deepEqual(Object.keys(problemsOf(() => secondUse({ reference: twice }))), [
    '/reference/applicants/1/consumerId',
  ]);
});

test('a FAILSAFE request has exactly the fields of the sample', () => {
  const request = buildFailsafeRequest({ customerTraceNumber: TRACE_NUMBER, applicants: [secondApplicant()] });
  assert.deepEqual(request, {
    customerTraceNumber: TRACE_NUMBER,
    productCode: 'FAILSAFE',
    applicants: [
      {
        names: [{ first: 'Ben', last: 'Smith-Jones' }],
        dob: '1980-02-29',
        ssn: '998765432',
        phones: [{ phoneNumber: '2025550123', phoneType: 'HOME' }],
        addresses: [{ addressIdentifier: 'C', line1: '1 Main Street', city: 'Springfield', state: 'NY', zip: '10001' }],
      },
    ],
  });
  const { applicantId, emailAddress, ipAddress, ...least } = applicant();
  assert.equal(buildFailsafeRequest({ customerTraceNumber: TRACE_NUMBER, applicants: [least] }).applicants.length, 1);
  const wrong = problemsOf(() =>
    buildFailsafeRequest({ customerTraceNumber: '', applicants: withApplicant({ ssn: '1' }) }),
  );
  assert.deepEqual(Object.keys(wrong).sort(), ['/applicants/0/ssn', '/customerTraceNumber']);
});

test('a profile’s fingerprint changes if and only if a run would reach another gateway or customer', () => {
  const fingerprint = computeProfileFingerprint(PROFILE);
  assert.match(fingerprint, /^[0-9a-f]{64}$/);
  const otherWays: Partial<GatewayProfile>[] = [
    { authUrl: 'http://127.0.0.2' },
    { baseUrl: 'http://127.0.0.2' },
    { apiVersion: 'grs_v002' },
    { audience: 'another' },
  ];
  const otherCustomers: Partial<GatewayProfile>[] = [
    { environment: 'uat' },
    { customerId: 'OTHER' },
    { softwareProviderId: 'OTHR' },
  ];
  for (const change of [...otherWays, ...otherCustomers]) {
    const other = computeProfileFingerprint({ ...PROFILE, ...change });
    assert.notEqual(other, fingerprint);
  }
  const credentials = { name: 'x', read: async () => ({ clientId: 'other', clientSecret: 'other' }) };
  for (const change of [{ name: 'x' }, { credentials }, { timeZone: 'UTC' }, { baseUrl: 'http://127.0.0.1/' }]) {
    assert.equal(computeProfileFingerprint({ ...PROFILE, ...change }), fingerprint);
  }
});

test('a run continues under a profile that lists its former gateway, but never for another customer', () => {
  const began = computeProfileFingerprint(PROFILE);
  const { authUrl, baseUrl, audience, apiVersion } = PROFILE;
  const former = { authUrl, baseUrl, audience, apiVersion };
  const moved = { ...PROFILE, authUrl: 'http://127.0.0.2', baseUrl: 'http://127.0.0.3', apiVersion: 'grs_v002' };
  assert.equal(hasFingerprint(PROFILE, began), true);
  assert.equal(hasFingerprint(moved, began), false);
  assert.equal(hasFingerprint({ ...moved, formerly: [{ ...former, audience: 'x' }, former] }, began), true);
  assert.equal(hasFingerprint({ ...PROFILE, formerly: [former] }, began), true);
  for (const change of [{ apiVersion: 'grs_v000' }, { audience: 'another' }, { authUrl: 'http://127.0.0.9' }]) {
    assert.equal(hasFingerprint({ ...moved, formerly: [{ ...former, ...change }] }, began), false);
  }
  const others: Partial<GatewayProfile>[] = [
    { environment: 'uat' },
    { customerId: 'OTHER' },
    { softwareProviderId: 'OTHR' },
  ];
  for (const other of others) assert.equal(hasFingerprint({ ...moved, ...other, formerly: [former] }, began), false);
});
