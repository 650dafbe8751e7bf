import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { after, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LedgerNotFoundError, LedgerUnavailableError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { ledgerContract } from './contract.ts';
import { claimOf, keyRing, outcomeOf, RECORD, TRACE } from './fixtures.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-ledger-'));
after(() => rm(directory, { recursive: true, force: true }));

let files = 0;
const newFile = () => join(directory, `d${++files}`, 'ledger.db');

ledgerContract({
  name: 'SQLite',
  newUrl: async () => `file:${newFile()}`,
  execute: async (url, sql) => {
    const database = new DatabaseSync(url.slice('file:'.length), { timeout: 2_000 });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  },
});

async function open(t: TestContext, file: string): Promise<Ledger> {
  const ledger = await openLedger({ url: `file:${file}`, environment: 'sandbox', keyRing: keyRing(), create: true });
  t.after(() => ledger.close());
  return ledger;
}

/** Counts the statements of a piece of work, including those that begin and end its transactions. */
async function statementsOf(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  const asked = (['all', 'get', 'run'] as const).map((name) => t.mock.method(StatementSync.prototype, name));
  await work();
  const count = asked.reduce((sum, { mock }) => sum + mock.callCount(), 0);
  for (const { mock } of asked) mock.restore();
  return count;
}

test('SQLite: each step of an inquiry runs a fixed number of statements', async (t) => {
  const ledger = await open(t, newFile());
  const { ledgerId } = ledger.identity;
  const { highWaterMark } = await claimedBefore(ledger);
  const change = {
    highWaterMark,
    inquiry: { productCode: 'PRECLOSE', customerTraceNumber: 'PCBBBBBBBBBBBBBBBBBBBBBBBB00' },
  } as const;
  const { customerTraceNumber } = change.inquiry;
  const outcome = outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer: RECORD, httpStatus: 200 });
  const numbers = [TRACE, customerTraceNumber];
  const [of, from] = [
    { customerTraceNumber, attempt: 1 },
    { customerTraceNumber: TRACE, attempt: 1 },
  ];
  const steps = {
    start: await statementsOf(t, () => ledger.startFacts('J-1')),
    claim: await statementsOf(t, () => ledger.claim(claimOf(ledger, change))),
    outcome: await statementsOf(t, () => ledger.recordOutcome(outcome, '{}')),
    reports: await statementsOf(t, () => ledger.reportsToCompare(ledgerId, numbers)),
    changes: await statementsOf(t, () => ledger.keepChanges(ledgerId, { of, from }, '{}')),
  };
  // Each count includes begin and end, that of a write also its savepoint, that of a read its check for other commits.
  assert.deepEqual(steps, { start: 7, claim: 14, outcome: 12, reports: 9, changes: 7 });
});

async function claimedBefore(ledger: Ledger) {
  const verdict = await ledger.claim(claimOf(ledger));
  if (verdict.kind !== 'claimed') throw new Error(verdict.kind);
  await ledger.recordOutcome(outcomeOf(ledger, { state: 'answered', answer: RECORD }), '{}');
  return { highWaterMark: { position: verdict.position, claimedAt: verdict.claimedAt } };
}

test('SQLite: claims with other time limits use the statements that are prepared already', async (t) => {
  const ledger = await open(t, newFile());
  const prepared = t.mock.method(DatabaseSync.prototype, 'prepare').mock;
  const counts: number[] = [];
  for (const span of [1_000, 2_000, 3_000]) {
    const inquiry = { customerTraceNumber: `LIMIT-${span}-A` };
    const spans = { answerWithinMs: span, resendAfterMs: span + 1 };
    assert.equal((await ledger.claim(claimOf(ledger, { inquiry, ...spans }))).kind, 'claimed');
    counts.push(prepared.callCount());
  }
  // An engine that prepares one for each claim keeps all of them in memory.
  assert.deepEqual(counts.slice(1), [counts[0], counts[0]]);
});

