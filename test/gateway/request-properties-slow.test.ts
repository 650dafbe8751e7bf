/** No field mutation of a valid request passes validation and breaks the interface's tables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  buildFailsafeRequest,
  buildReportRequest,
  buildSecondUseRequest,
  type FailsafeRequestParts,
  type ReportRequestParts,
  type SecondUseRequestParts,
} from '../../src/gateway/requests.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { applicant, profileFor, secondApplicant, TRACE_NUMBER } from './fixtures.ts';
import { breaksOf, type Row, SECTION_4_3, TABLE_2_3, TABLE_2_6 } from './interface-tables.ts';

const PROFILE = profileFor('http://127.0.0.1');
const RUNS = { numRuns: 1_000 };

type Path = (string | number)[];
type Mutation = { path: Path; change: 'replace' | 'remove' | 'add'; value: unknown };

/** Every place in a value at which something could be changed. */
function placesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [path];
  const inner = Object.entries(value).flatMap(([key, member]) =>
    placesOf(member, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return path.length === 0 ? inner : [path, ...inner];
}

/** Values near the edges of every row's rule, and some far beyond. */
const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.string({ unit: 'grapheme', maxLength: 45 }),
  fc.stringMatching(/^[0-9]{3,11}$/),
  fc.stringMatching(/^[0-9]{5}-?[0-9]{3,5}$/),
  fc.stringMatching(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/),
  fc.stringMatching(/^[12][0-9]{3}-(?:0[1-9]|1[0-2])-(?:[0-2][0-9]|3[01])$/),
  fc
    .date({ min: new Date('2026-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  fc.stringMatching(/^[A-Za-z]{1,4}$/),
  fc.integer({ min: 1, max: 100 }).map((length) => 'x'.repeat(length)),
  fc.constantFrom(
    '',
    ' ',
    '\t',
    'a\nb',
    'a\u0000',
    '\u007f',
    '\u0085',
    '\u200b',
    '\ud800',
    "O'Brien",
    'C',
    'P',
    'c',
    'CP',
    'HOME',
    'FAX',
  ),
  fc.constantFrom(
    '١٢٣٤٥٦٧٨٩',
    '９１２３４５６７８',
    '912-34-5678',
    ' 912345678',
    '912345678\n',
    '2025550123\n',
    '10001\n',
  ),
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV6().map((address) => `${address}%eth0`),
  fc.emailAddress(),
  fc.constantFrom(
    'a@b@example.com',
    'example.com',
    '@example.com',
    'a b@example.com',
    '1.2.3.256',
    '1.2.3',
    ':::',
    '::ffff:1.2.3.4',
  ),
  fc.constantFrom(null, undefined, 0, 912345678, Number.NaN, true, [], {}, ['x'], new Date(Number.NaN)),
);

function mutationsOf(valid: object): fc.Arbitrary<Mutation[]> {
  const mutation = fc.record({
    path: fc.constantFrom(...placesOf(valid)),
    change: fc.constantFrom(
      'replace' as const,
      'replace' as const,
      'replace' as const,
      'remove' as const,
      'add' as const,
    ),
    value: values,
  });
  return fc.array(mutation, { minLength: 1, maxLength: 2 });
}

function mutated(valid: object, mutations: readonly Mutation[]): object {
  const copy = structuredClone(valid);
  for (const { path, change, value } of mutations) {
    let parent: unknown = copy;
    for (const key of path.slice(0, -1)) parent = (parent as Record<string | number, unknown> | undefined)?.[key];
    const key = path.at(-1);
    if (typeof parent !== 'object' || parent === null || key === undefined) continue;
    const object = parent as Record<string | number, unknown>;
    if (change === 'replace') object[key] = value;
    else if (change === 'remove' && Array.isArray(parent)) parent.splice(Number(key), 1);
    else if (change === 'remove') delete object[key];
    else if (Array.isArray(parent)) parent.push(value);
    else object[`${key}X`] = value;
  }
  return copy;
}

/** What lies on and just beyond the edge of each row's rule: put in every place, not left to chance. */
const EDGES: readonly unknown[] = [
  ...[1, 2, 3, 4, 5, 9, 10, 11, 16, 17, 30, 31, 40, 41, 45, 46, 80, 81].flatMap((length) => [
    'x'.repeat(length),
    '9'.repeat(length),
    `${'x'.repeat(Math.max(length - 12, 1))}@example.com`,
  ]),
  ...['2023-02-29', '2023-02-30', '1900-02-29', '2023-13-01', '2023-00-10', '2023-04-31', '2023-01-00', '2999-01-01'],
  ...['2000-02-29', '1980-01-01T00:00:00Z', '1980-1-1', '01/01/1980', '2026-01-01 24:00:00', '10001-1234', '10001-123'],
  ...['a\nb', 'a\tb', 'a\u0000', '\u007fa', 'a\u0085', '', ' ', '\u00a0', '\u2003', 'n1', 'NY', 'ny', 'N', 'ÉÉ'],
  ...['C', 'P', 'c', 'HOME', 'home', 'MOBL', 'WORK', 'FAX', 'ID', 'SECONDUSE', 'FAILSAFE', 'CR', 'CRX'],
  ...['192.0.2.1', '256.1.1.1', '1.2.3', '2001:db8::1', '::', ':::', '1::2::3', '::ffff:192.0.2.1', 'fe80::1%1'],
  ...[null, undefined, 0, 1, true, [], {}, [[]], [{}], ['x'], Number.NaN],
];

/** The request that came of it, or `null` where the builder refused it as it should. */
function built(build: (parts: never) => unknown, parts: object): unknown {
  try {
    return build(parts as never);
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, `not InvalidInputError: ${error}`);
    assert.ok(error.problems.length > 0 && error.problems.every(({ path, rule }) => /^(?:\/|$)/.test(path) && rule));
    return null;
  }
}

function assertNothingBrokenPasses(table: readonly Row[], valid: object, build: (parts: never) => unknown): void {
  assert.deepEqual(breaksOf(table, build(valid as never)), [], 'the unmutated request must keep to the table');
  let passed = 0;
  const check = (mutations: readonly Mutation[]) => {
    const request = built(build, mutated(valid, mutations));
    if (request === null) return;
    passed += 1;
    assert.deepEqual(breaksOf(table, request), [], JSON.stringify(mutations));
  };
  for (const path of placesOf(valid)) {
    for (const value of EDGES) check([{ path, change: 'replace', value }]);
    for (const change of ['remove', 'add'] as const) check([{ path, change, value: 'x' }]);
  }
  fc.assert(fc.property(mutationsOf(valid), check), RUNS);
  // A schema that refuses everything would keep to every table.
  assert.ok(passed > 100, `only ${passed} mutations passed`);
}

test('no mutation of a report request passes and breaks table 2.3', () => {
  const valid: Omit<ReportRequestParts, 'profile'> = {
    productCode: 'PREQUAL',
    customerTraceNumber: TRACE_NUMBER,
    endUserCode: 'LENDER01',
    permissiblePurposeCode: 'CP',
    applicants: [applicant(), secondApplicant({ addresses: [{ ...address(), zip: '10001-1234' }] })],
  };
  assertNothingBrokenPasses(TABLE_2_3, valid, (parts: ReportRequestParts) =>
    buildReportRequest({ ...parts, profile: PROFILE }),
  );
});

test('no mutation of a SECONDUSE request passes and breaks table 2.6', () => {
  const valid: Omit<SecondUseRequestParts, 'profile'> = {
    customerTraceNumber: TRACE_NUMBER,
    endUserCode: 'LENDER02',
    endUser: 'Second Lender',
    permissiblePurposeCode: 'CP',
    reference: {
      reportReferenceNumber: 'RRN-1',
      requestedAt: '2026-01-01T00:00:00Z',
      applicants: [
        { applicantId: '1A', consumerId: 'C1' },
        { applicantId: '2A', consumerId: 'C2' },
      ],
    },
    originalInquiryAt: new Date('2026-01-31T23:59:59.999Z'),
  };
  assertNothingBrokenPasses(TABLE_2_6, valid, (parts: SecondUseRequestParts) =>
    buildSecondUseRequest({ ...parts, profile: PROFILE }),
  );
});

test('no mutation of a FAILSAFE request passes and breaks section 4.3', () => {
  const valid: FailsafeRequestParts = {
    customerTraceNumber: TRACE_NUMBER,
    applicants: [applicant(), secondApplicant()],
  };
  assertNothingBrokenPasses(SECTION_4_3, valid, buildFailsafeRequest);
});

test('a mutated profile puts no customer or software provider on the wire that breaks table 2.3', () => {
  fc.assert(
    fc.property(values, values, (customerId, softwareProviderId) => {
      const profile = { ...PROFILE, customerId, softwareProviderId } as typeof PROFILE;
      const parts = { profile, productCode: 'CR', customerTraceNumber: TRACE_NUMBER, endUserCode: 'L' } as const;
      try {
        const request = buildReportRequest({ ...parts, permissiblePurposeCode: 'CP', applicants: [applicant()] });
        assert.deepEqual(breaksOf(TABLE_2_3, request), []);
      } catch (error) {
        assert.ok(error instanceof InvalidInputError);
      }
    }),
    { numRuns: 300 },
  );
});

function address() {
  return { addressIdentifier: 'P' as const, line1: '9 Elm', city: 'Albany', state: 'NY', zip: '12207' };
}
