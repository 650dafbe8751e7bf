/** One connection to a SQLite file by `node:sqlite`: its settings, its statements, and the sync of its log. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerUnavailableError } from '../errors.ts';
import { LogSync } from './log-sync.ts';
import { codeOf, LostRaceError, type SqlRow, type SqlSession } from './sql-session.ts';

const BUSY_RETRY_MS = 5;

// Primary result codes (sqlite.org/rescode.html); extended ones carry them in their low byte.
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CONSTRAINT_NOTNULL = 1299;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
const SQLITE_CONSTRAINT_UNIQUE = 2067;

export class SqliteConnection implements SqlSession {
  readonly log: LogSync;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #version: unknown;
  /** Whether this transaction has compared itself with others already. */
  #hasNoted = false;

  private constructor(file: string, database: DatabaseSync) {
    this.#database = database;
    this.log = new LogSync(`${file}-wal`);
  }

  /** @param until when to stop waiting for others, on the clock of `performance` */
  static async open(file: string, until: number): Promise<SqliteConnection> {
    let database: DatabaseSync | undefined;
    try {
      // A busy handler would stop the event loop, and with it the transaction that it waits for. So this code waits
      // itself.
      database = new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true });
      const opened = database;
      await patiently(until, () => {
        const row = opened.prepare('PRAGMA journal_mode = WAL').get();
        // Without such a log `NORMAL` would forget commits.
        if (row?.journal_mode !== 'wal') throw new LedgerUnavailableError('the file system takes no write-ahead log');
        // `log` syncs what is committed. SQLite itself still syncs log and database around each checkpoint.
        opened.exec('PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF');
        // 16 MB of log: a page that is written often goes into the database once. The default is a quarter of it.
        opened.exec('PRAGMA wal_autocheckpoint = 4000');
        // A process whose sync failed may have left a log with a hole, behind which a power cut would forget more.
        opened.exec('PRAGMA wal_checkpoint(PASSIVE)');
      });
      return new SqliteConnection(file, opened);
    } catch (error) {
      database?.close();
      throw translated(error);
    }
  }

  /** Keeps every other writer out. */
  beginWrite(until: number): Promise<void> {
    this.#hasNoted = false;
    return patiently(until, () => this.#run('BEGIN IMMEDIATE'));
  }

  /** The first read shows whether the file can be read at all: busy errors are waited for here too. */
  async beginRead(until: number): Promise<void> {
    this.#hasNoted = false;
    this.#run('BEGIN');
    await patiently(until, () => this.#noteOthers());
  }

  async rows<Row = SqlRow>(text: string, values: Parameters<SqlSession['rows']>[1] = []): Promise<Row[]> {
    try {
      return this.#statement(text).all(...values.map((value) => value ?? null)) as Row[];
    } catch (error) {
      throw translated(error);
    }
  }

  /** The sync of this commit covers what others have committed before it. */
  commit(): void {
    // What a failed log takes counts as not done: better it is not written.
    if (this.log.hasFailed) throw new LedgerUnavailableError('the ledger is opened anew');
    this.#run('COMMIT');
    this.log.noteCommit();
  }

  /** Notes what others have committed before: an answer may say what this transaction has seen. */
  rollBack(): void {
    try {
      if (!this.#hasNoted) this.#noteOthers();
    } catch {
      this.log.noteCommit();
    }
    try {
      if (this.#database.isTransaction) this.#run('ROLLBACK');
    } catch {
      // The first error is the useful one.
    }
  }

  /** Compares with the commits of other connections that the last transaction without a commit has seen. */
  #noteOthers(): void {
    const version = this.#statement('PRAGMA data_version').get()?.data_version;
    if (version !== this.#version) this.log.noteCommit();
    this.#version = version;
    this.#hasNoted = true;
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

  /** Writes all of the log into the database, syncs that, and empties the log. `false` where others prevented it. */
  async emptyLog(until: number): Promise<boolean> {
    for (;;) {
      const [row] = await this.rows<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
      if (row?.busy === 0) return true;
      if (performance.now() >= until) return false;
      await sleep(BUSY_RETRY_MS);
    }
  }

  async close(): Promise<void> {
    await this.log.close();
    if (this.#database.isOpen) this.#database.close();
  }
}

/** Repeats `work` while another process or handle holds the file. This process stays free for other work. */
async function patiently(until: number, work: () => void): Promise<void> {
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      const code = resultCodeOf(error);
      const isBusy = code !== null && [SQLITE_BUSY, SQLITE_LOCKED].includes(code & 0xff);
      if (!isBusy || performance.now() >= until) throw error;
      await sleep(BUSY_RETRY_MS * (0.5 + Math.random()));
    }
  }
}

function resultCodeOf(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;
}

/** The driver's own message may quote what was written: only its code is passed on. */
export function translated(error: unknown): unknown {
  const code = resultCodeOf(error);
  if (code === SQLITE_CONSTRAINT_PRIMARYKEY || code === SQLITE_CONSTRAINT_UNIQUE) return new LostRaceError('lost');
  // As in `insertAttempt`.
  if (code === SQLITE_CONSTRAINT_NOTNULL && String(error).endsWith(' attempts.claimed_at')) {
    return new LostRaceError('a pause came first');
  }
  if (code !== null) return new LedgerUnavailableError(`the ledger's database refused (SQLite result code ${code})`);
  if (codeOf(error) === 'ERR_INVALID_STATE') return new LedgerUnavailableError('the ledger is closed');
  return error;
}
