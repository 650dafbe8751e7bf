/** SQLite: one machine, any number of processes, no server to run. */
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode } from '../../base/error-code.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { LedgerNotFoundError, LedgerUnavailableError } from '../errors.ts';
import { runInSession } from './rows.ts';
import {
  Ending,
  LostRaceError,
  type SqlDialect,
  type SqlEngine,
  type SqlRow,
  type SqlSession,
  type SqlValue,
  type Written,
} from './sql-session.ts';

// One connection carries one transaction after the other. Each COMMIT is on disk before it returns, and no other
// connection sees it earlier (docs/decisions/ledger.md, 23).

const BUSY_RETRY_MS = 5;

// Primary result codes (sqlite.org/rescode.html); extended ones carry them in their low byte.
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CONSTRAINT_NOTNULL = 1299;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
const SQLITE_CONSTRAINT_UNIQUE = 2067;

/** Repeats `work` while another process or handle holds the file. This process stays free for other work. */
async function retryWhileLocked(until: number, work: () => void): Promise<void> {
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      const code = readResultCode(error);
      const isBusy = code !== null && [SQLITE_BUSY, SQLITE_LOCKED].includes(code & 0xff);
      if (!isBusy || performance.now() >= until) throw error;
      await sleep(BUSY_RETRY_MS * (0.5 + Math.random()));
    }
  }
}

function readResultCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;
}

/** Passes on only the driver's code: its own message may quote values. */
export function translateError(error: unknown): unknown {
  const code = readResultCode(error);
  if (code === SQLITE_CONSTRAINT_PRIMARYKEY || code === SQLITE_CONSTRAINT_UNIQUE) return new LostRaceError('lost');
  // `insertAttempt` causes this when a pause or a withdrawal came first.
  if (code === SQLITE_CONSTRAINT_NOTNULL && String(error).endsWith(' attempts.claimed_at')) {
    return new LostRaceError('a pause came first');
  }
  if (code !== null) return new LedgerUnavailableError(`the ledger's database refused (SQLite result code ${code})`);
  if (getErrorCode(error) === 'ERR_INVALID_STATE') return new LedgerUnavailableError('the ledger is closed');
  return error;
}

/** Writers take about a millisecond each. A writer that gets no turn in this time faces a process that hangs. */
const BUSY_TIMEOUT_MS = 2_000;

const REFUSED = "BEGIN SELECT RAISE(ABORT, 'rows of this table are kept as they are'); END";

const DIALECT: SqlDialect = {
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  // BEGIN IMMEDIATE already keeps every other writer out.
  forUpdate: '',
  textType: 'TEXT',
  columns: `SELECT m.name || '.' || c.name AS name, c."notnull" AS is_required
    FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`,
  triggerPrelude: [],
  refuse: (table, event, when = '') =>
    `CREATE TRIGGER ${table}_no_${event.slice(0, 6).toLowerCase()} BEFORE ${event} ON ${table} ${when} ${REFUSED}`,
};

/**
 * Opens the file. Makes it where `create` says so (mode 0600, in a directory that is made with 0700).
 *
 * @throws LedgerNotFoundError where the file is missing and may not be made
 * @throws LedgerUnavailableError where it cannot be opened
 */
export async function openSqlite(file: string, create: boolean): Promise<SqlEngine> {
  if (!existsSync(file)) {
    if (!create) throw new LedgerNotFoundError(`there is no ledger at ${file}`);
    makeFile(file);
  }
  const until = performance.now() + BUSY_TIMEOUT_MS;
  let database: DatabaseSync | undefined;
  try {
    // A busy handler would stop the event loop, and with it the transaction that it waits for. So this code waits
    // itself.
    database = new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true });
    const opened = database;
    await retryWhileLocked(until, () => prepareFile(opened));
    return new SqliteEngine(file, opened);
  } catch (error) {
    database?.close();
    throw translateError(error);
  }
}

function prepareFile(database: DatabaseSync): void {
  const row = database.prepare('PRAGMA journal_mode = WAL').get();
  if (row?.journal_mode !== 'wal')
    throw new LedgerUnavailableError('the file system does not support a write-ahead log');
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
  database.exec('PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF');
  // 16 MB of log: a page that is written often goes into the database once. The default is a quarter of it.
  database.exec('PRAGMA wal_autocheckpoint = 4000');
  // This opens the log: its file exists afterwards.
  database.exec('PRAGMA wal_checkpoint(PASSIVE)');
}

function makeFile(file: string): void {
  try {
    makeDirectory(dirname(file));
    // SQLite gives its -wal and -shm files the mode of the database.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return;
    throw new LedgerUnavailableError(`the ledger ${file} cannot be made (${getErrorCode(error)})`);
  }
}

/** Other processes get a turn after this many. */
const MOST_IN_A_COMMIT = 64;

