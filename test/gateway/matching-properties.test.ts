/**
 * Draws people who are easily confused, and answers of the sandbox without the fields that distinguish them. The
 * sandbox knows the owner of each `consumerId`: no other applicant may get it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { productAnswer } from '../../sandbox/answers/product-answer.ts';
import { applyVariants } from '../../sandbox/faults/variants.ts';
import { consumerIdOf } from '../../sandbox/records/records.ts';
import type { GatewayRequest as SandboxRequest } from '../../sandbox/rules/check-request.ts';
import type { AnswerContext } from '../../src/gateway/answers.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import type { Answer } from '../../src/model/inquiry.ts';
import { applicant, TRACE_NUMBER } from './fixtures.ts';
import { contextOf, failsafeContext, REQUESTED_AT, read } from './reading-answers.ts';

type Entry = Record<string, unknown>;

const FIRSTS = ['Ada', 'A', 'Adam', 'Ben'] as const;
const LASTS = ["O'Brien", 'OBrien', 'Lind'] as const;
const DOBS = ['1980-02-29', '1991-05-06'] as const;
/** Some of these SSNs end in the same four digits. */
const SSNS = ['912340001', '912350001', '998760002', '912340003', '944440002', '911110003'] as const;
const IDS = ['1A', '2A', '3A', '4A', 'X', '0'] as const;

const people = fc
  .record({
    ssns: fc.uniqueArray(fc.constantFrom(...SSNS), { minLength: 5, maxLength: 5 }),
    ids: fc.uniqueArray(fc.constantFrom(...IDS), { minLength: 5, maxLength: 5 }),
    names: fc.array(fc.record({ first: fc.constantFrom(...FIRSTS), last: fc.constantFrom(...LASTS) }), {
      minLength: 5,
      maxLength: 5,
    }),
    dobs: fc.array(fc.constantFrom(...DOBS), { minLength: 5, maxLength: 5 }),
    count: fc.integer({ min: 1, max: 4 }),
    hasStandardIds: fc.boolean(),
  })
  .map(({ ssns, ids, names, dobs, count, hasStandardIds }) => {
    const all = ssns.map((ssn, index) =>
      applicant({
        ssn,
        applicantId: (hasStandardIds ? `${index + 1}A` : ids[index]) ?? '',
        names: [names[index] ?? { first: 'Ada', last: 'Lind' }],
        dob: dobs[index] ?? DOBS[0],
      }),
    );
    return { asked: all.slice(0, count), stranger: all[4] as Applicant };
  });

/** Fields that an entry can lack or have changed. No change names another person. */
const CHANGES = {
  noApplicantId: ({ applicantId: _, ...entry }) => entry,
  noSsn: (entry) => changed(entry, { ssn: undefined }),
  maskedSsn: (entry) => changed(entry, { ssn: `XXXXX${String(consumerOf(entry).ssn).slice(-4)}` }),
  hiddenSsn: (entry) => changed(entry, { ssn: 'XXXXXXXXX' }),
  noNames: (entry) => changed(entry, { names: [] }),
  initials: (entry) => changed(entry, { names: namesOf(entry).map((name) => ({ ...name, first: name.first?.[0] })) }),
  noDob: (entry) => changed(entry, { dob: undefined }),
} satisfies Record<string, (entry: Entry) => Entry>;

const changes = fc.array(fc.subarray(Object.keys(CHANGES) as (keyof typeof CHANGES)[]), { minLength: 4, maxLength: 4 });

function consumerOf(entry: Entry): Entry {
  return (entry.consumer ?? {}) as Entry;
}

function namesOf(entry: Entry): { first?: string }[] {
  return (consumerOf(entry).names ?? []) as { first?: string }[];
}

function changed(entry: Entry, members: Entry): Entry {
  return entry.consumer ? { ...entry, consumer: { ...consumerOf(entry), ...members } } : entry;
}

const cases = fc.record({
  people,
  productCode: fc.constantFrom('PREQUAL' as const, 'FAILSAFE' as const),
  codes: fc.array(fc.constantFrom('Record', 'Record', 'No Record'), { minLength: 4, maxLength: 4 }),
  variants: fc.subarray(['applicantIds', 'consumerIds']),
  changes,
  order: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
  /** The index of an entry about a person outside the request, without SSN and applicantId. */
  strange: fc.option(fc.nat({ max: 3 }), { nil: undefined, freq: 4 }),
});

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

