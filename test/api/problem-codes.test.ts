/** The closed list of problems. Each has one title, one meaning, and an entry in the reference to which its `type` links. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeReferencePage } from '../../src/api/documents.ts';
import { toRefusedError } from '../../src/client/connection/errors.ts';
import { PROBLEM_CODES, PROBLEMS } from '../../src/http/refusal.ts';
import { REFUSAL_CAUSES } from '../../src/model/refusals.ts';
import { createMessageRefusal } from '../../src/operations/problem.ts';

test('each problem has a unique title and an entry in the reference', () => {
  assert.equal(new Set(PROBLEM_CODES.map((code) => PROBLEMS[code].title)).size, PROBLEM_CODES.length);
  const page = writeReferencePage();
  for (const code of PROBLEM_CODES) assert.ok(page.includes(`<tr id="problem-${code}">`), code);
});

test('a refused message is answered 409, or 422 if it is malformed, with its cause and the invalid field', () => {
  for (const cause of REFUSAL_CAUSES) {
    const { status, reason } = createMessageRefusal(
      toRefusedError({ runKey: 'J-1' }, { cause, reason: 'for a reason' }),
    );
    assert.deepEqual([status, reason], [cause === 'invalidInput' ? 422 : 409, cause]);
  }
  const refusal = { cause: 'inFuture', reason: '/decidedAt must not be in the future' } as const;
  const { problems } = createMessageRefusal(toRefusedError({ runKey: 'J-1' }, refusal));
  assert.deepEqual(problems, [{ path: '/decidedAt', rule: 'must not be in the future' }]);
});
