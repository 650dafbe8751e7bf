import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

test('the demonstration resolves a lost answer, shares and completes, and prints nothing personal', async () => {
  const root = join(import.meta.dirname, '..', '..');
  const ran = await promisify(execFile)('npm', ['run', '--silent', 'demo', '--', '--exit'], {
    cwd: root,
    timeout: 180_000,
  });
  const expected = /"failureType":"OutcomeUnknown"[\s\S]+"heldBy": "run"[\s\S]+"state":"completed"[\s\S]+"posted":1/;
  assert.match(ran.stdout, expected);
  assert.doesNotMatch(ran.stdout, /9001\d|9002\d|@example\.com/);
});
