/** The closed list of problems: each has one title, one meaning, and a place in the reference that its `type` names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { referencePage } from '../../src/api/documents.ts';
import { causeIn, problemDocument, refusedMessage } from '../../src/api/problem.ts';
import type { GrantFault } from '../../src/consent/consent-record.ts';
import { describeFault, GRANT_FAULTS } from '../../src/consent/refusals.ts';
import { PROBLEM_CODES, PROBLEMS, Refusal } from '../../src/http/refusal.ts';
import { problemWords } from '../../src/model/problems.ts';

test('no two problems have the same title, and each has its place in the reference', () => {
  assert.equal(new Set(PROBLEM_CODES.map((code) => PROBLEMS[code].title)).size, PROBLEM_CODES.length);
  const page = referencePage();
  for (const code of PROBLEM_CODES) assert.ok(page.includes(`<tr id="problem-${code}">`), code);
});

test('a token whose signature is not good is not called a missing one', () => {
  const said = problemDocument(new Refusal('signature', 'the token is not signed by a key of the key set'), {
    id: 'R-1',
  });
  assert.deepEqual(said, {
    ...{ type: '/v1/reference#problem-signature', title: 'The token’s signature is not good', status: 401 },
    ...{ detail: 'the token is not signed by a key of the key set', code: 'signature', requestId: 'R-1' },
  });
});

test('a refused message says which of the causes it is, and where', () => {
  const causes = {
    '/decidedAt must not be in the future': 'inFuture',
    '/decisionId was used before with other content: /reason differs': 'differs',
    '/secondaryUser/endUserCode must be what was recorded before under this consentId and decision': 'differs',
    'the share was withdrawn before with other content: /replaces differs': 'differs',
    'another decision about this hold has been taken': 'decided',
    'it was decided already': 'decided',
    'no inquiry with this customerTraceNumber is on hold': 'notOnHold',
    'the hold is about attempt 2': 'notOnHold',
    'the journey is ending; a share of its own may follow': 'ending',
    'the run is ending: only accept and abandon send nothing': 'ending',
    '/applicantId names no applicant of this journey': 'unknownPart',
    '/to names a stage that this journey leaves out': 'unknownPart',
    'there is no gate before PREAPP': 'unknownPart',
    '/proof is required': 'unproven',
    'the report of PREQUAL is older than maxReportAge: repeat PREQUAL, or send acceptAge with by and reason': 'notNow',
  };
  for (const [reason, code] of Object.entries(causes)) assert.equal(causeIn(reason), code, reason);
  for (const fault of Object.keys(GRANT_FAULTS) as GrantFault[]) {
    assert.equal(causeIn(problemWords(describeFault(fault))), 'noLongerCounts', fault);
  }
  const { status, reason, problems } = refusedMessage('/decidedAt must not be in the future');
  assert.deepEqual(
    [status, reason, problems],
    [409, 'inFuture', [{ path: '/decidedAt', rule: 'must not be in the future' }]],
  );
});
