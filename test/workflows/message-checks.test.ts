/** The message checks, outside a run. bundle-slow.test.ts has them inside a run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MESSAGES } from '../../src/messages/all-messages.ts';
import { createUndecodable } from '../../src/model/undecodable.ts';
import { aConsent, aDecision, anApplicant } from '../validation/sample-messages.ts';

const REFERENCE = {
  reportReferenceNumber: 'RRN-1',
  requestedAt: '2026-01-01T00:00:00Z',
  applicants: [
    { applicantId: '1A', consumerId: 'C1' },
    { applicantId: '2A', consumerId: 'C2' },
  ],
};

test('the checks refuse an accepted reference with one consumerId for two applicants', () => {
  const accept = (reference: unknown) => aDecision({ action: 'accept', outcome: 'record', reference });
  assert.equal(MESSAGES.resolveInquiry.findProblem(accept(REFERENCE)), null);
  const [first] = REFERENCE.applicants;
  for (const [second, problem] of [
    [{ applicantId: '2A', consumerId: 'C1' }, '/reference/applicants/1/consumerId must differ'],
    [{ applicantId: '1A', consumerId: 'C2' }, '/reference/applicants/1/applicantId must differ'],
  ] as const) {
    const reason = MESSAGES.resolveInquiry.findProblem(accept({ ...REFERENCE, applicants: [first, second] }));
    assert.ok(reason?.startsWith(problem), String(reason));
  }
});

test('the checks refuse a reference with an outcome other than a record', () => {
  const decision = aDecision({ action: 'accept', outcome: 'noRecord', reference: REFERENCE });
  assert.equal(MESSAGES.resolveInquiry.findProblem(decision), '/reference is allowed only with accept of a record');
});

test('the checks refuse invisible characters', () => {
  const withdrawal = { journeyId: 'J-1', by: 'ops\u200b', reason: 'a bell\u0007' };
  const [by, reason] = ['/by', '/reason'].map((path) => `${path} must not hold control characters`);
  assert.equal(MESSAGES.withdrawJourney.findProblem(withdrawal), `${by}; ${reason}`);
});

test('the checks refuse what the gateway’s fields do not admit', () => {
  for (const [endUserCode, rule] of [
    ['EU4\u200b', 'must be printable ASCII: the interface says AN without naming the characters, and this is assumed'],
    ['EU4 ', 'must not begin or end with a blank'],
    ['EU4\u0000', 'must not hold control characters'],
  ]) {
    const consent = aConsent({ secondaryUser: { endUserCode } });
    assert.equal(MESSAGES.consent.findProblem(consent), `/secondaryUser/endUserCode ${rule}`);
    const share = { journeyId: 'J-1', share: { shareId: 'S1', endUserCode } };
    assert.equal(MESSAGES.requestShare.findProblem(share), `/share/endUserCode ${rule}`);
  }
});

test('the checks leave applicants to the activity that has the interface’s table', () => {
  assert.equal(
    MESSAGES.advance.findProblem({ journeyId: 'J-1', to: 'PREAPP', applicants: [anApplicant('\u200b')] }),
    null,
  );
  assert.match(
    String(MESSAGES.advance.findProblem({ journeyId: 'J-1', to: 'PREAPP', applicants: [] })),
    /^\/applicants must have/,
  );
});

test('the checks refuse evidence that looks personal, without repeating it', () => {
  const problemOf = (reference: string) =>
    MESSAGES.consent.findProblem(aConsent({ evidence: { ...aConsent().evidence, reference } }));
  assert.equal(problemOf('doc:1/2#3'), null);
  assert.match(String(problemOf('912-34-5678')), /^\/evidence\/reference must be opaque/);
  assert.match(String(problemOf('ada@example.com')), /^\/evidence\/reference must be printable/);
});

test('the checks name ten problems at most', () => {
  const applicants = Array.from({ length: 1_000 }, () => ({}));
  const problem = MESSAGES.resolveInquiry.findProblem(
    aDecision({ action: 'accept', outcome: 'record', reference: { ...REFERENCE, applicants } }),
  );
  assert.equal(problem?.split('; ').length, 10);
});

test('a malformed message is refused as invalid input, and one that no key could read as not accepted now', () => {
  const run = { id: 'J-1', runKey: 'J-1' };
  for (const value of [{}, 'a text', null, aConsent({ decision: 'perhaps' })]) {
    assert.equal(MESSAGES.consent.check(run, value)?.cause, 'invalidInput');
  }
  assert.equal(MESSAGES.consent.check(run, createUndecodable('tampered'))?.cause, 'notNow');
  assert.equal(MESSAGES.consent.check(run, aConsent({ journeyId: 'J-2' }))?.cause, 'unknownPart');
});
