/** PostgreSQL by `pg`: any number of machines on one ledger. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
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

/** A database that takes longer than this to be reached is treated as away; the journey waits durably. */
const CONNECT_TIMEOUT_MS = 3_000;
/** Statements take a few milliseconds; the lock of an inquiry is held for one transaction of another worker. */
const LOCK_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 4_000;
/** Our own clock, for a server that says nothing at all: above the server's own, so that its answer is heard first. */
const ANSWER_TIMEOUT_MS = 5_000;
/** A worker makes a few dozen attempts at once, each for some milliseconds in the database. */
const MAX_CONNECTIONS = 10;
const IDLE_TIMEOUT_MS = 30_000;
/** A vacuum reads whole tables beside everything else that goes on: millions of rows take minutes. */
const VACUUM_TIMEOUT_MS = 10 * 60_000;

// SQLSTATE (PostgreSQL, appendix A).
const UNIQUE_VIOLATION = '23505';
const INVALID_CATALOG_NAME = '3D000';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Any number: it only has to differ from other users of advisory locks in the same database. Who writes shares it, a
 * migration has it alone: what a transaction reads under it of the tables' version holds until its commit.
 */
const MIGRATION_LOCK = 7_205_759;
/**
 * For the tables, while everybody else waits: a dump or a report that reads them may take hours. Then the others get
 * their turn, and the migration tries again.
 */
const TABLE_LOCK_TIMEOUT_MS = 500;
const TABLE_LOCK_PAUSE_MS = 1_500;
const MIGRATION_PATIENCE_MS = 10 * 60_000;

const DIALECT: SqlDialect = {
  // Not now(), which is the transaction's beginning: waits for a lock must not make a claim look older than it is.
  now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)',
  forUpdate: 'FOR UPDATE',
  bytes: 'BYTEA',
  // Not to_regclass(), which may answer from a cache of before the lock was waited for.
  tableExists: 'SELECT 1 FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = $1',
  triggerPrelude: [
    `CREATE FUNCTION ledger_keep_rows() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN RAISE EXCEPTION ''rows of this table are kept as they are''; END'`,
  ],
  guardRows: (table, guard) => [
    `CREATE TRIGGER ${table}_keep_rows BEFORE DELETE${guard === 'appendOnly' ? ' OR UPDATE' : ''} ON ${table}
     FOR EACH ROW EXECUTE FUNCTION ledger_keep_rows()`,
    `CREATE TRIGGER ${table}_keep_table BEFORE TRUNCATE ON ${table}
     FOR EACH STATEMENT EXECUTE FUNCTION ledger_keep_rows()`,
  ],
};

// One statement, so one way to the server and back. SET LOCAL and not the connection's start-up parameters, which
// connection poolers refuse; a commit must be on disk whatever the server's default is, and the isolation level is
// the one that the row lock is reckoned with.
const SETTINGS = [
  `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
  `SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  `SET LOCAL idle_in_transaction_session_timeout = ${ANSWER_TIMEOUT_MS}`,
].join('; ');
const SHARE_TABLES = `SELECT pg_advisory_xact_lock_shared(${MIGRATION_LOCK})`;
const BEGIN_WRITE = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${SETTINGS}; SET LOCAL synchronous_commit = on; ${SHARE_TABLES}`;
const BEGIN_MIGRATION = [
  'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
  'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
  `SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}; SET LOCAL synchronous_commit = on`,
].join('; ');
/** Sessions that hold one of the tables `$1`, for a person who wonders what is waited for. */
const HOLDERS = `SELECT DISTINCT a.pid, a.application_name AS name
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE c.relname = ANY ($1) AND l.granted AND a.pid <> pg_backend_pid() ORDER BY a.pid`;
const BEGIN_READ = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${SETTINGS}`;

/**
 * Opens a pool on the database that the address names; the database itself is made by its administrator.
 *
 * @throws LedgerNotFoundError where the server has no such database
 * @throws LedgerUnavailableError where the server cannot be reached
 */
