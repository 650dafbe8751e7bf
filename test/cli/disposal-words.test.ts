import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listSharesLeft } from '../../src/cli/commands/programs/ledger-commands.ts';
import { documentLines } from '../../src/cli/output/output.ts';

const SHARES = ['share:S-1', 'share:S-2'];

test('shares by themselves are named before and after a disposal, with the command that disposes of each', () => {
  for (const disposals of [[{ runKey: 'LOAN-1', shares: SHARES }], [{ shares: SHARES }]]) {
    const lines = documentLines({ sharesLeft: listSharesLeft(disposals) }, 80);
    const text = lines.join('\n');
    assert.match(text, /^shares left$/m);
    for (const share of SHARES) assert.match(text, new RegExp(`^ +(?:npx )?credit-journey dispose ${share}$`, 'm'));
    assert.ok(lines.every(({ length }) => length <= 80));
  }
  assert.deepEqual(listSharesLeft([{ runKey: 'share:S-1' }, { runKey: 'LOAN-1', shares: ['share:S-1'] }]), []);
});
