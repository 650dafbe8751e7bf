/** SQLite: nothing is said before it is on disk (docs/decisions/ledger.md, 23). */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, type TestContext, test } from 'node:test';
import { LedgerUnavailableError, RequestDiffersError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { CANONICAL_VERSION } from '../../src/model/canonical-request.ts';
import { claimOf, keyRing, latestState, outcomeOf, TRACE } from './fixtures.ts';
import { holdSyncs, isPending, watchSyncs } from './held-syncs.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-sync-'));
after(() => rm(directory, { recursive: true, force: true }));

let files = 0;

async function made(t: TestContext): Promise<{ file: string; ledger: Ledger; again(): Promise<Ledger> }> {
  const file = join(directory, `d${++files}`, 'ledger.db');
  const ring = keyRing();
  const again = async () => {
    const ledger = await openLedger({ url: `file:${file}`, environment: 'sandbox', keyRing: ring, create: true });
    t.after(() => ledger.close());
    return ledger;
  };
  return { file, ledger: await again(), again };
}

function attemptsIn(file: string): string[] {
  const database = new DatabaseSync(file);
  try {
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    const rows = database.prepare('SELECT customer_trace_number, state FROM attempts').all();
    return rows.map(({ customer_trace_number, state }) => `${customer_trace_number} ${state}`);
  } finally {
    database.close();
  }
}

const numbered = (index: number) => ({ inquiry: { customerTraceNumber: `PQSYNC${index}` } });
const EIO = Object.assign(new Error('input/output error'), { code: 'EIO' });

describe('SQLite: what is on disk before it is said', () => {
  test('a claim, an outcome, and a claim that another has made before', async (t) => {
    const syncs = await holdSyncs(t);
    const { file, ledger } = await made(t);
    syncs.hold();
    const claiming = ledger.claim(claimOf(ledger));
    await syncs.waiting();
    assert.deepEqual(attemptsIn(file), [`${TRACE} sending`], 'it is committed');
    const repeated = ledger.claim(claimOf(ledger));
    assert.deepEqual([await isPending(claiming), await isPending(repeated)], [true, true]);
    syncs.release();
    assert.deepEqual([latestState(await claiming), latestState(await repeated)], ['claimed', 'sending']);
    syncs.hold();
    const recording = ledger.recordOutcome(outcomeOf(ledger, {}));
    assert.equal(await isPending(recording), true);
    syncs.release();
    assert.equal(await recording, 'recorded');
  });

  test('what a reading says, and a refusal, where they rest on what this or another handle has just written', async (t) => {
    const syncs = await holdSyncs(t);
    const { ledger, again } = await made(t);
    const other = await again();
    const { ledgerId } = ledger.identity;
    syncs.hold();
    const claiming = ledger.claim(claimOf(ledger));
    await syncs.waiting();
    const another = { [CANONICAL_VERSION]: ledger.digest('another request') };
    const said = [ledger, other].flatMap((handle) => [
      handle.lookUp(ledgerId, TRACE).then((latest) => latest?.state),
      handle.lookUp(ledgerId, TRACE, another).catch((error: unknown) => error instanceof RequestDiffersError),
      handle.claim(claimOf(ledger)).then(latestState),
    ]);
    for (const answer of [claiming, ...said]) assert.equal(await isPending(answer), true);
    syncs.release();
    await claiming;
    assert.deepEqual(await Promise.all(said), ['sending', true, 'sending', 'sending', true, 'sending']);
    const before = syncs.begun;
    for (const handle of [ledger, other]) await handle.lookUp(ledgerId, TRACE);
    assert.equal(syncs.begun, before, 'what is on disk is read without a sync');
  });

  test('claims that come together share a few syncs, and a bad one among them fails alone', async (t) => {
    const { ledger } = await made(t);
    let syncs = 0;
    await watchSyncs(t, (sync) => {
      syncs++;
      return sync();
    });
    const claims = Array.from({ length: 60 }, (_, index) => ledger.claim(claimOf(ledger, numbered(index))));
    const run = { workflowId: 'w', runId: null as unknown as string };
    claims.splice(30, 0, ledger.claim(claimOf(ledger, { ...numbered(99), run })));
    const outcomes = await Promise.allSettled(claims);
    const failed = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [index] : []));
    assert.deepEqual(failed, [30]);
    assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' || outcome.value.kind === 'claimed'));
    assert.ok(syncs <= 10, `${syncs} syncs for 60 claims`);
  });
});

