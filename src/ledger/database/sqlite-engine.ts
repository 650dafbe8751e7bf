/** SQLite by `node:sqlite`: one machine, any number of processes, no server to run. */
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerNotFoundError, LedgerUnavailableError } from '../errors.ts';
import {
  codeOf,
  LostRaceError,
  type SqlDialect,
  type SqlEngine,
  type SqlRow,
  type SqlSession,
  type Written,
} from './sql-session.ts';

/** Writers take about a millisecond each. A writer that gets no turn in this time faces a process that hangs. */
const BUSY_TIMEOUT_MS = 2_000;
const BUSY_RETRY_MS = 5;
/** How long a migration waits for a process that copies the file. */
const MIGRATION_PATIENCE_MS = 10 * 60_000;

// Primary result codes (sqlite.org/rescode.html); extended ones carry them in their low byte.
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
const SQLITE_CONSTRAINT_UNIQUE = 2067;

// The first read of the file shows whether it can be read at all: busy errors are waited for here too.
const BEGIN_READ = ['BEGIN', 'SELECT 1 FROM sqlite_master LIMIT 1'];
const BEGIN_WRITE = ['BEGIN IMMEDIATE'];

const DIALECT: SqlDialect = {
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  // BEGIN IMMEDIATE already keeps every other writer out.
  forUpdate: '',
  bytes: 'BLOB',
  tableExists: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1",
  triggerPrelude: [],
  guardRows: (table, guard) =>
    (guard === 'appendOnly' ? ['UPDATE', 'DELETE'] : ['DELETE']).map(
      (verb) =>
        `CREATE TRIGGER ${table}_no_${verb.toLowerCase()} BEFORE ${verb} ON ${table}
         BEGIN SELECT RAISE(ABORT, 'rows of this table are kept as they are'); END`,
    ),
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
  let database: DatabaseSync | undefined;
  try {
    // A busy handler would stop the event loop, and with it the transaction that it waits for. So this code waits
    // itself.
    database = new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true });
    const opened = database;
    await patiently(deadline(), () => {
      opened.exec('PRAGMA journal_mode = WAL');
      opened.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF');
    });
    return new SqliteEngine(file, opened);
  } catch (error) {
    database?.close();
    throw translated(error);
  }
}

function makeFile(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // SQLite gives its -wal and -shm files the mode of the database.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw new LedgerUnavailableError(`the ledger ${file} cannot be made (${codeOf(error)})`);
  }
}

class SqliteEngine implements SqlEngine, SqlSession {
  readonly dialect = DIALECT;
  readonly #file: string;
  readonly #inode: number;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** One connection carries one transaction: each one waits here for the one before it. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(file: string, database: DatabaseSync) {
    this.#file = file;
    this.#inode = statSync(file).ino;
    this.#database = database;
  }

  read<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#transaction(BEGIN_READ, async (session) => ({ keep: false, value: await work(session) }));
  }

  write<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    return this.#transaction(BEGIN_WRITE, work);
  }

  /** No other process writes meanwhile, as in every transaction here. */
  migrate<T>(_tables: readonly string[], work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    return this.#transaction(BEGIN_WRITE, work, MIGRATION_PATIENCE_MS);
  }

  async rows<Row = SqlRow>(text: string, values: Parameters<SqlSession['rows']>[1] = []): Promise<Row[]> {
    try {
      let statement = this.#statements.get(text);
      if (!statement) {
        statement = this.#database.prepare(text.replaceAll(/\$(\d+)/g, '?$1'));
        this.#statements.set(text, statement);
      }
      return statement.all(...values.map((value) => value ?? null)) as Row[];
    } catch (error) {
      throw translated(error);
    }
  }

  /** `secure_delete` has overwritten the pages. Old data is left in the log alone, which this empties. */
  scrub(): Promise<boolean> {
    const until = deadline();
    return this.#inTurn(async () => {
      this.#checkFile();
      for (;;) {
        const [row] = await this.rows<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
        if (row?.busy === 0) return true;
        if (performance.now() >= until) return false;
        await sleep(BUSY_RETRY_MS);
      }
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#database.isOpen) this.#database.close();
    });
  }

  #transaction<T>(
    begin: readonly string[],
    work: (session: SqlSession) => Promise<Written<T>>,
    patienceMs = BUSY_TIMEOUT_MS,
  ): Promise<T> {
    const until = performance.now() + patienceMs;
    return this.#inTurn(async () => {
      this.#checkFile();
      try {
        for (const statement of begin) await patiently(until, () => this.#database.exec(statement));
        const { keep, value } = await work(this);
        this.#database.exec(keep ? 'COMMIT' : 'ROLLBACK');
        return value;
      } catch (error) {
        this.#rollBack();
        throw translated(error);
      }
    });
  }

  /** Refuses a file that was removed or replaced: it would take further writes, and all of them would be lost. */
  #checkFile(): void {
    const about = statSync(this.#file, { throwIfNoEntry: false });
    if (about?.ino !== this.#inode) throw new LedgerUnavailableError('the file of the ledger was removed or replaced');
  }

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // The first error is the useful one.
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
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

function deadline(): number {
  return performance.now() + BUSY_TIMEOUT_MS;
}

function resultCodeOf(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;
}

/** The driver's own message may quote what was written: only its code is passed on. */
function translated(error: unknown): unknown {
  const code = resultCodeOf(error);
  if (code === SQLITE_CONSTRAINT_PRIMARYKEY || code === SQLITE_CONSTRAINT_UNIQUE) return new LostRaceError('lost');
  if (code !== null) return new LedgerUnavailableError(`the ledger's database refused (SQLite result code ${code})`);
  if (codeOf(error) === 'ERR_INVALID_STATE') return new LedgerUnavailableError('the ledger is closed');
  return error;
}
