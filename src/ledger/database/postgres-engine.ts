/** PostgreSQL by `pg`: any number of machines on one ledger. */
import pg from 'pg';
import { LedgerNotFoundError, LedgerUnavailableError } from '../errors.ts';
import {
  Ending,
  LostRaceError,
  readErrorCode,
  type SqlDialect,
  type SqlEngine,
  type SqlRow,
  type SqlSession,
  type SqlValue,
  undone,
  type Written,
} from './sql-session.ts';

// One transaction's statements on a connection. Those that are issued without waiting for one another go to the
// server in one round trip, in the order of their issue. Where one fails, the server skips the rest of its round
// trip.

// SQLSTATE (PostgreSQL, appendix A).
const NOT_NULL_VIOLATION = '23502';
const UNIQUE_VIOLATION = '23505';
const INVALID_CATALOG_NAME = '3D000';
/**
 * The routine in which PostgreSQL waits for the synchronous standby. After `pg_cancel_backend` the server
 * reports COMMIT as done, and this routine warns, in any language, that the standby may lack it.
 */
const STANDBY_WAIT = 'SyncRepWaitForLSN';

const REFUSALS: Readonly<Record<string, string>> = {
  '28000': 'refuses the user of LEDGER_URL, or where he connects from',
  '28P01': 'refuses the user or the password of LEDGER_URL',
  '42501': 'refuses its user a right: run `credit-journey setup` as its owner, then deploy/postgres/make-roles.sh',
};

interface Statement {
  text: string;
  values: readonly (SqlValue | undefined)[];
}

interface Waiting extends Statement {
  resolve(result: pg.QueryResult): void;
  reject(error: unknown): void;
}

class PostgresSession implements SqlSession {
  readonly #client: pg.ClientBase;
  #waiting: Waiting[] = [];
  #isSending = false;
  #isOver = false;
  /** The server did not answer, or is gone: the connection takes no further statement. */
  #isBroken = false;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  async rows<Row = SqlRow>(text: string, values: Statement['values'] = []): Promise<Row[]> {
    // A later statement would not be part of the transaction.
    if (this.#isOver) throw new LedgerUnavailableError('the transaction is over');
    const result = await this.#run(text, values);
    return result.rows as Row[];
  }

  /** Goes along with the first statements of the transaction, which fail where it fails. */
  begin(statements: readonly string[]): void {
    for (const statement of statements) this.#run(statement).catch(() => {});
  }

  /** Goes along with statements that are under way. Returns whether what they wrote stays. */
  async end(keep: boolean): Promise<boolean> {
    this.#isOver = true;
    let isOnStandby = true;
    const onNotice = ({ routine }: { routine: string | undefined }) => {
      if (routine === STANDBY_WAIT) isOnStandby = false;
    };
    this.#client.on('notice', onNotice);
    try {
      const { command } = await this.#run(keep ? 'COMMIT' : 'ROLLBACK');
      return command === 'COMMIT' && isOnStandby;
    } finally {
      this.#client.off('notice', onNotice);
    }
  }

  /** `false` where the connection is in an unknown state. */
  async rollBack(): Promise<boolean> {
    this.#isOver = true;
    if (this.#isBroken) return false;
    return this.#run('ROLLBACK').then(
      () => true,
      () => false,
    );
  }

  #run(text: string, values: Statement['values'] = []): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, values, resolve, reject });
      if (this.#isSending) return;
      this.#isSending = true;
      this.#sendSoon();
    });
  }

  /** Once no promise has anything left to do: then nothing more comes before an answer. */
  #sendSoon(): void {
    process.nextTick(() => {
      const batch = this.#waiting.splice(0);
      this.#isSending = batch.length > 0;
      if (!this.#isSending) return;
      sendBatch(this.#client, batch)
        .then(
          (results) => {
            for (const [index, { resolve }] of batch.entries()) resolve(results[index] as pg.QueryResult);
          },
          (error: unknown) => {
            this.#isBroken ||= !(error instanceof pg.DatabaseError);
            for (const { reject } of batch) reject(translateError(error));
          },
        )
        .finally(() => this.#sendSoon());
    });
  }
}

function sendBatch(client: pg.ClientBase, statements: readonly Statement[]): Promise<readonly pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new Batch(statements, (error, results) => {
        if (error) reject(error);
        else resolve(Array.isArray(results) ? results : [results]);
      }),
    );
  });
}

