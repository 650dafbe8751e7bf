/** The threat model names a test for each of its claims. Each of these tests must exist. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { missingBecause } from './support/named-tests.ts';

const root = join(import.meta.dirname, '..');

test('every claim of the threat model names a test that exists', () => {
  const claims = [
    ...readFileSync(join(root, 'docs/threat-model.md'), 'utf8').matchAll(/^\| (.+) \| `(.+)`: (.+) \|$/gm),
  ];
  assert.ok(claims.length >= 20, 'the table of claims was not found');
  const missing = claims.filter(([, , file = '', title = '']) => missingBecause({ file, title }) !== null);
  assert.deepEqual(
    missing.map(([, claim]) => claim),
    [],
  );
});
