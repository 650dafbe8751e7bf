import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { toJsonPointer } from '../../src/base/differing-paths.ts';
import { parseWith } from '../../src/fields/problems.ts';
import { InvalidInputError, type Problem } from '../../src/model/problems.ts';

const SCHEMA = z.strictObject({
  id: z.string().min(2).max(4),
  count: z.number().int().min(1).optional(),
  kind: z.enum(['a', 'b']).optional(),
  list: z
    .array(z.strictObject({ on: z.boolean() }))
    .min(1)
    .max(2)
    .optional(),
  map: z.record(z.enum(['x', 'y']), z.string()).optional(),
  named: z.record(z.string().regex(/^[a-z]+$/), z.string()).optional(),
  own: z
    .string()
    .refine((text) => text === 'own', 'must be our own')
    .optional(),
});

function refused(value: unknown, basePath?: string): Problem[] {
  try {
    parseWith(SCHEMA, value, basePath);
  } catch (error) {
    assert.ok(error instanceof InvalidInputError);
    return [...error.problems];
  }
  return assert.fail('must be refused');
}

test('the parser returns the parsed value if it is valid', () => {
  assert.deepEqual(parseWith(SCHEMA, { id: 'ab' }), { id: 'ab' });
});

test('problems state each rule in the project’s own words', () => {
  const cases: [value: unknown, path: string, rule: string][] = [
    [null, '', 'must be an object'],
    [undefined, '', 'is required'],
    [{}, '/id', 'is required'],
    [{ id: 1 }, '/id', 'must be text'],
    [{ id: null }, '/id', 'must be text'],
    [{ id: 'a' }, '/id', 'must have at least 2 characters'],
    [{ id: 'abcde' }, '/id', 'must have at most 4 characters'],
    [{ id: 'ab', count: 1.5 }, '/count', 'must be a whole number'],
    [{ id: 'ab', count: 0 }, '/count', 'must be at least 1'],
    [{ id: 'ab', kind: 'c' }, '/kind', 'must be a or b'],
    [{ id: 'ab', list: [] }, '/list', 'must have at least 1 entry'],
    [{ id: 'ab', list: {} }, '/list', 'must be a list'],
    [{ id: 'ab', list: [{ on: 1 }] }, '/list/0/on', 'must be true or false'],
    [{ id: 'ab', own: 'other' }, '/own', 'must be our own'],
  ];
  for (const [value, path, rule] of cases) assert.deepEqual(refused(value), [{ path, rule }]);
});

test('a problem with an unknown field names its parent and the known fields, but not the field', () => {
  const [top] = refused({ id: 'ab', SENTINEL: 1 });
  assert.deepEqual(top, { path: '', rule: 'has an unknown field; known are id, count, kind, list, map, named, own' });
  assert.deepEqual(refused({ id: 'ab', list: [{ on: true, SENTINEL: 1 }] }), [
    { path: '/list/0', rule: 'has an unknown field; known are on' },
  ]);
  for (const value of [
    { id: 'ab', named: { 'SENTINEL-1': 'x' } },
    { id: 'ab', map: { SENTINEL: 'x' } },
  ]) {
    assert.ok(!JSON.stringify(refused(value)).includes('SENTINEL'));
  }
});

test('the parser collects every problem under the given base path', () => {
  const problems = refused({ id: 'SENTINEL', count: 'SENTINEL', kind: 'SENTINEL' }, '/share');
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['/share/id', '/share/count', '/share/kind'],
  );
  assert.ok(!JSON.stringify(problems).includes('SENTINEL'));
});

test('paths are escaped as RFC 6901 requires', () => {
  assert.equal(toJsonPointer(['a/b', 'c~d', 0]), '/a~1b/c~0d/0');
});