describe('SQLite: the ledger’s file', () => {
  test('is readable only by its owner, as are its log and its directory', async (t) => {
    const file = newFile();
    const ledger = await open(t, file);
    await ledger.claim(claimOf(ledger));
    assert.equal((await stat(dirname(file))).mode & 0o777, 0o700);
    const names = await readdir(dirname(file));
    assert.ok(names.includes('ledger.db-wal'));
    for (const name of names) assert.equal((await stat(join(dirname(file), name))).mode & 0o777, 0o600, name);
  });

  test('contains no report and no key after their disposal, and neither does its log', async (t) => {
    const file = newFile();
    const ledger = await open(t, file);
    const other = { runKey: 'J-2', customerTraceNumber: 'PQBBBBBBBBBBBBBBBBBBBBBBBB00' };
    for (const inquiry of [{}, other]) {
      const claim = claimOf(ledger, { inquiry });
      await ledger.claim(claim);
      const { customerTraceNumber } = claim.inquiry;
      const report = JSON.stringify({ text: 'x'.repeat(20_000) });
      await ledger.recordOutcome(outcomeOf(ledger, { customerTraceNumber, state: 'answered', answer: RECORD }), report);
    }
    const database = new DatabaseSync(file, { readOnly: true });
    const rows = database
      .prepare('SELECT r.*, a.answer FROM sealed_bodies r JOIN attempts a USING (customer_trace_number)')
      .all();
    database.close();
    const held = async (trace: string) => {
      const row = rows.find(({ customer_trace_number }) => customer_trace_number === trace);
      const [key, answer, body] = [row?.wrapped_key, row?.answer, row?.body].map((blob) =>
        Buffer.from(blob as Uint8Array),
      );
      const sealed = [key, answer, body?.subarray(0, 64), body?.subarray(-64)];
      const names = (await readdir(dirname(file))).filter((name) => !name.endsWith('-shm'));
      const bytes = Buffer.concat(await Promise.all(names.map((name) => readFile(join(dirname(file), name)))));
      return sealed.map((part) => part !== undefined && bytes.includes(part));
    };
    assert.deepEqual(await held(TRACE), [true, true, true, true]);
    const authorization = { by: 'ops', reason: 'kept long enough' };
    await ledger.retention.begin('J-1', authorization);
    await ledger.retention.dispose('J-1', authorization, 0);
    assert.equal(await ledger.retention.scrub(), true);
    assert.deepEqual(await held(TRACE), [false, false, false, false]);
    assert.deepEqual(await held(other.customerTraceNumber), [true, true, true, true]);
    assert.equal((await stat(`${file}-wal`)).size, 0);
  });

  test('is opened by a file: URL, absolute or relative', async (t) => {
    const file = newFile();
    const ledger = await open(t, file);
    const ring = keyRing();
    await assert.rejects(openLedger({ url: 'file:./not-there.db', environment: 'sandbox', keyRing: ring }), {
      name: 'LedgerNotFoundError',
    });
    await assert.rejects(
      openLedger({ url: `file://${file}`, environment: 'sandbox', keyRing: ring, expectedId: 'x' }),
      (error: Error) => error.message.includes(ledger.identity.ledgerId),
    );
    for (const url of ['file:', 'mysql://user:secret@host/x']) {
      await assert.rejects(openLedger({ url, environment: 'sandbox', keyRing: ring }), (error: Error) => {
        return error instanceof TypeError && !error.message.includes('secret');
      });
    }
  });

  test('is refused when it is not a database or is empty', async () => {
    const text = join(directory, 'text.db');
    await writeFile(text, 'this is not a database, and it is long enough to be read as a page header '.repeat(10));
    const options = { environment: 'sandbox', keyRing: keyRing() } as const;
    await assert.rejects(openLedger({ ...options, url: `file:${text}`, create: true }), LedgerUnavailableError);
    const empty = join(directory, 'empty.db');
    await writeFile(empty, '');
    await assert.rejects(openLedger({ ...options, url: `file:${empty}` }), LedgerNotFoundError);
  });

  test('accepts no claims after it was moved or replaced', async (t) => {
    const file = newFile();
    const ledger = await open(t, file);
    await rename(file, `${file}.aside`);
    await assert.rejects(ledger.claim(claimOf(ledger)), LedgerUnavailableError);
    await writeFile(file, '');
    await assert.rejects(ledger.lookUp(ledger.identity.ledgerId, TRACE), LedgerUnavailableError);
    await rename(`${file}.aside`, file);
    assert.equal((await ledger.claim(claimOf(ledger))).kind, 'claimed');
  });
});

