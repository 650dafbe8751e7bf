/** Tests each row of the interface's answers (2.2, 2.4, 2.5, 2.8) and of its token request (2.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { tokenRequestSchema } from '../../src/fields/request-schemas.ts';
import { readResponse } from '../../src/gateway/envelope.ts';
import {
  type AccountCrossReference,
  type Consumer,
  type ConsumerAccount,
  type ConsumerAddress,
  type ConsumerName,
  createRefIdResolver,
  type RefKind,
  type ResponseEntry,
} from '../../src/gateway/responses.ts';
import { readTokenResponse } from '../../src/gateway/token-source.ts';
import { ADA, failsafeContext, failsafeEntry, read } from './reading-answers.ts';

const TOKEN_REQUEST = {
  audience: 'servicegateway',
  grant_type: 'client_credentials',
  client_id: 'a',
  client_secret: 'b',
};
const TOKEN = { access_token: 'a.b.c', scope: 'grs key-management', expires_in: 28_800, token_type: 'Bearer' };

for (const field of Object.keys(TOKEN_REQUEST)) {
  test(`2.1 ${field}: is required and must not be empty`, () => {
    assert.deepEqual(tokenRequestSchema.parse(TOKEN_REQUEST), TOKEN_REQUEST);
    for (const value of [undefined, '', 7]) {
      assert.equal(tokenRequestSchema.safeParse({ ...TOKEN_REQUEST, [field]: value }).success, false);
    }
  });
}

for (const field of ['access_token', 'expires_in', 'token_type'] as const) {
  test(`2.2 ${field}: an answer without it is refused`, () => {
    assert.deepEqual(readTokenResponse(JSON.stringify(TOKEN)), { accessToken: 'a.b.c', expiresInS: 28_800 });
    for (const value of [undefined, null, {}, '']) {
      assert.equal(readTokenResponse(JSON.stringify({ ...TOKEN, [field]: value })), null);
    }
  });
}

test('2.2 scope: can have any value, since no request asks for a scope', () => {
  for (const scope of ['grs', '', 7, undefined]) assert.ok(readTokenResponse(JSON.stringify({ ...TOKEN, scope })));
});

// With `Required`, a field that the types lack or name differently does not compile.

const CROSS_REFERENCE: Required<AccountCrossReference> = {
  consumerNameRefId: 1,
  consumerAddressRefId: 2,
  consumerSsnRefId: 3,
  consumerDOBRefId: 4,
  consumerPhoneNbrRefId: 0,
  relatedAddressRefId: 0,
};

const NAME: Required<ConsumerName> = {
  first: 'ADA',
  middle: 'Q',
  last: "O'BRIEN",
  firstReportedDate: '2001-02-03',
  totalOccurrences: 9,
  activeOccurrences: 7,
  refId: 1,
};

const ADDRESS: Required<Omit<ConsumerAddress, 'refId'>> = {
  line1: '1 MAIN STREET',
  line2: 'UNIT 2',
  city: 'SPRINGFIELD',
  state: 'NY',
  zip: '10001',
};

const ACCOUNT: Required<ConsumerAccount> = {
  contributor: 'EXAMPLE BANK',
  accountNumber: 'XXXXXXXXXXXX1234',
  type: '18',
  opened: '2010-11-12',
  balance: '0001234.00',
  creditLimit: '5000.00',
  statusCode: '11',
  accountCrossReference: CROSS_REFERENCE,
};

const CONSUMER: Required<Pick<Consumer, 'names' | 'ssn' | 'dob' | 'addresses' | 'accounts'>> = {
  names: [NAME],
  ssn: '912345678',
  dob: '1980-02-29',
  addresses: [ADDRESS],
  accounts: [ACCOUNT],
};

const ENTRY: ResponseEntry = { applicantId: '1A', consumerId: 'CONSUMER1', consumer: CONSUMER };
const REPORT = { returnCode: 'Record', reportReferenceNumber: 'RRN-0001', applicants: [ENTRY] };

/** Reads a value of the whole report at a path as in the interface's tables. */
function readAt(path: string): unknown {
  const steps = path.replaceAll('[]', '.0').split('.');
  const start: unknown = readResponse(JSON.stringify(REPORT))?.applicants[0]?.consumer;
  return steps.reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], start);
}