describe('SQLite: a sync that fails', () => {
  test('fails all who waited for it or came meanwhile; then the log goes into the database before more is said', async (t) => {
    const syncs = await holdSyncs(t);
    const { file, ledger } = await made(t);
    syncs.hold();
    const before = [0, 1, 2].map((index) => ledger.claim(claimOf(ledger, numbered(index))));
    await syncs.waiting();
    const meanwhile = ledger.claim(claimOf(ledger, numbered(3)));
    assert.equal(await isPending(meanwhile), true);
    const failures = [...before, meanwhile].map((claim) => assert.rejects(claim, LedgerUnavailableError));
    // Later syncs succeed, as those of Linux do after it has said once what it lost.
    syncs.release(EIO);
    await Promise.all(failures);
    // They counted as not done. What was committed is found, and nobody may send for it.
    for (const index of [0, 1, 2, 3]) {
      assert.equal(latestState(await ledger.claim(claimOf(ledger, numbered(index)))), 'sending');
    }
    assert.equal((await ledger.claim(claimOf(ledger, numbered(4)))).kind, 'claimed');
    // What the failed sync was about no longer rests on the log: the database without it has it.
    const alone = join(dirname(file), 'alone.db');
    await copyFile(file, alone);
    assert.deepEqual(attemptsIn(alone).length, 4);
  });

  test('of a log that was taken away is one, too', async (t) => {
    const { file, ledger } = await made(t);
    await ledger.claim(claimOf(ledger, numbered(0)));
    await rename(`${file}-wal`, `${file}-aside`);
    await assert.rejects(ledger.claim(claimOf(ledger, numbered(1))), LedgerUnavailableError);
  });
});

describe('SQLite: a power cut', () => {
  test('forgets nothing that was said, wherever it cuts, with another process that checkpoints', async (t) => {
    const { file, ledger } = await made(t);
    const random = seeded(20260);
    const log = `${file}-wal`;
    // What the disk is sure to have: the log as it was when the last finished sync began.
    let durable = readFileSync(log);
    await watchSyncs(t, async (sync) => {
      const begun = readFileSync(log);
      await sync();
      durable = begun;
    });
    const other = new DatabaseSync(file);
    t.after(() => other.close());
    const said = new Set<string>();
    let cuts = 0;
    /**
     * Each sector that was written since is there or is not. SQLite itself syncs log and database at a checkpoint, and
     * the new header of a log that begins anew.
     */
    const cut = () => {
      const now = readFileSync(log);
      now.copy(durable, 0, 0, HEADER);
      const image = Buffer.alloc(Math.max(now.length, durable.length));
      for (let at = 0; at < image.length; at += SECTOR) {
        const from = random() < 0.5 ? durable : now;
        if (at < from.length) from.copy(image, at, at, at + SECTOR);
      }
      const copy = join(dirname(file), `cut-${++cuts}`, 'ledger.db');
      mkdirSync(dirname(copy));
      copyFileSync(file, copy);
      writeFileSync(`${copy}-wal`, image);
      const found = new Set(attemptsIn(copy));
      const isThere = (row: string) => found.has(row) || found.has(row.replace('sending', 'unknown'));
      assert.deepEqual(
        [...said].filter((row) => !isThere(row)),
        [],
      );
      rmSync(dirname(copy), { recursive: true });
    };
    const journey = async (index: number) => {
      const { inquiry } = numbered(index);
      await ledger.claim(claimOf(ledger, { inquiry }));
      said.add(`${inquiry.customerTraceNumber} sending`);
      if (random() < 0.3) cut();
      await ledger.recordOutcome(outcomeOf(ledger, inquiry));
      said.add(`${inquiry.customerTraceNumber} unknown`);
      if (random() < 0.3) cut();
    };
    for (let group = 0; group < 8; group++) {
      await Promise.all([0, 1, 2, 3, 4].map((nth) => journey(group * 5 + nth)));
      if (group % 3 === 1) other.exec('PRAGMA wal_checkpoint(PASSIVE)');
      if (group % 4 === 2) other.exec('PRAGMA wal_checkpoint(RESTART)');
    }
    assert.ok(cuts > 15);
    assert.equal(said.size, 80);
    assert.notEqual((await stat(log)).size, 0);
  });
});

/** Bytes of the log's header (sqlite.org/fileformat2.html#walformat). */
const HEADER = 32;
/** What a disk writes whole or not at all. */
const SECTOR = 512;

/** The same numbers each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