function answerTo(context: AnswerContext, asked: readonly Applicant[], codes: readonly string[], variants: string[]) {
  const { request } = context;
  const inquiry = {
    customerTraceNumber: TRACE_NUMBER,
    productCode: request.productCode,
    endUserCode: null,
    endUser: null,
    applicants: asked.length,
    postedAt: REQUESTED_AT,
    reportReferenceNumber: 'SBXREFERENCE',
    consumerIds: [],
  };
  const ofAsked = codes.slice(0, asked.length);
  const parts = { request: request as SandboxRequest, inquiry, codes: ofAsked, userId: 'user', accounts: 1 };
  return applyVariants(new Set(variants), productAnswer(parts), parts.request);
}

function contextFor(productCode: Case['productCode'], asked: Applicant[]): AnswerContext {
  return productCode === 'FAILSAFE' ? failsafeContext(asked) : contextOf(asked);
}

/** A person with the name and date of birth of an applicant cannot be distinguished from the applicant. */
function isDouble(stranger: Applicant, asked: readonly Applicant[]): boolean {
  const letters = (text = '') => text.replace(/[^A-Za-z]/g, '').toUpperCase();
  const [name] = stranger.names;
  return asked.some(({ dob, names: [other] }) => {
    const firsts = [letters(name?.first), letters(other?.first)].sort();
    const isShort = firsts[1]?.startsWith(firsts[0] ?? '') ?? false;
    return dob === stranger.dob && letters(name?.last) === letters(other?.last) && isShort;
  });
}

function judged({ people: { asked, stranger }, productCode, codes, variants, ...drawn }: Case): Answer | undefined {
  const context = contextFor(productCode, asked);
  const body = answerTo(context, asked, codes, variants);
  const listName = productCode === 'FAILSAFE' ? 'consumers' : 'applicants';
  let entries = (body[listName] as Entry[]).map((entry, index) =>
    (drawn.changes[index] ?? []).reduce((one, change) => CHANGES[change](one), entry),
  );
  const { strange } = drawn;
  if (strange !== undefined && productCode !== 'FAILSAFE' && entries[strange]?.consumer) {
    if (isDouble(stranger, asked)) return undefined;
    const { names, dob } = stranger;
    const consumer = { names, dob, accounts: [] };
    entries = entries.map((entry, index) =>
      index === strange ? { consumerId: consumerIdOf(stranger.ssn), consumer } : entry,
    );
  }
  const ordered = entries.map((entry, index) => ({ entry, key: drawn.order[index] ?? 0 }));
  ordered.sort((one, other) => one.key - other.key);
  return read({ ...body, [listName]: ordered.map(({ entry }) => entry) }, context);
}

function attached(answer: Answer): { applicantId: string; consumerId?: string }[] {
  return answer.kind === 'outcome' ? [...(answer.reference?.applicants ?? []), ...(answer.applicants ?? [])] : [];
}

test('an answer with missing fields gives no consumerId to another applicant than its owner', () => {
  let count = 0;
  fc.assert(
    fc.property(cases, (drawn) => {
      const answer = judged(drawn);
      for (const { applicantId, consumerId } of answer ? attached(answer) : []) {
        if (consumerId === undefined) continue;
        count += 1;
        const own = drawn.people.asked.find((one) => one.applicantId === applicantId);
        assert.equal(consumerId, own && consumerIdOf(own.ssn), applicantId);
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(count > 500, `only ${count} consumerIds were given to anybody`);
});

test('each applicant gets the outcome that the sandbox gave for this applicant', () => {
  let count = 0;
  const unchanged = cases.map((drawn) => ({ ...drawn, strange: undefined }));
  fc.assert(
    fc.property(unchanged, (drawn) => {
      const answer = judged(drawn);
      for (const { applicantId, outcome } of (answer?.kind === 'outcome' && answer.applicants) || []) {
        count += 1;
        const index = drawn.people.asked.findIndex((one) => one.applicantId === applicantId);
        assert.equal(outcome, drawn.codes[index] === 'Record' ? 'record' : 'noRecord');
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(count > 100);
});

test('an answer in exactly the shape of the interface is never held', () => {
  const {
    people: world,
    codes,
    productCode,
  } = { people, codes: cases, productCode: fc.constantFrom('PREQUAL', 'FAILSAFE') };
  fc.assert(
    fc.property(world, codes, productCode, ({ asked }, { codes: drawn }, product) => {
      // FAILSAFE entries have only the gateway's own applicantId: if the outcomes differ, the answer is held.
      const outcomes = product === 'FAILSAFE' ? drawn.map(() => drawn[0] ?? '') : drawn;
      const context = contextFor(product as Case['productCode'], asked);
      const answer = read(answerTo(context, asked, outcomes, []), context);
      assert.equal(answer.kind, 'outcome', JSON.stringify(answer));
    }),
    { numRuns: 300 },
  );
});
