/** SQLite: one machine, any number of processes, no server to run. */
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LedgerNotFoundError, LedgerUnavailableError } from '../errors.ts';
import { codeOf, type SqlDialect, type SqlEngine, type SqlSession, type Written } from './sql-session.ts';
import { SqliteConnection, translated } from './sqlite-connection.ts';

/** Writers take about a millisecond each. A writer that gets no turn in this time faces a process that hangs. */
const BUSY_TIMEOUT_MS = 2_000;
/** How long a migration waits for a process that copies the file. */
const MIGRATION_PATIENCE_MS = 10 * 60_000;

const BEGIN_READ = (connection: SqliteConnection, until: number) => connection.beginRead(until);
const BEGIN_WRITE = (connection: SqliteConnection, until: number) => connection.beginWrite(until);

const REFUSED = "BEGIN SELECT RAISE(ABORT, 'rows of this table are kept as they are'); END";

const DIALECT: SqlDialect = {
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  // BEGIN IMMEDIATE already keeps every other writer out.
  forUpdate: '',
  bytes: 'BLOB',
  tableExists: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1",
  triggerPrelude: [],
  guardRows: (table, guard) => [
    ...(guard === 'appendOnly' ? ['UPDATE', 'DELETE'] : ['DELETE']).map(
      (verb) => `CREATE TRIGGER ${table}_no_${verb.toLowerCase()} BEFORE ${verb} ON ${table} ${REFUSED}`,
    ),
    ...(guard === 'keepSealed'
      ? [`CREATE TRIGGER ${table}_keep_sealed BEFORE UPDATE OF body ON ${table} WHEN NEW.body IS NOT NULL ${REFUSED}`]
      : []),
  ],
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
  return new SqliteEngine(file, await SqliteConnection.open(file, deadline()));
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

class SqliteEngine implements SqlEngine {
  readonly dialect = DIALECT;
  readonly #file: string;
  readonly #inode: number;
  #connection: SqliteConnection;
  #isClosed = false;
  /** One connection carries one transaction: each one waits here for the one before it. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(file: string, connection: SqliteConnection) {
    this.#file = file;
    this.#inode = statSync(file).ino;
    this.#connection = connection;
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

  /** `secure_delete` has overwritten the pages. Old data is left in the log alone, which this empties. */
  async scrub(): Promise<boolean> {
    const until = deadline();
    const { isDone, log } = await this.#inTurn(async () => {
      const connection = await this.#opened(until);
      const isDone = await connection.emptyLog(until);
      connection.log.noteCommit();
      return { isDone, log: connection.log };
    });
    await log.covered();
    return isDone;
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      this.#isClosed = true;
      await this.#connection.close();
    });
  }

  /** Its turn ends with its commit, and the next one begins. The caller is answered once the log is on disk. */
  async #transaction<T>(
    begin: typeof BEGIN_WRITE,
    work: (session: SqlSession) => Promise<Written<T>>,
    patienceMs = BUSY_TIMEOUT_MS,
  ): Promise<T> {
    const until = performance.now() + patienceMs;
    const { ended, log } = await this.#inTurn(async () => {
      const connection = await this.#opened(until);
      return { ended: await transact(connection, () => begin(connection, until), work), log: connection.log };
    });
    // What was only read waits too, and so does what was refused: the commit that it saw may be another's, and not yet
    // on disk.
    await log.covered();
    if ('error' in ended) throw ended.error;
    return ended.value;
  }

  /**
   * The connection; a new one after a sync that failed. Its log may rest on what the disk never took, so the log goes
   * into the database first, whose own sync has not failed.
   */
  async #opened(until: number): Promise<SqliteConnection> {
    if (this.#isClosed) throw new LedgerUnavailableError('the ledger is closed');
    this.#checkFile();
    if (!this.#connection.log.hasFailed) return this.#connection;
    await this.#connection.close();
    const connection = await SqliteConnection.open(this.#file, until);
    try {
      this.#checkFile();
      if (!(await connection.emptyLog(until))) throw new LedgerUnavailableError('the log of the ledger is in use');
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.#connection = connection;
    return connection;
  }

  /** Refuses a file that was removed or replaced: it would take further writes, and all of them would be lost. */
  #checkFile(): void {
    const about = statSync(this.#file, { throwIfNoEntry: false });
    if (about?.ino !== this.#inode) throw new LedgerUnavailableError('the file of the ledger was removed or replaced');
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

type Ended<T> = { value: T } | { error: unknown };

async function transact<T>(
  connection: SqliteConnection,
  begin: () => Promise<void>,
  work: (session: SqlSession) => Promise<Written<T>>,
): Promise<Ended<T>> {
  let isOver = false;
  const session: SqlSession = {
    async rows(text, values) {
      // What comes after a failure of another statement would be no part of the transaction.
      if (isOver) throw new LedgerUnavailableError('the transaction is over');
      return connection.rows(text, values);
    },
  };
  try {
    await begin();
    const { keep, value } = await work(session);
    const answer = await value;
    isOver = true;
    if (keep) connection.commit();
    else connection.rollBack();
    return { value: answer };
  } catch (error) {
    isOver = true;
    connection.rollBack();
    return { error: translated(error) };
  }
}

function deadline(): number {
  return performance.now() + BUSY_TIMEOUT_MS;
}