describe('SQLite: the write-ahead log', () => {
  test('is configured so that each commit is on disk before it returns', async (t) => {
    const settings = t.mock.method(DatabaseSync.prototype, 'exec');
    const file = newFile();
    await open(t, file);
    assert.ok(settings.mock.calls.some((call) => String(call.arguments[0]).includes('PRAGMA synchronous = FULL')));
    const database = new DatabaseSync(file);
    t.after(() => database.close());
    assert.equal(database.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal');
  });

  test('commits concurrent claims although an invalid one among them fails', async (t) => {
    const ledger = await open(t, newFile());
    const numbered = (index: number) => ({ inquiry: { customerTraceNumber: `PQSYNC${index}` } });
    const claims = Array.from({ length: 60 }, (_, index) => ledger.claim(claimOf(ledger, numbered(index))));
    const run = { workflowId: 'w', runId: null as unknown as string };
    claims.splice(30, 0, ledger.claim(claimOf(ledger, { ...numbered(99), run })));
    const outcomes = await Promise.allSettled(claims);
    const failed = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [index] : []));
    assert.deepEqual(failed, [30]);
    assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' || outcome.value.kind === 'claimed'));
  });

  test('makes a claim fail as unavailable when it is moved away during the claim', async (t) => {
    const file = newFile();
    const ledger = await open(t, file);
    await ledger.claim(claimOf(ledger));
    const run = StatementSync.prototype.run;
    t.mock.method(StatementSync.prototype, 'run', function (this: StatementSync, ...values: Parameters<typeof run>) {
      if (this.sourceSQL === 'COMMIT') renameSync(`${file}-wal`, `${file}-aside`);
      return run.apply(this, values);
    });
    const during = claimOf(ledger, { inquiry: { customerTraceNumber: 'PQDURING' } });
    await assert.rejects(ledger.claim(during), LedgerUnavailableError);
    await assert.rejects(ledger.lookUp(ledger.identity.ledgerId, TRACE), LedgerUnavailableError);
  });
});

describe('SQLite: other writers', () => {
  test('a concurrent reader prevents scrub from emptying the log, and scrub says so', async (t) => {
    const file = newFile();
    const ledger = await open(t, file);
    const reader = new DatabaseSync(file);
    t.after(() => reader.close());
    reader.exec('BEGIN; SELECT * FROM ledger_identity');
    await ledger.claim(claimOf(ledger));
    assert.equal(await ledger.retention.scrub(), false);
    reader.exec('ROLLBACK');
    assert.equal(await ledger.retention.scrub(), true);
  });

  test('a concurrent writer makes writes fail as unavailable after a short while, and reads continue', async (t) => {
    const file = newFile();
    const ledger = await open(t, file);
    const other = new DatabaseSync(file);
    t.after(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 50);
    await Promise.all([
      assert.rejects(ledger.claim(claimOf(ledger)), LedgerUnavailableError),
      assert.rejects(ledger.recordOutcome(outcomeOf(ledger, {})), LedgerUnavailableError),
    ]);
    clearInterval(ticking);
    assert.ok(ticks > 5, 'the process went on with its other work');
    assert.equal(await ledger.lookUp(ledger.identity.ledgerId, TRACE), null);
    other.exec('ROLLBACK');
    assert.equal((await ledger.claim(claimOf(ledger))).kind, 'claimed');
  });

  test('two processes that claim the same attempts claim each attempt once', async (t) => {
    const file = newFile();
    const ringFile = join(dirname(file), 'keys.json');
    const keys = await createKeyRing(ringFile);
    const ledger = await openLedger({ url: `file:${file}`, environment: 'sandbox', keyRing: keys, create: true });
    t.after(() => ledger.close());
    const script = fileURLToPath(new URL('./claiming-process.ts', import.meta.url));
    const claimed = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const child = fork(script, [`file:${file}`, ringFile, name], { stdio: 'inherit' });
        const [[message], [code]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
        assert.equal(code, 0);
        return message as string[];
      }),
    );
    const all = claimed.flat();
    assert.equal(all.length, 40);
    assert.equal(new Set(all).size, 40);
  });

  test('a closed ledger is unavailable, and can be closed again', async (t) => {
    const ledger = await open(t, newFile());
    await ledger.close();
    await ledger.close();
    await assert.rejects(ledger.mayWrite(), LedgerUnavailableError);
  });

  test('a ledger file without write permission is unavailable', {
    skip: process.getuid?.() === 0 && 'root may write all',
  }, async (t) => {
    const file = newFile();
    const ledger = await open(t, file);
    await ledger.close();
    await chmod(file, 0o400);
    await assert.rejects(open(t, file), LedgerUnavailableError);
  });
});
