/** PostgreSQL by `pg`: any number of machines on one ledger. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { LedgerUnavailableError } from '../errors.ts';
import { PostgresSession, translated } from './postgres-session.ts';
import { codeOf, type SqlDialect, type SqlEngine, type SqlSession, type Written } from './sql-session.ts';

/** A database that is not reached within this time counts as unavailable; the journey waits durably. */
const CONNECT_TIMEOUT_MS = 3_000;
/** Statements take a few milliseconds; the lock of an inquiry is held for one transaction of another worker. */
const LOCK_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 4_000;
/** Our own limit for a silent server. It is above the server's own, so that the server's answer comes first. */
const ANSWER_TIMEOUT_MS = 5_000;
/** A worker makes a few dozen attempts at once, each for some milliseconds in the database. */
const MAX_CONNECTIONS = 10;
const IDLE_TIMEOUT_MS = 30_000;
/** PostgreSQL asks for a password once. So no connection outlives a rotated one by more than this. */
const MAX_AGE_S = 30 * 60;
/** A vacuum reads whole tables beside other work: millions of rows take minutes. */
const VACUUM_TIMEOUT_MS = 10 * 60_000;

// SQLSTATE (PostgreSQL, appendix A).
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Any number that differs from other users of advisory locks in the same database. Writers share the lock, and a
 * migration holds it alone. So the version that a transaction reads under it stays valid until its commit.
 */
const MIGRATION_LOCK = 7_205_759;
/**
 * How long a migration waits for the tables, while all others wait too. A dump or a report may hold the tables for
 * hours. After this time the others continue, and the migration tries again.
 */
const TABLE_LOCK_TIMEOUT_MS = 500;
const TABLE_LOCK_PAUSE_MS = 1_500;
const MIGRATION_PATIENCE_MS = 10 * 60_000;

const DIALECT: SqlDialect = {
  // Not now(), which is the transaction's beginning: waits for a lock must not make a claim look older than it is.
  now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)',
  forUpdate: 'FOR UPDATE',
  bytes: 'BYTEA',
  // Not to_regclass(), which may answer from a cache that is older than the lock.
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
    ...(guard === 'keepSealed'
      ? [
          `CREATE TRIGGER ${table}_keep_sealed BEFORE UPDATE OF body ON ${table}
           FOR EACH ROW WHEN (NEW.body IS NOT NULL) EXECUTE FUNCTION ledger_keep_rows()`,
        ]
      : []),
  ],
};

// Local to the transaction, because connection poolers refuse start-up parameters.
const SETTINGS = `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true),
  set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', true),
  set_config('idle_in_transaction_session_timeout', '${ANSWER_TIMEOUT_MS}', true)`;
// A commit must be on disk with any default of the server, and the row locks require this isolation level.
const BEGIN_WRITE = [
  'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
  SETTINGS,
  'SET LOCAL synchronous_commit = on',
  `SELECT pg_advisory_xact_lock_shared(${MIGRATION_LOCK})`,
];
const BEGIN_MIGRATION = [
  'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
  'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
  `SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}; SET LOCAL synchronous_commit = on`,
].join('; ');
/** Sessions that hold one of the tables `$1`, so that an operator sees what the migration waits for. */
const HOLDERS = `SELECT DISTINCT a.pid, a.application_name AS name
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE c.relname = ANY ($1) AND l.granted AND a.pid <> pg_backend_pid() ORDER BY a.pid`;
const BEGIN_READ = ['BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', SETTINGS];

/**
 * Opens a pool on the database that the address names. An administrator makes the database itself.
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
    maxLifetimeSeconds: MAX_AGE_S,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  // A broken connection emits an event, in the pool or in use; without a listener the event ends the process. The
  // statement in progress fails by itself.
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

  /** @param connection for statements that take longer than the pool permits */
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
      return await finished(session, work);
    } catch (error) {
      if (error instanceof LedgerUnavailableError) throw error;
      throw error instanceof pg.DatabaseError || codeOf(error) !== 'unknown error' ? translated(error) : error;
    } finally {
      // The server discards what the transaction had not committed.
      await client.end().catch(() => {});
    }
  }

  /** Frees the space of old row versions. Without the right to vacuum a table, the server sends a warning. */
  async scrub(): Promise<boolean> {
    if (this.#isClosed) throw new LedgerUnavailableError('the ledger is closed');
    const client = await this.#take();
    let isDone = true;
    const onNotice = ({ severity }: { severity: string | undefined }) => {
      if (severity === 'WARNING') isDone = false;
    };
    client.on('notice', onNotice);
    try {
      // `query_timeout` of one query is missing from the driver's types.
      const patient = { query_timeout: VACUUM_TIMEOUT_MS };
      await client.query({
        text: 'VACUUM inquiries, attempts, reports, derived_documents, refusal_bodies',
        ...patient,
      });
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

  async #take(): Promise<pg.PoolClient> {
    return this.#pool.connect().catch((error: unknown) => {
      throw translated(error);
    });
  }

  async #transaction<T>(begin: readonly string[], work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    if (this.#isClosed) throw new LedgerUnavailableError('the ledger is closed');
    const client = await this.#take();
    const session = new PostgresSession(client);
    let isOver = false;
    try {
      session.begin(begin);
      const value = await finished(session, work);
      isOver = true;
      return value;
    } finally {
      isOver ||= await session.rollBack();
      // A connection in an unknown state is closed, and the server discards what it had not committed.
      client.release(!isOver);
    }
  }
}

async function finished<T>(session: PostgresSession, work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
  const { keep, value } = await work(session);
  const [isKept, answer] = await Promise.all([session.end(keep), value]);
  if (keep && !isKept) throw new LedgerUnavailableError('the database did not commit');
  return answer;
}

/** Begins a transaction that holds the tables alone. Between its attempts other transactions write. */
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

/** Counts and instants as numbers; the ledger's stay far below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary'): unknown {
  if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}
