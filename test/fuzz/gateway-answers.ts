/** Real answers of the sandbox, and an independent check of the outcome of a changed answer by its text alone. */
import assert from 'node:assert/strict';
import { productAnswer } from '../../sandbox/answers/product-answer.ts';
import type { Body } from '../../sandbox/faults/fault.ts';
import { applyVariants } from '../../sandbox/faults/variants.ts';
import type { GatewayRequest as SandboxRequest } from '../../sandbox/rules/check-request.ts';
import { type AnswerContext, readAnswer } from '../../src/gateway/answers.ts';
import { buildFailsafeRequest, type GatewayRequest } from '../../src/gateway/requests.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { PRODUCTS, type ReportProduct } from '../../src/model/products.ts';
import { isTraceNumber } from '../../src/model/trace-number.ts';
import {
  applicant,
  profileFor,
  reportRequest,
  secondApplicant,
  secondUseRequest,
  TRACE_NUMBER,
} from '../gateway/fixtures.ts';
import { assertNothingPersonal } from './sentinel.ts';

const PROFILE = profileFor('http://127.0.0.1');
const ADA = applicant();
const BEN = secondApplicant();
const REQUESTED_AT = '2026-07-01T10:00:00.000Z';

/** The reference number of every answer. FAILSAFE's entries continue the count. */
export const REFERENCE = 'RRN-FUZZ-0001';

export interface KnownAnswer {
  body: Body;
  context: AnswerContext;
  /** The outcome of the unchanged body. */
  answer: Answer;
}

function known(
  request: GatewayRequest,
  expected: readonly Applicant[],
  codes: readonly string[],
  variants: readonly string[] = [],
): KnownAnswer {
  const { productCode, customerTraceNumber } = request;
  const inquiry = {
    customerTraceNumber,
    productCode,
    endUserCode: null,
    endUser: null,
    applicants: expected.length,
    postedAt: REQUESTED_AT,
    reportReferenceNumber: REFERENCE,
    consumerIds: [],
  };
  const received = request as SandboxRequest;
  const whole = productAnswer({ request: received, inquiry, codes, userId: 'user-1', accounts: 1 });
  const body = applyVariants(new Set(variants), whole, received);
  const context = { profile: PROFILE, request, expected, requestedAt: REQUESTED_AT };
  const answer = readAnswer(JSON.stringify(body), context);
  assert.ok(answer);
  return { body, context, answer };
}

function report(
  productCode: ReportProduct,
  applicants: Applicant[],
  codes: string[],
  ...variants: string[]
): KnownAnswer {
  return known(reportRequest(PROFILE, { productCode, applicants }), applicants, codes, variants);
}

function failsafe(applicants: Applicant[], codes: string[], ...variants: string[]): KnownAnswer {
  return known(buildFailsafeRequest({ customerTraceNumber: TRACE_NUMBER, applicants }), applicants, codes, variants);
}

export const KNOWN_ANSWERS: readonly KnownAnswer[] = [
  report('PREQUAL', [ADA], ['Record']),
  report('PREAPP', [ADA, BEN], ['Record', 'Record']),
  report('PRECLOSE', [ADA, BEN], ['Record', 'No Record']),
  report('REFUPD', [BEN], ['Record']),
  report('PREQUAL', [ADA], ['No Record']),
  report('PREQUAL', [ADA], ['Error']),
  failsafe([ADA], ['Record']),
  failsafe([ADA, BEN], ['No Record', 'Record']),
  failsafe([ADA, BEN], ['No Record', 'Record'], 'failsafeSsns', 'echoes'),
  report('REFUPD', [ADA, BEN], ['Record', 'Record'], 'applicantIds', 'referenceLists', 'echoes'),
  report('CR', [ADA, BEN], ['Record', 'No Record'], 'applicantIds', 'consumerIds', 'returnReasons'),
  known(secondUseRequest(PROFILE), [], ['Record']),
];

/** Names of deciding members. Mutations add them anywhere. */
export const DECIDING_KEYS = [
  ...['returnCode', 'reportReferenceNumber', 'customerTraceNumber', 'productCode', 'customerId', 'applicantId'],
  ...['consumerId', 'consumer', 'ssn', 'applicants', 'consumers', 'Consumers', 'errorMessage', 'names'],
] as const;

type Loose = Record<string, unknown>;

