import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ALLOWED_ACTIONS, HOLD_ACTIONS } from '../../src/model/failure-types.ts';

const PROTOCOL = new URL('../../docs/protocol.md', import.meta.url);

/** The rows of the table whose first column is a failure type and whose others are the actions. */
function documentedActions(markdown: string): Record<string, string[]> {
  const lines = markdown.split('\n');
  const at = lines.findIndex((line) => line.startsWith('| failure type | resend |'));
  assert.ok(at >= 0, 'docs/protocol.md has no table of reason × action');
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [, ...actions] = cells(lines[at] ?? '');
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'));
  return Object.fromEntries(
    lines.slice(at + 2, end).map((line) => {
      const [type = '', ...allowed] = cells(line);
      assert.ok(
        allowed.every((cell) => cell === 'yes' || cell === ''),
        line,
      );
      return [type.replaceAll('`', ''), actions.filter((_, index) => allowed[index] === 'yes')];
    }),
  );
}

test('what may be decided is documented as it is in the code, and nothing else', async () => {
  const documented = documentedActions(await readFile(PROTOCOL, 'utf8'));
  const inCode = Object.fromEntries(
    Object.entries(ALLOWED_ACTIONS).map(([type, allowed]) => [
      type,
      HOLD_ACTIONS.filter((one) => allowed.includes(one)),
    ]),
  );
  assert.deepEqual(documented, inCode);
});
