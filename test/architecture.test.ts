import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');

test('ARCHITECTURE.md has a line for each source file, and none for files that are gone', () => {
  const listed: string[] = [];
  let folder = '';
  for (const line of readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('\n')) {
    const heading = /^### ([\w/-]+)/.exec(line)?.[1];
    if (heading) folder = heading;
    const file = /^\| `([^`]+)` \| \S/.exec(line)?.[1];
    if (file) listed.push(`${folder}/${file}`);
  }
  const present = globSync(['src/**/*.ts', 'sandbox/**/*.ts'], { cwd: root });
  assert.deepEqual(listed.filter((file) => /^(src|sandbox)\//.test(file)).sort(), present.sort());
});
