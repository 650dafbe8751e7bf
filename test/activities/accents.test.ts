/** Names and addresses with accents. The interface says AN without listing its characters (2.3), so the profile decides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildRequest, listApplicantProblems, toSentContent } from '../../src/activities/inquiry-request.ts';
import { checkRequestCanBeBuilt } from '../../src/activities/prepared-run.ts';
import type { Accents } from '../../src/fields/accents.ts';
import type { ReportRequest } from '../../src/gateway/requests.ts';
import { toCanonicalRequest } from '../../src/model/canonical-request.ts';
import type { InquiryContent } from '../../src/model/inquiry.ts';
import { InvalidInputError } from '../../src/model/problems.ts';
import { applicant, profileFor, TRACE_NUMBER } from '../gateway/fixtures.ts';

const [HOME] = applicant().addresses;
assert.ok(HOME);

const JOSE = applicant({
  names: [{ first: 'José', middle: 'Ångström', last: 'O’Brien-Groß' }],
  addresses: [{ ...HOME, line1: 'Rúa São João 4', city: 'Łódź' }],
});

const CONTENT: InquiryContent = {
  inquiry: {
    ...{ customerTraceNumber: TRACE_NUMBER, environment: 'sandbox', profile: 'default', customerId: 'HOUSE0001' },
    ...{ workflowType: 'lendingJourney', runKey: 'J1', productCode: 'CR', ordinal: 0 },
    ...{ endUserCode: 'LENDER01', permissiblePurposeCode: 'CP' },
  },
  applicants: [JOSE],
};

function sentWith(accents: Accents): ReportRequest {
  const profile = profileFor('http://127.0.0.1', { accents });
  return buildRequest(profile, toSentContent(profile, CONTENT), new Date()) as ReportRequest;
}

function problemsWith(accents: Accents, content = CONTENT): { path: string; rule: string }[] {
  const { inquiry, ...rest } = content;
  try {
    checkRequestCanBeBuilt(profileFor('http://127.0.0.1', { accents }), inquiry, rest);
    return [];
  } catch (error) {
    assert.ok(error instanceof InvalidInputError);
    return [...error.problems];
  }
}

test('2.3: by default a start with accents is refused; the error names path and assumption, not the value', () => {
  const problems = problemsWith('refuse');
  assert.deepEqual(
    problems.map(({ path }) => path),
    [
      ...['first', 'middle', 'last'].map((name) => `/applicants/0/names/0/${name}`),
      ...['line1', 'city'].map((name) => `/applicants/0/addresses/0/${name}`),
    ],
  );
  for (const { rule } of problems) {
    assert.match(
      rule,
      /^must be printable ASCII, by the profile's setting accents: the interface says AN without naming/,
    );
  }
  assert.doesNotMatch(JSON.stringify(problems), /Jos|Brien|Rúa/);
});

test('2.3: a profile may send names and addresses without accents', () => {
  const [sent] = sentWith('transliterate').applicants;
  assert.deepEqual(sent?.names, [{ first: 'Jose', middle: 'Angstrom', last: "O'Brien-Gross" }]);
  assert.deepEqual([sent?.addresses[0]?.line1, sent?.addresses[0]?.city], ['Rua Sao Joao 4', 'Lodz']);
});

test('2.3: a profile may pass accents on', () => {
  assert.deepEqual(sentWith('pass').applicants[0]?.names, JOSE.names);
  assert.equal(sentWith('pass').applicants[0]?.addresses[0]?.city, 'Łódź');
});

test('2.3: a letter without an ASCII spelling, and a name whose ASCII spelling is too long, are refused by path', () => {
  const named = (last: string) => ({ ...CONTENT, applicants: [applicant({ names: [{ first: 'Ada', last }] })] });
  for (const [last, rule] of [
    ['Ʒ', /letters that have a spelling in ASCII/],
    ['ß'.repeat(20), /at most 30 characters/],
  ] as const) {
    const [problem] = problemsWith('transliterate', named(last));
    assert.equal(problem?.path, '/applicants/0/names/0/last');
    assert.match(problem?.rule ?? '', rule);
  }
});

test('2.3: applicants of a message whose ASCII spelling is too long are refused with the message', () => {
  const profile = profileFor('http://127.0.0.1', { accents: 'transliterate' });
  const named = (last: string) => [applicant({ names: [{ first: 'Ada', last }] })];
  for (const productCode of ['PREQUAL', 'FAILSAFE'] as const) {
    assert.deepEqual(listApplicantProblems(profile, productCode, named('ß'.repeat(15))), []);
    assert.deepEqual(listApplicantProblems(profile, productCode, named('ß'.repeat(16))), [
      { path: '/applicants/0/names/0/last', rule: 'must have at most 30 characters' },
    ]);
  }
});

test('2.3: the digest is computed from the spelling that is sent', () => {
  const digestOf = (accents: Accents, content: InquiryContent) => {
    return toCanonicalRequest(toSentContent({ accents }, content));
  };
  const {
    applicants: [sent],
  } = sentWith('transliterate');
  assert.ok(sent);
  const plain = { ...CONTENT, applicants: [sent] };
  assert.equal(digestOf('transliterate', CONTENT), digestOf('transliterate', plain));
  assert.notEqual(digestOf('pass', CONTENT), digestOf('pass', plain));
});
