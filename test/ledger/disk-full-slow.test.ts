/** SQLite: a disk that becomes full. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { claimOf, latestState } from './fixtures.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-sync-slow-'));
after(() => rm(directory, { recursive: true, force: true }));

let ledgers = 0;

async function made(t: TestContext) {
  const file = join(directory, `d${++ledgers}`, 'ledger.db');
  const ringFile = join(directory, `d${ledgers}`, 'keys.json');
  const keys = await createKeyRing(ringFile);
  const url = `file:${file}`;
  const open = () => openLedger({ url, environment: 'sandbox', keyRing: keys, create: true });
  await (await open()).close();
  const opened = async () => {
    const ledger = await open();
    t.after(() => ledger.close());
    return ledger;
  };
  return { file, ringFile, url, opened };
}

const SCRIPT = fileURLToPath(new URL('./cut-off-process.ts', import.meta.url));

const claimAgain = (index: number) => ({ inquiry: { customerTraceNumber: `PQCUT${index}A` } });

describe('SQLite on a disk', () => {
  test('a disk that becomes full fails only the writes whose commit does not fit', {
    skip: process.platform === 'win32' && 'no limit for a file',
  }, async (t) => {
    const { file, ringFile, url, opened } = await made(t);
    // The log has room for some of the commits. Without the trap the limit would end the process.
    const kilobytes = Math.ceil((await stat(file)).size / 1024) + 64;
    const limited = join(directory, 'limited.sh');
    await writeFile(limited, `#!/bin/bash\ntrap '' XFSZ\nulimit -f ${kilobytes}\nexec '${process.execPath}' "$@"\n`, {
      mode: 0o700,
    });
    const child = fork(SCRIPT, [url, ringFile], { execPath: limited, stdio: 'inherit' });
    const [answers] = (await once(child, 'message')) as [string[]];
    await once(child, 'exit');
    const count = (kind: string) => answers.filter((answer) => answer === kind).length;
    assert.ok(count('claimed') > 0 && count('LedgerUnavailableError') > 0, JSON.stringify(answers));
    assert.equal(count('claimed') + count('LedgerUnavailableError'), 1000);
    const ledger = await opened();
    for (const [index, answer] of answers.entries()) {
      const state = latestState(await ledger.claim(claimOf(ledger, claimAgain(index))));
      assert.equal(state, answer === 'claimed' ? 'sending' : 'claimed');
    }
  });
});