/** A unit of work that waits for its turn. */
interface QueuedWrite {
  work: (session: SqlSession) => Promise<Written<unknown>>;
  until: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

class SqliteEngine implements SqlEngine {
  /** The database and its log. */
  readonly #files: readonly { name: string; inode: number }[];
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #writes: QueuedWrite[] = [];
  /** Each transaction waits here for the one before it. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(file: string, database: DatabaseSync) {
    this.#files = [file, `${file}-wal`].map((name) => ({ name, inode: statSync(name).ino }));
    this.#database = database;
  }

  read<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    const until = performance.now() + BUSY_TIMEOUT_MS;
    return this.#inTurn(async () => {
      this.#requireOpen();
      try {
        this.#run('BEGIN');
        // The first read shows whether the file can be read at all: busy errors are waited for here too.
        await retryWhileLocked(until, () => this.#run('SELECT 1 FROM sqlite_master'));
        const answer = await this.#runInSession(work);
        this.#requireOpen();
        return answer;
      } catch (error) {
        throw translateError(error);
      } finally {
        this.#rollBack();
      }
    });
  }

  write<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    const until = performance.now() + BUSY_TIMEOUT_MS;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#writes.push({ work, until, resolve: resolve as QueuedWrite['resolve'], reject });
    if (this.#writes.length === 1) void this.#inTurn(() => this.#commitWrites());
    return promise;
  }

  /** No other process writes meanwhile, as in every write here. */
  migrate<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    return this.write(work);
  }

  /**
   * `secure_delete` has overwritten the pages. Old data is left in the log alone: this writes all of it into the
   * database, syncs that, and empties the log. `false` where others prevented it.
   */
  async scrub(): Promise<boolean> {
    const until = performance.now() + BUSY_TIMEOUT_MS;
    return this.#inTurn(async () => {
      this.#requireOpen();
      for (;;) {
        if (this.#rows('PRAGMA wal_checkpoint(TRUNCATE)')[0]?.busy === 0) return true;
        if (performance.now() >= until) return false;
        await sleep(BUSY_RETRY_MS);
      }
    });
  }

  async close(): Promise<void> {
    // Writes that were asked for before are committed first, however many commits they need.
    const last = this.#writes.at(-1);
    while (last && this.#writes.includes(last)) await this.#inTurn(async () => {});
    await this.#inTurn(async () => {
      if (this.#database.isOpen) this.#database.close();
    });
  }

  /**
   * Commits all writes that wait. They share one sync of the disk, which takes far longer than their statements. A
   * write that fails is undone by itself. A later write of the commit has read the rows of an earlier one, so each
   * caller gets its answer or error after the commit.
   */
  async #commitWrites(): Promise<void> {
    // Lets the calls come that this turn of the event loop still brings.
    await nextTurn();
    const first = this.#writes.shift();
    if (!first) return;
    const taken = [first];
    try {
      this.#requireOpen();
      await retryWhileLocked(first.until, () => this.#run('BEGIN IMMEDIATE'));
      const answers: (() => void)[] = [];
      // One by one: a fault ends those alone that were taken by then.
      for (const write of taken) {
        answers.push(await this.#runWrite(write));
        const next = taken.length < MOST_IN_A_COMMIT ? this.#writes.shift() : undefined;
        if (next) taken.push(next);
      }
      this.#run('COMMIT');
      this.#requireOpen();
      for (const answer of answers) answer();
    } catch (error) {
      this.#rollBack();
      for (const { reject } of taken) reject(translateError(error));
    }
    if (this.#writes.length > 0) void this.#inTurn(() => this.#commitWrites());
  }

  /** Returns how to answer. @throws where SQLite has ended the whole transaction */
  async #runWrite({ work, resolve, reject }: QueuedWrite): Promise<() => void> {
    this.#run('SAVEPOINT write');
    try {
      const { keep, answer } = Ending.of(await this.#runInSession(work));
      const value = await answer;
      if (!keep) this.#run('ROLLBACK TO write');
      this.#run('RELEASE write');
      return () => resolve(value);
    } catch (error) {
      if (!this.#database.isTransaction) throw error;
      this.#run('ROLLBACK TO write');
      this.#run('RELEASE write');
      return () => reject(translateError(error));
    }
  }

  #runInSession<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    return runInSession(DIALECT, (text, values) => this.#rows(text, values), work);
  }

  #rows(text: string, values: readonly (SqlValue | undefined)[] = []): SqlRow[] {
    try {
      return this.#statement(text).all(...values.map((value) => value ?? null));
    } catch (error) {
      throw translateError(error);
    }
  }

  #run(text: string): void {
    this.#statement(text).run();
  }

  #statement(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#database.prepare(text.replaceAll(/\$(\d+)/g, '?$1'));
      this.#statements.set(text, statement);
    }
    return statement;
  }

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#run('ROLLBACK');
    } catch {
      // A failed rollback must not hide the first error.
    }
  }

  /** Refuses files that were removed or replaced: they would take further writes, and all of them would be lost. */
  #requireOpen(): void {
    if (!this.#database.isOpen) throw new LedgerUnavailableError('the ledger is closed');
    for (const { name, inode } of this.#files) {
      const about = statSync(name, { throwIfNoEntry: false });
      if (about?.ino !== inode) throw new LedgerUnavailableError('a file of the ledger was removed or replaced');
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}
