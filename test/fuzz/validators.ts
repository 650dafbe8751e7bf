/** Inputs and requests with things wrong in them: valid in the eyes of every reader of ours, or refused by path and rule. */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { checkRequest } from '../../sandbox/rules/check-request.ts';
import { publishedSchemas } from '../../scripts/published-schemas.ts';
import { buildFailsafeRequest, buildReportRequest, buildSecondUseRequest } from '../../src/gateway/requests.ts';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import { INPUTS as RUN_INPUTS } from '../../src/messages/inputs/all-inputs.ts';
import { parseMessage } from '../../src/messages/inputs/parse-message.ts';
import type { Checked } from '../../src/messages/message.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { applicant, profileFor, secondApplicant, TRACE_NUMBER } from '../gateway/fixtures.ts';
import { breaksOf, SECTION_4_3, TABLE_2_3, TABLE_2_6 } from '../gateway/interface-tables.ts';
import { aConsent, aDecision, aJourney, anApplicant } from '../validation/sample-messages.ts';
import { changedValue, treeMutations } from './mutations.ts';
import { type OpenTarget, property } from './property.ts';
import { assertSafeError, SENTINEL } from './sentinel.ts';
import { hostileValue } from './values.ts';

const KEYS = [
  ...[
    'applicants',
    'applicantId',
    'names',
    'first',
    'ssn',
    'dob',
    'phones',
    'emailAddress',
    'ipAddress',
    'addresses',
    'zip4',
  ],
  ...[
    'stages',
    'gates',
    'shares',
    'permissiblePurposeCodes',
    'SECONDUSE',
    'endUser',
    'profile',
    'sharesOpenFor',
    'reference',
  ],
] as const;

/** The checked value, or `null` where it was refused as it should be. */
function checked(check: (value: unknown) => unknown, value: unknown): { value: unknown } | null {
  try {
    return { value: check(value) };
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, `not InvalidInputError but ${error}`);
    assertSafeError(error, 'a refusal');
    assert.ok(error.problems.length > 0);
    for (const { path, rule } of error.problems) {
      assert.match(path, /^(?:\/[A-Za-z0-9_]+)*$/, 'a path of known members alone');
      assert.ok(rule.length > 0 && rule.length < 400 && !rule.includes(SENTINEL));
    }
    return null;
  }
}

const LIMIT = { maxApplicants: 4 };

const JOURNEYS = [
  aJourney({
    applicants: [anApplicant('1A'), anApplicant('2A')],
    shares: [
      {
        shareId: 'S1',
        endUserCode: 'EU456',
        permissiblePurposeCode: '02',
        reportOf: 'PREAPP',
        awaitConsentFor: 'P30D',
      },
    ],
    gates: { PREAPP: { pass: 'auto' }, PRECLOSE: { expiresAfter: 'P3D' } },
    stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'],
    onNoRecord: 'stop',
    sharesOpenFor: 'P1D',
    profile: 'default',
  }),
  aJourney(),
];

const REFERENCE = {
  reportReferenceNumber: 'RRN-1',
  requestedAt: '2026-01-01T00:00:00Z',
  applicants: [{ applicantId: '1A', consumerId: 'C1' }],
};

const INPUTS: readonly { schema: string; definition: Checked; valid: object }[] = [
  ...JOURNEYS.map((valid) => ({ schema: 'lending-journey-input', definition: RUN_INPUTS.lendingJourney, valid })),
  { schema: 'consent', definition: MESSAGES.consent, valid: aConsent() },
  {
    schema: 'advance',
    definition: MESSAGES.advance,
    valid: { journeyId: 'J-1', to: 'PREAPP', applicants: [anApplicant()] },
  },
  {
    schema: 'request-share',
    definition: MESSAGES.requestShare,
    valid: { journeyId: 'J-1', share: { shareId: 'S1', endUserCode: 'EU4' } },
  },
  {
    schema: 'resolve-inquiry',
    definition: MESSAGES.resolveInquiry,
    valid: aDecision({ action: 'accept', outcome: 'record', reference: REFERENCE }),
  },
  {
    schema: 'withdraw',
    definition: MESSAGES.withdrawJourney,
    valid: { journeyId: 'J-1', by: 'Operator', reason: 'a reason' },
  },
];

