import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

test('the demo tells its whole story in plain lines without a terminal, and ends with success', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [cli, 'demo', '--exit'], {
    env: { ...process.env, NO_COLOR: '', FORCE_COLOR: '1' },
    timeout: 180_000,
  });
  const inOrder = [
    'A joint application',
    /PREQUAL +record, 1 attempt, \w+, reference \w+/,
    'Waits at the gate before PREAPP',
    'HTTP 429',
    /process \d+ killed \(SIGKILL\)/,
    'started again',
    /PREAPP +record, 2 attempts, \w+, reference \w+/,
    /PRECLOSE +held, 1 attempt/,
    'PRECLOSE · OutcomeUnknown · attempt 1',
    'ask before you decide',
    'operator  accepts what the provider has posted',
    /PRECLOSE +record, 1 attempt, \w+, reference \w+/,
    'consent missing: 2A',
    /S-1 +posted, \w+, reference/,
    'received 5 requests and posted 4 inquiries: PREQUAL, PREAPP, PRECLOSE, SECONDUSE',
    /The run: http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/journey-J-/,
  ];
  let rest = stdout;
  for (const part of inOrder) {
    const at = typeof part === 'string' ? rest.indexOf(part) : rest.search(part);
    assert.ok(at >= 0, `${part} is missing in:\n${stdout}`);
    rest = rest.slice(at);
  }
  assert.ok(!stdout.includes('\u001b['), 'no colours');
  assert.doesNotMatch(stdout, /9001\d|9002\d|example\.com/, 'nothing personal');
});