export async function openPostgres(url: string): Promise<SqlEngine> {
  const connection = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  };
  const pool = new pg.Pool({
    ...connection,
    application_name: 'credit-journey',
    max: MAX_CONNECTIONS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  // A connection that breaks says so by an event, in the pool or in somebody's hands; unheard, it ends the process.
  // What was under way fails by itself.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const engine = new PostgresEngine(pool, connection);
  try {
    await engine.read((session) => session.rows('SELECT 1'));
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

class PostgresEngine implements SqlEngine {
  readonly dialect = DIALECT;
  readonly #pool: pg.Pool;
  readonly #connection: pg.ClientConfig;
  #isClosed = false;

  /** @param connection for what takes longer than the pool lets anything take */
  constructor(pool: pg.Pool, connection: pg.ClientConfig) {
    this.#pool = pool;
    this.#connection = connection;
  }

  read<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#transaction(BEGIN_READ, async (session) => ({ keep: false, value: await work(session) }));
  }

  write<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    return this.#transaction(BEGIN_WRITE, work);
  }

  async migrate<T>(
    tables: readonly string[],
    work: (session: SqlSession) => Promise<Written<T>>,
    onWait: (whatFor: string) => void = () => {},
  ): Promise<T> {
    const client = new pg.Client({ ...this.#connection, application_name: 'credit-journey setup' });
    client.on('error', () => {});
    try {
      await client.connect();
      await takeTables(client, tables, onWait);
      const session = new PostgresSession(client);
      const { keep, value } = await work(session);
      const { command } = await session.run(keep ? 'COMMIT' : 'ROLLBACK');
      if (keep && command !== 'COMMIT') throw new LedgerUnavailableError('the database did not commit');
      return value;
    } catch (error) {
      throw error instanceof pg.DatabaseError || codeOf(error) !== 'unknown error' ? translated(error) : error;
    } finally {
      // With whatever it had not committed.
      await client.end().catch(() => {});
    }
  }

  /** Makes the space of old row versions free for others; who may not vacuum a table is told so by a warning. */
  async scrub(): Promise<boolean> {
    if (this.#isClosed) throw new LedgerUnavailableError('the ledger is closed');
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translated(error);
    });
    let isDone = true;
    const onNotice = ({ severity }: { severity: string | undefined }) => {
      if (severity === 'WARNING') isDone = false;
    };
    client.on('notice', onNotice);
    try {
      // `query_timeout` of one query is missing from the driver's types.
      const patient = { query_timeout: VACUUM_TIMEOUT_MS };
      await client.query({ text: 'VACUUM inquiries, attempts, reports, derived_documents', ...patient });
      return isDone;
    } catch {
      isDone = false;
      return false;
    } finally {
      client.off('notice', onNotice);
      client.release(!isDone);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  async #transaction<T>(begin: string, work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    if (this.#isClosed) throw new LedgerUnavailableError('the ledger is closed');
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translated(error);
    });
    const session = new PostgresSession(client);
    let isOver = false;
    try {
      await session.run(begin);
      const { keep, value } = await work(session);
      const { command } = await session.run(keep ? 'COMMIT' : 'ROLLBACK');
      isOver = true;
      if (keep && command !== 'COMMIT') throw new LedgerUnavailableError('the database did not commit');
      return value;
    } finally {
      isOver ||= await session.rollBack();
      // A connection of which it is not known in what state it is goes, and with it whatever it had not committed.
      client.release(!isOver);
    }
  }
}

/** Begins a transaction that has the tables to itself; others write in between as long as it cannot. */
async function takeTables(
  client: pg.Client,
  tables: readonly string[],
  onWait: (whatFor: string) => void,
): Promise<void> {
  const endsAt = performance.now() + MIGRATION_PATIENCE_MS;
  for (;;) {
    await client.query(BEGIN_MIGRATION);
    try {
      await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      if (tables.length > 0) await client.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
      await client.query('SET LOCAL lock_timeout = 0');
      return;
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE || performance.now() > endsAt) throw error;
    }
    await client.query('ROLLBACK');
    const { rows } = await client.query<{ pid: number; name: string }>(HOLDERS, [tables]);
    onWait(
      rows.map(({ pid, name }) => `process ${pid} of the database${name && ` (${name})`}`).join(', ') || 'writers',
    );
    await sleep(TABLE_LOCK_PAUSE_MS);
  }
}

class PostgresSession implements SqlSession {
  readonly #client: pg.ClientBase;
  /** The server did not answer, or is gone: nothing more is asked of this connection. */
  #isBroken = false;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  async rows<Row = SqlRow>(text: string, values?: Parameters<SqlSession['rows']>[1]): Promise<Row[]> {
    const result = await this.run(text, values);
    return (result.rows ?? []) as Row[];
  }

  async run(text: string, values?: Parameters<SqlSession['rows']>[1]): Promise<pg.QueryResult> {
    try {
      // Without values the simple protocol is used, which takes several statements at once.
      if (!values) return await this.#client.query(text);
      return await this.#client.query(
        text,
        values.map((value) => value ?? null),
      );
    } catch (error) {
      this.#isBroken ||= !(error instanceof pg.DatabaseError);
      throw translated(error);
    }
  }

  async rollBack(): Promise<boolean> {
    if (this.#isBroken) return false;
    return this.run('ROLLBACK').then(
      () => true,
      () => false,
    );
  }
}

/** Counts and instants as numbers; the ledger's stay far below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary'): unknown {
  if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}

/** The driver's own message and detail may quote values, and its address a password: only its code is passed on. */
function translated(error: unknown): Error {
  const code = codeOf(error);
  if (code === UNIQUE_VIOLATION) return new LostRaceError('lost');
  if (code === INVALID_CATALOG_NAME) return new LedgerNotFoundError('the server has no database of that name');
  return new LedgerUnavailableError(`the ledger's database did not answer or refused (${code})`);
}
