/** Tests length, format and presence of each row of the request tables (2.3, 2.6, 4.3), also in the sandbox. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRequest } from '../../sandbox/rules/check-request.ts';
import {
  buildFailsafeRequest,
  buildReportRequest,
  buildSecondUseRequest,
  type FailsafeRequestParts,
  type ReportRequestParts,
  type SecondUseRequestParts,
} from '../../src/gateway/requests.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { applicant, profileFor, TRACE_NUMBER } from './fixtures.ts';
import { mayHaveAccents, type Row, SECTION_4_3, TABLE_2_3, TABLE_2_6 } from './interface-tables.ts';

interface Product {
  rows: readonly Row[];
  /** Returns the caller's input, with `profile` if the product has one. */
  parts(): object;
  build(parts: object): object;
  /** Returns the path of the row in the caller's input, or `undefined` if the caller cannot give it. */
  given(path: string): string | undefined;
}

/** These two always come from the gateway profile, never from a caller. */
const FROM_PROFILE = ['customerId', 'softwareProviderId'];

const withProfile = (path: string) => (FROM_PROFILE.includes(path) ? `profile.${path}` : path);

const REPORT: Product = {
  rows: TABLE_2_3,
  parts: () => ({
    profile: profileFor('http://127.0.0.1'),
    productCode: 'PREQUAL',
    customerTraceNumber: TRACE_NUMBER,
    endUserCode: 'LENDER01',
    permissiblePurposeCode: 'CP',
    applicants: [applicant()],
  }),
  build: (parts) => buildReportRequest(parts as ReportRequestParts),
  given: withProfile,
};

const SECOND_USE: Product = {
  rows: TABLE_2_6,
  parts: () => ({
    profile: profileFor('http://127.0.0.1', { timeZone: 'UTC' }),
    customerTraceNumber: TRACE_NUMBER,
    endUserCode: 'LENDER02',
    endUser: 'Second Lender',
    permissiblePurposeCode: 'CP',
    reference: {
      reportReferenceNumber: 'RRN-1',
      requestedAt: '2026-01-01T00:00:00Z',
      applicants: [{ applicantId: '1A', consumerId: 'C1' }],
    },
    originalInquiryAt: new Date('2026-01-15T17:04:05.999Z'),
  }),
  build: (parts) => buildSecondUseRequest(parts as SecondUseRequestParts),
  given(path) {
    if (['productCode', 'accessMethod'].includes(path)) return undefined;
    if (path === 'originalInquiryDate') return 'originalInquiryAt';
    return /^(?:reportReferenceNumber|applicants)/.test(path) ? `reference.${path}` : withProfile(path);
  },
};

const FAILSAFE: Product = {
  rows: SECTION_4_3,
  parts: () => ({ customerTraceNumber: TRACE_NUMBER, applicants: [applicant()] }),
  build: (parts) => buildFailsafeRequest(parts as FailsafeRequestParts),
  given: (path) => (path === 'productCode' ? undefined : path),
};

const ABSENT = Symbol('absent');

/** `applicants[].ssn` and `applicants[]` as steps into the first entry, and to the list itself. */
function stepsOf(path: string): string[] {
  return path.replace(/\[\]$/, '').replaceAll('[]', '.0').split('.');
}

function at(value: unknown, path: string): unknown {
  return stepsOf(path).reduce((place, step) => (place as Record<string, unknown> | undefined)?.[step], value);
}

function put(object: object, path: string, value: unknown): void {
  const steps = stepsOf(path);
  const last = steps.pop() ?? '';
  const place = steps.reduce(
    (inner, step) => inner[step] as Record<string, unknown>,
    object as Record<string, unknown>,
  );
  if (value === ABSENT) delete place[last];
  else place[last] = value;
}

/** Puts a value into the caller's input and returns the value on the wire or the paths of the problems. */
function comesOf(product: Product, row: Row, value: unknown): { sent: unknown } | { refused: string[] } {
  const parts = product.parts();
  put(parts, product.given(row.path) ?? '', value);
  try {
    return { sent: at(product.build(parts), row.path) };
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, String(error));
    return { refused: error.problems.map((problem) => problem.path) };
  }
}

function pointer(product: Product, row: Row): string {
  const path = (product.given(row.path) ?? '').replace(/^profile\./, '');
  return `/${stepsOf(path).join('/')}`;
}

/** Returns a value of the row with this many characters. */
function ofLength(row: Row, length: number): string {
  if (row.type === 'N') return '9'.repeat(length);
  if (row.format === 'email') return `${'m'.repeat(length - '@example.com'.length)}@example.com`;
  // 45 characters are the longest spelling that an IPv6 address has.
  if (row.format === 'ip') return '0000:0000:0000:0000:0000:ffff:192.168.100.228'.padEnd(length, '0').slice(0, length);
  return row.format === 'state' ? 'NYX'.slice(0, length) : 'x'.repeat(length);
}

function admitted(row: Row): unknown[] {
  if (row.oneOf) return [...row.oneOf];
  const length = row.length ?? 0;
  if (row.type === 'Date') return ['1980-02-29', new Date().toISOString().slice(0, 10)];
  if (row.type === 'N' || row.format === 'state') return [ofLength(row, length)];
  if (row.format === 'ip') return [ofLength(row, length), '192.0.2.7', '2001:db8::1'];
  return [length, length - 1].filter((count) => count > 0).map((count) => ofLength(row, count));
}