for (const field of Object.keys(CONSUMER) as (keyof typeof CONSUMER)[]) {
  const row = Array.isArray(CONSUMER[field]) ? `${field}[]` : field;
  test(`2.4 consumer.${row}: is read unchanged, and held if it is malformed`, () => {
    assert.deepEqual(readAt(field), CONSUMER[field]);
    assert.equal(read(REPORT).kind, 'outcome');
    for (const wrong of ['x', 7, {}, [7]]) {
      // A date of birth is compared only if there is no SSN.
      if (field === 'dob' && wrong === 'x') continue;
      const applicants = [{ ...ENTRY, consumer: { ...CONSUMER, [field]: wrong } }];
      assert.equal(read({ ...REPORT, applicants }).kind, 'unexpectedResponse', JSON.stringify(wrong));
    }
  });
}

const REFERRED: Record<keyof AccountCrossReference, { kind: RefKind; list: string }> = {
  consumerNameRefId: { kind: 'name', list: 'names' },
  consumerAddressRefId: { kind: 'address', list: 'addresses' },
  consumerSsnRefId: { kind: 'ssn', list: 'ssns' },
  consumerDOBRefId: { kind: 'dob', list: 'dobs' },
  consumerPhoneNbrRefId: { kind: 'phone', list: 'phones' },
  relatedAddressRefId: { kind: 'relatedAddress', list: 'relatedAddresses' },
};

for (const field of Object.keys(CROSS_REFERENCE) as (keyof AccountCrossReference)[]) {
  test(`2.5 ${field}: is read unchanged and refers to the entry of its own list`, () => {
    assert.equal(readAt(`accounts[].accountCrossReference.${field}`), CROSS_REFERENCE[field]);
    const { kind, list } = REFERRED[field];
    const consumer = { [list]: [{ refId: 1 }, { refId: 2, found: field }], names: [{ refId: 2 }], accounts: [] };
    const named = list === 'names' ? { ...consumer, names: [{ refId: 2, found: field }] } : consumer;
    assert.deepEqual(createRefIdResolver(named as Consumer)(kind, 2), { refId: 2, found: field });
    assert.equal(createRefIdResolver(named as Consumer)(kind, 0), undefined);
  });
}

for (const field of ['firstReportedDate', 'totalOccurrences', 'activeOccurrences', 'refId'] as const) {
  test(`2.5 names[].${field}: is read unchanged and does not affect the outcome`, () => {
    assert.equal(readAt(`names[].${field}`), NAME[field]);
    const withAnother = (value: unknown) => {
      const consumer = { ...CONSUMER, names: [{ ...NAME, [field]: value }] };
      return read({ ...REPORT, applicants: [{ ...ENTRY, consumer }] });
    };
    for (const value of [0, 99, '1999-12-31', 'x', null, undefined]) {
      assert.deepEqual(withAnother(value), read(REPORT), JSON.stringify(value));
    }
  });
}

/** For each field: another value, and whether it leads to the same outcome, another outcome or a hold. */
const ANOTHER: Record<string, { value: unknown; comesOf: string }> = {
  softwareProviderId: { value: 'ZZZZ', comesOf: 'the same' },
  softwareProviderVersion: { value: '9.9', comesOf: 'the same' },
  customerTraceNumber: { value: 'SOMEBODYELSE', comesOf: 'another' },
  userId: { value: 'another', comesOf: 'the same' },
  reportReferenceNumber: { value: 'FS-9', comesOf: 'another' },
  productCode: { value: 'CR', comesOf: 'unexpectedResponse' },
  customerId: { value: 'ANOTHERHOUSE', comesOf: 'the same' },
  applicantId: { value: '7Q', comesOf: 'the same' },
  consumerId: { value: 'C9', comesOf: 'another' },
  returnCode: { value: 'Record', comesOf: 'another' },
};

for (const [field, value] of Object.entries(failsafeEntry())) {
  test(`2.8 consumers[].${field}: is read unchanged, and another value changes the answer as listed`, () => {
    const stored = readResponse(JSON.stringify({ consumers: [failsafeEntry()] }));
    assert.equal(stored?.applicants[0]?.[field], value);
    assert.equal(Object.keys(stored?.applicants[0] ?? {}).length, 10);
    const answer = read({ consumers: [failsafeEntry()] }, failsafeContext([ADA]));
    const other = ANOTHER[field];
    const changed = read({ consumers: [failsafeEntry({ [field]: other?.value })] }, failsafeContext([ADA]));
    const cameOf = isDeepStrictEqual(changed, answer)
      ? 'the same'
      : changed.kind === 'outcome'
        ? 'another'
        : changed.kind;
    assert.equal(cameOf, other?.comesOf);
  });
}

test('the refId 0 refers to no entry, even if an entry has it', () => {
  assert.equal(createRefIdResolver({ names: [{ first: 'ADA', refId: 0 }] })('name', 0), undefined);
});

test('a refId that two entries have refers to no entry', () => {
  assert.equal(createRefIdResolver({ names: [NAME, NAME] })('name', 1), undefined);
});
