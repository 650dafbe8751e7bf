import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { opaqueIdProblem, reviewIdProblem } from '../../src/model/opaque-id.ts';

describe('an opaque id', () => {
  for (const id of [
    'J1',
    'loan-2026.07_~9',
    'x'.repeat(64),
    '12345678',
    '1234567890',
    // Nine digits in a row, but a UUID.
    '3f2504e0-4f89-41d3-9a0c-a123456789bc',
    '3f2504e04f8941d39a0ca123456789bc',
    'J-3f2504e0-4f89-41d3-9a0c-a123456789bc',
  ]) {
    it(`may be ${id.slice(0, 40)}`, () => assert.equal(opaqueIdProblem(id, 64), null));
  }

  for (const [what, id] of [
    ['nothing', ''],
    ['too long', 'x'.repeat(65)],
    ['an e-mail address', 'someone@example.com'],
    ['an SSN', '912345678'],
    ['an SSN after letters', 'loan912345678'],
    ['an SSN with dashes', 'loan-912-34-5678'],
    ['an SSN after a UUID', '3f2504e0-4f89-41d3-9a0c-a123456789bc-912345678'],
    ['a path', 'a/b'],
    ['a sentence', 'a b'],
    ['a line break at its end', 'J1\n'],
    ['an option', '-x'],
    ['other alphabets', 'Jé'],
  ] as const) {
    it(`may not be ${what}`, () => {
      const rule = opaqueIdProblem(id, 64);
      assert.ok(rule);
      assert.ok(id.length < 4 || !rule.includes(id));
    });
  }
});

describe('the id of a portfolio review', () => {
  for (const id of ['R-1', 'monthly-2026-01-01T11:00:00Z']) {
    it(`may be ${id}`, () => assert.equal(reviewIdProblem(id), null));
  }

  for (const [what, id] of [
    ['a time alone', '2026-01-01T11:00:00Z'.slice(10)],
    ['a colon elsewhere', 'a:b-2026-01-01T11:00:00Z'],
    ['a text after the time', 'monthly-2026-01-01T11:00:00Z-x'],
    ['an SSN before the time', '912345678-2026-01-01T11:00:00Z'],
    ['too long with the time', `${'x'.repeat(45)}-2026-01-01T11:00:00Z`],
  ] as const) {
    it(`may not be ${what}`, () => assert.ok(reviewIdProblem(id)));
  }

  it('is the only id with a colon', () => assert.ok(opaqueIdProblem('monthly-2026-01-01T11:00:00Z', 64)));
});
