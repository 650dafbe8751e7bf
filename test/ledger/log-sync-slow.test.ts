/** SQLite: processes that end, disks that are full and logs that are in use while commits wait for the disk. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LedgerUnavailableError } from '../../src/ledger/errors.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { claimOf, latestState } from './fixtures.ts';
import { holdSyncs } from './held-syncs.ts';

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

interface Told {
  answers: (string | null)[];
  isWaiting: boolean;
}

const SCRIPT = fileURLToPath(new URL('./cut-off-process.ts', import.meta.url));

async function told(child: ChildProcess): Promise<Told> {
  const [message] = await once(child, 'message');
  return message as Told;
}

const claimAgain = (index: number) => ({ inquiry: { customerTraceNumber: `PQCUT${index}` } });

describe('SQLite: while commits wait for the disk', () => {
  test('a process that is killed has answered nothing, and what it committed is found and not sent', async (t) => {
    const { file, ringFile, url, opened } = await made(t);
    const child = fork(SCRIPT, [url, ringFile, 'held'], { stdio: 'inherit' });
    const { answers, isWaiting } = await told(child);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.deepEqual([answers, isWaiting], [[], true]);
    const ledger = await opened();
    // Opening has written the log into the database.
    const alone = `${file}-alone`;
    await copyFile(file, alone);
    const copy = new DatabaseSync(alone);
    t.after(() => copy.close());
    assert.equal(copy.prepare('SELECT count(*) AS count FROM attempts').get()?.count, 60);
    const states = [];
    for (let index = 0; index < 60; index++)
      states.push(latestState(await ledger.claim(claimOf(ledger, claimAgain(index)))));
    assert.deepEqual(new Set(states), new Set(['sending']), 'the system had all of it: only a power cut could forget');
  });

  test('a disk that is full in the middle of a group fails those that it does not take, and no other', {
    skip: process.platform === 'win32' && 'no limit for a file',
  }, async (t) => {
    const { file, ringFile, url, opened } = await made(t);
    // The log takes some of the group. Without the trap the limit would end the process.
    const kilobytes = Math.ceil((await stat(file)).size / 1024) + 64;
    const limited = join(directory, 'limited.sh');
    await writeFile(limited, `#!/bin/bash\ntrap '' XFSZ\nulimit -f ${kilobytes}\nexec '${process.execPath}' "$@"\n`, {
      mode: 0o700,
    });
    const child = fork(SCRIPT, [url, ringFile, 'full'], { execPath: limited, stdio: 'inherit' });
    const { answers } = await told(child);
    await once(child, 'exit');
    const count = (kind: string) => answers.filter((answer) => answer === kind).length;
    assert.ok(count('claimed') > 0 && count('LedgerUnavailableError') > 0, JSON.stringify(answers));
    assert.equal(count('claimed') + count('LedgerUnavailableError'), 60);
    const ledger = await opened();
    for (const [index, answer] of answers.entries()) {
      const state = latestState(await ledger.claim(claimOf(ledger, claimAgain(index))));
      assert.equal(state, answer === 'claimed' ? 'sending' : 'claimed');
    }
  });

  test('after a sync that failed all is unavailable until the log can be put into the database', async (t) => {
    const syncs = await holdSyncs(t);
    const { file, opened } = await made(t);
    const ledger = await opened();
    syncs.hold();
    const failing = assert.rejects(ledger.claim(claimOf(ledger, claimAgain(0))), LedgerUnavailableError);
    await syncs.waiting();
    syncs.release(new Error('input/output error'));
    await failing;
    const reader = new DatabaseSync(file);
    t.after(() => reader.close());
    reader.exec('BEGIN; SELECT * FROM ledger_identity');
    await assert.rejects(ledger.claim(claimOf(ledger, claimAgain(0))), LedgerUnavailableError);
    await assert.rejects(ledger.ping(), LedgerUnavailableError);
    reader.exec('ROLLBACK');
    assert.equal(latestState(await ledger.claim(claimOf(ledger, claimAgain(0)))), 'sending');
    assert.equal((await ledger.claim(claimOf(ledger, claimAgain(1)))).kind, 'claimed');
  });
});
