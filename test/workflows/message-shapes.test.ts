/** Cases that fuzzing has found: what workflow code took and the published schemas refuse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestShareProblem, resolveInquiryProblem } from '../../src/workflows/run/message-shapes.ts';
import { evidenceProblem, updateProblem } from '../../src/workflows/run/validation-rules.ts';
import { aConsent, aDecision, anApplicant } from '../validation/sample-messages.ts';

const REFERENCE = {
  reportReferenceNumber: 'RRN-1',
  requestedAt: '2026-01-01T00:00:00Z',
  applicants: [
    { applicantId: '1A', consumerId: 'C1' },
    { applicantId: '2A', consumerId: 'C2' },
  ],
};

test('refuses an accepted reference that gives one consumerId to two applicants', () => {
  const accept = (reference: unknown) => aDecision({ action: 'accept', outcome: 'record', reference });
  assert.equal(resolveInquiryProblem(accept(REFERENCE)), null);
  const [first] = REFERENCE.applicants;
  for (const [second, problem] of [
    [{ applicantId: '2A', consumerId: 'C1' }, '/reference/applicants/1/consumerId must differ'],
    [{ applicantId: '1A', consumerId: 'C2' }, '/reference/applicants/1/applicantId must differ'],
  ] as const) {
    const reason = resolveInquiryProblem(accept({ ...REFERENCE, applicants: [first, second] }));
    assert.ok(reason?.startsWith(problem), String(reason));
  }
});

test('refuses a reference with an outcome that has none: nothing may be shared of it', () => {
  const decision = aDecision({ action: 'accept', outcome: 'noRecord', reference: REFERENCE });
  assert.equal(resolveInquiryProblem(decision), '/reference belongs to accept with a record');
});

test('refuses characters in an update that nobody can see, wherever the gateway’s tables are not checked later', () => {
  const share = { journeyId: 'J-1', share: { shareId: 'S1', endUserCode: 'EU4\u200b' } };
  assert.equal(requestShareProblem(share), null, 'its shape alone is right');
  assert.equal(updateProblem(share), '/share/endUserCode must not hold control characters');
  assert.equal(updateProblem({ journeyId: 'J-1', applicants: [anApplicant('\u200b')] }), null);
});

test('refuses evidence that looks personal, without repeating it', () => {
  const problemOf = (reference: string) =>
    evidenceProblem(aConsent({ evidence: { method: 'web', textVersion: '1', capturedAt: '', reference } }));
  assert.equal(problemOf('doc:1/2#3'), null);
  assert.match(String(problemOf('912-34-5678')), /^\/evidence\/reference must be opaque/);
  assert.match(String(problemOf('ada@example.com')), /^\/evidence\/reference must be printable/);
  for (const message of [null, 'x', {}, { evidence: 7 }, { evidence: { reference: 7 } }]) {
    assert.equal(evidenceProblem(message), null);
  }
});
