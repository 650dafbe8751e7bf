/** Tests that damaged messages, inputs and requests are accepted by every reader, or refused by path and rule. */
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { checkRequest } from '../../sandbox/rules/check-request.ts';
import { publishedSchemas } from '../../scripts/published-schemas.ts';
import { buildFailsafeRequest, buildReportRequest, buildSecondUseRequest } from '../../src/gateway/requests.ts';
import { parseMessage } from '../../src/messages/inputs/parse-message.ts';
import type { Message } from '../../src/messages/message.ts';
import { InvalidInputError, type Problem } from '../../src/model/problems.ts';
import { Journey } from '../../src/workflows/journey/journey.ts';
import { applicant, profileFor, secondApplicant, TRACE_NUMBER } from '../gateway/fixtures.ts';
import { breaksOf, SECTION_4_3, TABLE_2_3, TABLE_2_6 } from '../gateway/interface-tables.ts';
import { aConsent, DEFINITIONS, REFERENCE, SAMPLES } from '../validation/sample-messages.ts';
import { changedValue, treeMutations } from './mutations.ts';
import { property } from './property.ts';
import { assertNothingPersonal, assertSafeError, SENTINEL } from './sentinel.ts';
import { hostileValue } from './values.ts';

/** Names of deciding members. Mutations add them anywhere. */
const KEYS = [
  ...['journeyId', 'shareId', 'applicantId', 'consentId', 'decision', 'decidedAt', 'secondaryUser', 'evidence'],
  ...['applicants', 'names', 'first', 'ssn', 'dob', 'phones', 'addresses', 'zip4', 'stages', 'gates', 'shares'],
  ...['share', 'endUser', 'endUserCode', 'outcome', 'reference', 'attempt', 'action', 'undecodable', 'reason', 'proof'],
] as const;

/** Returns the checked value, or the problems of a well-formed refusal. */
function check(
  read: (value: unknown) => unknown,
  value: unknown,
): { value: unknown } | { problems: readonly Problem[] } {
  try {
    return { value: read(value) };
  } catch (error) {
    assert.ok(error instanceof InvalidInputError, `not InvalidInputError but ${error}`);
    assertSafeError(error, 'a refusal');
    assert.ok(error.problems.length > 0);
    for (const { path, rule } of error.problems) {
      assert.match(path, /^(?:\/[A-Za-z0-9_]+)*$/, 'a path of known members alone');
      assert.ok(rule.length > 0 && rule.length < 400 && !rule.includes(SENTINEL));
    }
    return { problems: error.problems };
  }
}

/** An activity, not the workflow's validators, checks these paths against the interface's table. */
const APPLICANTS = /^\/applicants(?:\/|$)/;

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
addFormats.default(ajv);
const schemas = new Map([...publishedSchemas()].map(([name, schema]) => [name, ajv.compile(schema)]));

property({
  name: 'messages and inputs pass the published schema and a second check, or are refused by path and rule',
  weight: 10,
  cases: fc.record({
    sample: fc.constantFrom(...Object.entries(SAMPLES).flatMap(([file, of]) => of.map((valid) => ({ file, valid })))),
    change: fc.oneof(
      { arbitrary: treeMutations(KEYS, 3), weight: 12 },
      { arbitrary: hostileValue.map((value) => ({ value })), weight: 1 },
    ),
  }),
  check: ({ sample: { file, valid }, change }) => {
    const definition = DEFINITIONS.get(file) ?? assert.fail(file);
    const changed = Array.isArray(change) ? changedValue(valid, change) : change.value;
    const read = (given: unknown) => parseMessage(definition, given, { maxApplicants: 4 });
    const first = check(read, changed);
    if ('findProblem' in definition) {
      const problem = (definition as Message).findProblem(changed);
      if (problem !== null) assertNothingPersonal(problem, 'a reason');
      const others = 'problems' in first ? first.problems.filter(({ path }) => !APPLICANTS.test(path)) : [];
      if ('value' in first) assert.equal(problem, null, `${file}: an activity takes what the workflow refuses`);
      else if (problem === null) assert.deepEqual(others, [], `${file}: the workflow takes what an activity refuses`);
    }
    if ('problems' in first) return;
    assert.ok(schemas.get(file)?.(changed), `${file}: our check takes what the published schema refuses`);
    const again = check(read, JSON.parse(JSON.stringify(first.value)));
    assert.deepEqual(again, first, 'what was checked passes again, unchanged');
    assert.equal(Object.getPrototypeOf(first.value), Object.prototype);
  },
});

const [JOURNEY] = SAMPLES['lending-journey-input'] ?? [];

property({
  name: 'an unchecked journey input makes no query of the journey throw',
  weight: 2,
  cases: fc.oneof(
    treeMutations(['shares', 'stages', 'gates', 'applicants', 'shareId', 'reportOf', 'length', 'undecodable'], 6).map(
      (tree) => changedValue(JOURNEY, tree),
    ),
    hostileValue,
  ),
  check: (input) => {
    const journey = new Journey(input as never);
    journey.status();
    journey.references();
    journey.state.config = { environment: 'sandbox' } as never;
    journey.result('completed');
    for (const stage of ['PREQUAL', 'PREAPP', 'PRECLOSE'] as const) journey.findGateBefore(stage);
    for (const share of journey.shares.values()) journey.listApplicants(share);
    journey.consents.take(aConsent() as never, { isAnswered: true });
    assert.equal(Object.hasOwn(Object.prototype, 'shareId'), false);
  },
});

const PROFILE = profileFor('http://127.0.0.1');
const COMMON = { customerTraceNumber: TRACE_NUMBER, permissiblePurposeCode: 'CP' };
const APPLICANT_PARTS = { ...COMMON, applicants: [applicant(), secondApplicant()] };

const REQUESTS = [
  {
    table: TABLE_2_3,
    parts: { ...APPLICANT_PARTS, productCode: 'PREQUAL', endUserCode: 'LENDER01' },
    build: (parts: object) => buildReportRequest({ ...parts, profile: PROFILE } as never),
  },
  {
    table: TABLE_2_6,
    parts: { ...COMMON, endUserCode: 'LENDER02', endUser: 'Second Lender', reference: REFERENCE },
    build: (parts: object) => {
      const originalInquiryAt = new Date('2026-01-31T23:59:59.999Z');
      return buildSecondUseRequest({ ...parts, profile: PROFILE, originalInquiryAt } as never);
    },
  },
  {
    table: SECTION_4_3,
    parts: { customerTraceNumber: TRACE_NUMBER, applicants: APPLICANT_PARTS.applicants },
    build: (parts: object) => buildFailsafeRequest(parts as never),
  },
];

property({
  name: 'requests follow the tables of the interface, or are refused by path and rule',
  weight: 3,
  cases: fc.record({ request: fc.constantFrom(...REQUESTS), tree: treeMutations(KEYS, 3) }),
  check: ({ request, tree }) => {
    const parts = changedValue(request.parts, tree);
    if (typeof parts !== 'object' || parts === null) return;
    const built = check((value) => request.build(value as object), parts);
    if ('problems' in built) return;
    const wire = JSON.parse(JSON.stringify(built.value));
    assert.deepEqual(breaksOf(request.table, wire), [], 'a request that breaks the table');
    const verdict = checkRequest(wire, { now: '2026-02-01 00:00:00', ownRules: true });
    // The profile decides whether accents are allowed.
    const problems = 'problems' in verdict ? verdict.problems.filter(({ rule }) => rule !== 'sandbox:ascii') : [];
    assert.deepEqual(problems, [], 'the sandbox refuses it');
  },
});