function compiledSchemas(): Map<string, ValidateFunction> {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
  addFormats.default(ajv);
  return new Map([...publishedSchemas()].map(([name, schema]) => [name, ajv.compile(schema)]));
}

function inputs(schemas: Map<string, ValidateFunction>) {
  return property({
    name: 'inputs',
    weight: 4,
    cases: fc.record({
      which: fc.nat({ max: INPUTS.length - 1 }),
      value: fc.oneof(
        { arbitrary: treeMutations(KEYS, 3), weight: 12 },
        { arbitrary: hostileValue.map((value) => ({ value })), weight: 1 },
      ),
    }),
    check: ({ which, value }) => {
      const input = INPUTS[which];
      assert.ok(input);
      const changed = Array.isArray(value) ? changedValue(input.valid, value) : value.value;
      const parse = (given: unknown) => parseMessage(input.definition, given, LIMIT);
      const first = checked(parse, changed);
      if (!first) return;
      assert.ok(
        schemas.get(input.schema)?.(changed),
        `${input.schema}: our check takes what the published schema refuses`,
      );
      const again = checked(parse, JSON.parse(JSON.stringify(first.value)));
      assert.deepEqual(again, first, 'what was checked passes again, unchanged');
      assert.equal(Object.getPrototypeOf(first.value), Object.prototype);
    },
  });
}

const PROFILE = profileFor('http://127.0.0.1');
const APPLICANTS = [applicant(), secondApplicant()];

const REQUESTS = [
  {
    table: TABLE_2_3,
    parts: {
      productCode: 'PREQUAL',
      customerTraceNumber: TRACE_NUMBER,
      endUserCode: 'LENDER01',
      permissiblePurposeCode: 'CP',
      applicants: APPLICANTS,
    },
    build: (parts: never) => buildReportRequest({ ...(parts as object), profile: PROFILE } as never),
  },
  {
    table: TABLE_2_6,
    parts: {
      customerTraceNumber: TRACE_NUMBER,
      endUserCode: 'LENDER02',
      endUser: 'Second Lender',
      permissiblePurposeCode: 'CP',
      reference: REFERENCE,
    },
    build: (parts: never) =>
      buildSecondUseRequest({
        ...(parts as object),
        profile: PROFILE,
        originalInquiryAt: new Date('2026-01-31T23:59:59.999Z'),
      } as never),
  },
  {
    table: SECTION_4_3,
    parts: { customerTraceNumber: TRACE_NUMBER, applicants: APPLICANTS },
    build: (parts: never) => buildFailsafeRequest(parts),
  },
] as const;

const requests = property({
  name: 'requests',
  weight: 3,
  cases: fc.record({ which: fc.nat({ max: REQUESTS.length - 1 }), tree: treeMutations(KEYS, 3) }),
  check: ({ which, tree }) => {
    const request = REQUESTS[which];
    assert.ok(request);
    const parts = changedValue(request.parts, tree);
    if (typeof parts !== 'object' || parts === null) return;
    const built = checked((value) => request.build(value as never), parts);
    if (!built) return;
    const wire = JSON.parse(JSON.stringify(built.value));
    assert.deepEqual(breaksOf(request.table, wire), [], 'a request that breaks the table');
    const verdict = checkRequest(wire, { now: '2026-02-01 00:00:00', ownRules: true });
    // A profile decides about accents.
    const problems = 'problems' in verdict ? verdict.problems.filter(({ rule }) => rule !== 'sandbox:ascii') : [];
    assert.deepEqual(problems, [], 'the sandbox refuses it');
  },
});

export async function openValidators(): Promise<OpenTarget> {
  return { properties: [inputs(compiledSchemas()), requests] };
}