function notAdmitted(row: Row): unknown[] {
  if (row.type === 'list') return [[], {}, 'x', null];
  const length = row.length ?? 0;
  const accents = mayHaveAccents(row) ? [] : ['\u00e9'];
  const wrong: unknown[] = ['', ' ', 'a\u0000', '\u0416', ...accents, null, 7, ofLength(row, length + 1)];
  if (row.oneOf) return [...wrong, 'X', row.oneOf[0]?.toLowerCase()];
  if (row.type === 'Date') return [...wrong, '2023-02-29', '02/28/1980', '1980-2-28', '2999-01-01'];
  // `zip` is described as "5 or 9 digits": nine go to `zip` and `zip4`, so one digit too many is six.
  if (row.type === 'N') return [...wrong, ofLength(row, length - 1), `${'9'.repeat(length - 1)}-`, '９'.repeat(length)];
  // Longer values would break the row by their length.
  if (length > 1) wrong.push(' x', 'x ', 'x\u00a0', 'x\u200b', ...(mayHaveAccents(row) ? [] : ['x\u2019', '\u00e9x']));
  if (row.format === 'state') return [...wrong, 'N', 'N1'];
  if (row.format === 'email') return [...wrong, 'example.com', 'a b@example.com'];
  if (row.format === 'ip') return [...wrong, '192.0.2', '192.0.2.256', 'fe80::1%eth0'];
  return wrong;
}

function holds(product: Product, row: Row): void {
  const refused = { refused: [pointer(product, row)] };
  for (const value of admitted(row)) {
    // The rows of its entries test a list.
    if (row.type !== 'list') assert.deepEqual(comesOf(product, row, value), { sent: value }, `admitted: ${value}`);
  }
  for (const value of notAdmitted(row)) {
    const came = comesOf(product, row, value);
    assert.ok('refused' in came && came.refused.length > 0, `not admitted: ${JSON.stringify(value)}`);
    assert.deepEqual([...new Set(came.refused)], refused.refused, `not admitted: ${JSON.stringify(value)}`);
  }
  assert.deepEqual(comesOf(product, row, ABSENT), row.required ? refused : { sent: undefined }, 'absent');
}

const PRODUCTS: Readonly<Record<string, Product>> = { '2.3': REPORT, '2.6': SECOND_USE, '4.3': FAILSAFE };

for (const [section, product] of Object.entries(PRODUCTS)) {
  for (const row of product.rows.filter(({ path, type }) => type !== 'DateTime' && product.given(path))) {
    test(`${section} ${row.path}: is validated as its row requires`, () => holds(product, row));
  }
}

/** Returns the problems that the sandbox finds by its own tables in a request on the wire. */
function sandboxProblems(product: Product, row: Row, value: unknown): string[] {
  const body = structuredClone(product.build(product.parts()));
  put(body, row.path, value);
  const checked = checkRequest(body, { now: new Date().toISOString().slice(0, 19).replace('T', ' '), ownRules: true });
  return 'problems' in checked ? [...new Set(checked.problems.map((problem) => problem.path))] : [];
}

/** Only the product refuses zones of IPv6 addresses: `node:net` accepts them. */
const HELD_BY_US_ALONE: readonly unknown[] = ['fe80::1%eth0'];

for (const [section, product] of Object.entries(PRODUCTS)) {
  for (const row of product.rows.filter(({ type }) => type !== 'DateTime')) {
    test(`${section} ${row.path}: the sandbox validates it too`, () => {
      const refused = [`/${stepsOf(row.path).join('/')}`];
      for (const value of row.type === 'list' ? [] : admitted(row)) {
        assert.deepEqual(sandboxProblems(product, row, value), [], `admitted: ${value}`);
      }
      for (const value of notAdmitted(row).filter((one) => !HELD_BY_US_ALONE.includes(one))) {
        assert.deepEqual(sandboxProblems(product, row, value), refused, `not admitted: ${JSON.stringify(value)}`);
      }
      assert.deepEqual(sandboxProblems(product, row, ABSENT), row.required ? refused : [], 'absent');
    });
  }
}

for (const [section, path, value] of [
  ['2.6', 'productCode', 'SECONDUSE'],
  ['2.6', 'accessMethod', 'ID'],
  ['4.3', 'productCode', 'FAILSAFE'],
] as const) {
  test(`${section} ${path}: is always ${value}, and callers cannot change it`, () => {
    const product = PRODUCTS[section] as Product;
    assert.equal(at(product.build(product.parts()), path), value);
    assert.throws(() => product.build({ ...product.parts(), [path]: 'XX' }), InvalidInputError);
  });
}

test('2.6 originalInquiryDate: is YYYY-MM-DD HH:MM:SS within 20 characters and needs a valid past date', () => {
  const row = TABLE_2_6.find(({ path }) => path === 'originalInquiryDate') as Row;
  assert.deepEqual(comesOf(SECOND_USE, row, new Date('2026-01-15T00:00:00.999Z')), { sent: '2026-01-15 00:00:00' });
  for (const value of [ABSENT, null, '2026-01-15 00:00:00', new Date(Number.NaN), new Date(Date.now() + 60_000)]) {
    assert.deepEqual(comesOf(SECOND_USE, row, value), { refused: ['/originalInquiryAt'] });
  }
});

test('4.3: a FAILSAFE request omits the seven fields that are not in the sample', () => {
  const sent = JSON.stringify(FAILSAFE.build(FAILSAFE.parts()));
  const { customerId, softwareProviderId } = profileFor('http://127.0.0.1');
  for (const value of [customerId, softwareProviderId, 'emailAddress', 'ipAddress', 'applicantId', 'endUserCode']) {
    assert.ok(!sent.includes(value), value);
  }
  assert.ok(!sent.includes('permissiblePurposeCode'));
});
