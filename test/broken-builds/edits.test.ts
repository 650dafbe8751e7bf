/** A broken build whose edit no longer fits the code breaks nothing. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BROKEN_BUILDS } from './builds.ts';

test('each edit of a broken build finds its place in the code once', () => {
  const root = join(import.meta.dirname, '..', '..');
  const lost = BROKEN_BUILDS.flatMap(({ name, edits }) =>
    edits
      .filter(({ file, find }) => readFileSync(join(root, file), 'utf8').split(find).length !== 2)
      .map(({ file }) => `${name}: ${file}`),
  );
  assert.deepEqual(lost, []);
});