function own(object: unknown, key: string): unknown {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Asserts for any text that the problems quote none of its values and that the text states the outcome. */
export function assertHonest(
  text: string,
  answer: Answer | null,
  { context, answer: before, body }: KnownAnswer,
): void {
  const parsed = parse(text);
  assert.equal(answer === null, parsed === null, 'what is JSON is judged, and nothing else');
  if (answer === null || parsed === null) return;
  if (text === JSON.stringify(body)) assert.deepEqual(answer, before);
  if (answer.kind === 'unexpectedResponse') {
    assert.ok(answer.problems.length > 0);
    assertNothingPersonal(answer.problems.join('\n'), 'a problem');
  }
  if ('returnCode' in answer && answer.returnCode !== undefined) assert.match(answer.returnCode, /^[\x20-\x7e]{1,40}$/);
  if (answer.kind !== 'outcome') return;
  const [top] = parsed;
  const lists = ['applicants', 'consumers', 'Consumers'].map((name) => own(top, name)).filter((list) => isGiven(list));
  assert.ok(isObject(top) && lists.length <= 1);
  const entries = (lists[0] ?? []) as Loose[];
  for (const place of [top, ...entries]) assertOurs(place, context);
  const codes = [top, ...entries].map((place) => own(place, 'returnCode'));
  const words = { record: ['Record'], noRecord: ['No Record'], noReport: ['nothing'] }[answer.outcome];
  assert.ok(
    codes.some((code) => words.includes(String(code))),
    `nothing says ${answer.outcome}`,
  );
  if (answer.outcome !== 'record') assert.equal(answer.reference, undefined);
  else assertReference(answer, { top, entries }, context);
}

function parse(text: string): [unknown] | null {
  try {
    return [JSON.parse(text)];
  } catch {
    return null;
  }
}

function assertOurs(place: Loose, { request }: AnswerContext): void {
  const isFailsafe = request.productCode === 'FAILSAFE';
  const ours: Loose = {
    customerTraceNumber: request.customerTraceNumber,
    productCode: request.productCode,
    // FAILSAFE's request names no customer, so the customer in its answer is not an echo.
    ...(request.productCode !== 'FAILSAFE' && { customerId: request.customerId }),
  };
  for (const [name, value] of Object.entries(ours)) {
    const echoed = own(place, name);
    // The interface shows no value of FAILSAFE's trace number, so only another valid trace number names another request.
    const isForeign =
      name === 'productCode'
        ? PRODUCTS.some((product) => product === echoed)
        : !isFailsafe || isTraceNumber(String(echoed));
    const isOurs = String(echoed).trim().toUpperCase() === value;
    assert.ok(!isGiven(echoed) || isOurs || !isForeign, `an outcome of another ${name}`);
  }
}

function assertReference(
  { reference }: Extract<Answer, { kind: 'outcome' }>,
  { top, entries }: { top: Loose; entries: Loose[] },
  { expected, request }: AnswerContext,
): void {
  const numbers = new Set([top, ...entries].map((place) => own(place, 'reportReferenceNumber')).filter(isGiven));
  if (request.productCode === 'FAILSAFE' && !reference) {
    assert.ok(numbers.size > 0, 'a record without a reference');
    return;
  }
  assert.ok(reference);
  assert.deepEqual([...numbers], [reference.reportReferenceNumber], 'the reference must be the one of the answer');
  if (request.productCode === 'SECONDUSE') {
    assert.notEqual(reference.reportReferenceNumber, request.reportReferenceNumber, "the shared report's own number");
    return;
  }
  assert.ok(reference.applicants.length > 0, 'a record of nobody');
  for (const { applicantId, consumerId } of reference.applicants) {
    const named = entries.filter((entry) => own(entry, 'consumerId') === consumerId);
    assert.equal(named.length, 1, 'a consumerId must be that of one entry');
    const [entry = {}] = named;
    const mine = expected.find((one) => one.applicantId === applicantId);
    assert.ok(mine, 'a consumerId for nobody who was asked for');
    const ssns = [own(entry, 'ssn'), own(own(entry, 'consumer'), 'ssn')].filter(isGiven).map(digitsOf);
    assert.ok(request.productCode === 'FAILSAFE' || isObject(own(entry, 'consumer')), 'a record without a consumer');
    for (const ssn of ssns) assert.ok(mayBe(ssn, mine.ssn), 'the consumerId of another SSN');
    const given = own(entry, 'applicantId');
    const isNamed = given === applicantId;
    if (isGiven(given) && request.productCode !== 'FAILSAFE') assert.ok(isNamed, 'the consumerId of another applicant');
    const isLeft = own(own(entry, 'consumer'), 'dob') === mine.dob;
    if (expected.length > 1) assert.ok(isNamed || ssns.length > 0 || isLeft, 'a consumerId matched by nothing');
  }
}

function digitsOf(ssn: unknown): string {
  const text = typeof ssn === 'number' ? String(ssn).padStart(9, '0') : String(ssn);
  return text.replace(/[\s-]/g, '');
}

/** Compares the digits that are not masked. */
function mayBe(given: string, asked: string): boolean {
  const whole = given.length === 4 ? given.padStart(9, '*') : given;
  return (
    whole === '' ||
    (whole.length === 9 && [...whole].every((digit, index) => /[Xx*#•]/.test(digit) || digit === asked[index]))
  );
}