/** The part of the driver's connection that its own queries use. */
interface Wire {
  stream: { cork(): void; uncork(): void };
  parse(statement: { text: string }): void;
  bind(values: { values: readonly (string | Buffer | null)[] }): void;
  describe(portal: { type: 'P' }): void;
  execute(): void;
  sync(): void;
}

/**
 * The extended protocol lets many statements precede one `Sync`; the driver's own query sends one. It does collect
 * many results.
 */
class Batch extends pg.Query {
  constructor(
    statements: readonly Statement[],
    callback: (error: Error | undefined, results: pg.QueryResult | pg.QueryResult[]) => void,
  ) {
    super({ text: '' }, callback);
    this.submit = (connection) => {
      const wire = connection as unknown as Wire;
      wire.stream.cork();
      try {
        for (const { text, values } of statements) {
          wire.parse({ text });
          wire.bind({ values: values.map(toParameter) });
          wire.describe({ type: 'P' });
          wire.execute();
        }
        wire.sync();
      } finally {
        wire.stream.uncork();
      }
      return null;
    };
  }
}

function toParameter(value: SqlValue | undefined): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return String(value);
}

/** The driver's own message and detail may quote values, and its address a password. Only its code is passed on. */
export function translateError(error: unknown): Error {
  const code = readErrorCode(error);
  if (code === UNIQUE_VIOLATION) return new LostRaceError('lost');
  // `insertAttempt` causes this when a pause or a withdrawal came first.
  if (code === NOT_NULL_VIOLATION && (error as pg.DatabaseError).column === 'claimed_at') {
    return new LostRaceError('a pause came first');
  }
  if (code === INVALID_CATALOG_NAME) return new LedgerNotFoundError('the server has no database of that name');
  const what = REFUSALS[code] ?? 'did not answer or refused';
  return new LedgerUnavailableError(`the ledger's database ${what} (${code})`);
}

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

/**
 * Any number that differs from other users of advisory locks in the same database. Writers share the lock, and a
 * migration holds it alone. So the version that a transaction reads under it stays valid until its commit.
 */
const MIGRATION_LOCK = 7_205_759;
/** A migration waits for this long for writers, and then for readers of a table that it changes; they wait meanwhile. */
const MIGRATION_LOCK_TIMEOUT_MS = 10_000;

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
    ...(Array.isArray(guard)
      ? [
          `CREATE TRIGGER ${table}_keep_columns BEFORE UPDATE OF ${guard.join(', ')} ON ${table}
           FOR EACH ROW EXECUTE FUNCTION ledger_keep_rows()`,
        ]
      : []),
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
  `SELECT set_config('lock_timeout', '${MIGRATION_LOCK_TIMEOUT_MS}', true), set_config('statement_timeout', '0', true),
    set_config('idle_in_transaction_session_timeout', '0', true)`,
  'SET LOCAL synchronous_commit = on',
  `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
];
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
    return this.#transaction(BEGIN_READ, async (session) => undone(await work(session)));
  }

  write<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    return this.#transaction(BEGIN_WRITE, work);
  }

  async migrate<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    const client = new pg.Client({ ...this.#connection, application_name: 'credit-journey setup' });
    client.on('error', () => {});
    try {
      await client.connect();
      const session = new PostgresSession(client);
      session.begin(BEGIN_MIGRATION);
      return await finishTransaction(session, work);
    } catch (error) {
      if (error instanceof LedgerUnavailableError) throw error;
      throw error instanceof pg.DatabaseError || readErrorCode(error) !== 'unknown error'
        ? translateError(error)
        : error;
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
        text: 'VACUUM inquiries, attempts, sealed_bodies',
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
      throw translateError(error);
    });
  }

  async #transaction<T>(begin: readonly string[], work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    if (this.#isClosed) throw new LedgerUnavailableError('the ledger is closed');
    const client = await this.#take();
    const session = new PostgresSession(client);
    let isOver = false;
    try {
      session.begin(begin);
      const value = await finishTransaction(session, work);
      isOver = true;
      return value;
    } finally {
      isOver ||= await session.rollBack();
      // A connection in an unknown state is closed, and the server discards what it had not committed.
      client.release(!isOver);
    }
  }
}

async function finishTransaction<T>(
  session: PostgresSession,
  work: (session: SqlSession) => Promise<Written<T>>,
): Promise<T> {
  const { keep, answer } = Ending.of(await work(session));
  const [isKept, value] = await Promise.all([session.end(keep), answer]);
  if (keep && !isKept) throw new LedgerUnavailableError('the database did not commit');
  return value;
}

/** Counts and instants as numbers; the ledger's stay far below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary'): unknown {
  if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}
