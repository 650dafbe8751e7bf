import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { describeMissingPrograms } from './support/needed-programs.ts';

/** An environment in which only these programs are found. */
function createEnvironment(
  t: TestContext,
  programs: readonly string[],
  goSays = 'go version go1.26.8 linux/amd64',
): NodeJS.ProcessEnv {
  const directory = mkdtempSync(join(tmpdir(), 'credit-journey-programs-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  for (const program of programs) {
    const says = program === 'go' ? goSays : '';
    writeFileSync(join(directory, program), `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 });
  }
  mkdirSync(join(directory, 'empty'));
  return { PATH: [join(directory, 'empty'), directory].join(delimiter), CHROMIUM_PATH: join(directory, 'chromium') };
}

const ALL = ['chromium', 'promtool', 'psql', 'go', 'curl'];

test('one line names the programs that the machine lacks for all tests, and how to install them', (t) => {
  assert.equal(
    describeMissingPrograms(createEnvironment(t, ['curl', 'psql'])),
    'missing: chromium, promtool, go 1.21 or newer. ' +
      'Install them (apt-get install chromium prometheus golang-go): the tests that need them fail.',
  );
  const env = createEnvironment(t, ALL, 'go version go1.19.8 linux/amd64');
  assert.match(describeMissingPrograms(env) ?? '', /^missing: go 1\.21 or newer\. .*\(apt-get install golang-go\)/);
});

test('no line is printed when no program is missing', (t) => {
  assert.equal(describeMissingPrograms(createEnvironment(t, ALL)), null);
});
