/** PostgreSQL by `pg`: any number of machines on one ledger. */
import pg from 'pg';
import { getErrorCode } from '../../base/error-code.ts';
import { LedgerNotFoundError, LedgerUnavailableError } from '../errors.ts';
import { runInSession } from './rows.ts';
import {
  Ending,
  LostRaceError,
  rollBack,
  type SqlDialect,
  type SqlEngine,
  type SqlRow,
  type SqlSession,
  type SqlValue,
  type Written,
} from './sql-session.ts';

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
  '0A000': 'is a standby, which takes no writes: LEDGER_URL must name the primary',
  '22P05': 'cannot keep every text: it needs the encoding UTF8, which an administrator chooses as the database is made',
  '28000': 'refuses the user of LEDGER_URL, or the address of the connection',
  '28P01': 'refuses the user or the password of LEDGER_URL',
  '42501': 'denies its user a privilege: run `credit-journey setup` as its owner, then deploy/postgres/make-roles.sh',
};

/** The driver's own message and detail may quote values, and its address a password. Only its code is passed on. */
function throwTranslated(error: unknown): never {
  const [, otherwise] = CODELESS.find(([words]) => words.test(String(error))) ?? [];
  const code = getErrorCode(error, otherwise ?? 'the connection broke');
  if (code === UNIQUE_VIOLATION) throw new LostRaceError('lost');
  // `insertAttempt` causes this when a pause or a withdrawal came first.
  if (code === NOT_NULL_VIOLATION && (error as pg.DatabaseError).column === 'claimed_at') {
    throw new LostRaceError('a pause came first');
  }
  if (code === INVALID_CATALOG_NAME) throw new LedgerNotFoundError('the server has no database of that name');
  const what = REFUSALS[code] ?? 'did not answer or refused';
  throw new LedgerUnavailableError(`the ledger's database ${what} (${code})`);
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
/** The driver does not tell the two apart. */
const NO_CONNECTION = `no connection within ${CONNECT_TIMEOUT_MS / 1000} s: it is silent, or all ${MAX_CONNECTIONS} connections of this program are busy`;
/** The errors of the driver that have no code: words of each, and what they mean. */
const CODELESS: readonly (readonly [words: RegExp, meaning: string])[] = [
  [/timeout (exceeded|expired)|connection timeout/, NO_CONNECTION],
  [/read timeout/, 'no answer in time'],
  [/SSL/, 'it offers no TLS, and LEDGER_URL asks for it'],
  [/password/, 'it asks for a password, and LEDGER_URL has none'],
];
const IDLE_TIMEOUT_MS = 30_000;
/** PostgreSQL asks for a password once. So no connection outlives a rotated one by more than this. */
const MAX_AGE_S = 30 * 60;
/**
 * A vacuum reads whole tables beside other work, a migration changes them, and a disposal changes all rows of a review:
 * millions of rows take minutes.
 */
const SLOW_ANSWER_TIMEOUT_MS = 60 * 60_000;

/**
 * Any number that differs from other users of advisory locks in the same database. Writers share the lock, and a
 * migration holds it alone. So the version that a transaction reads under it stays valid until its commit.
 */
const MIGRATION_LOCK = 7_205_759;
/** A migration waits for this long for writers, and then for readers of a table that it changes; they wait meanwhile. */
const MIGRATION_LOCK_TIMEOUT_MS = 10_000;

const DIALECT: SqlDialect = {
  // Uses clock_timestamp() instead of now(), which is the transaction's beginning. A wait for a lock must not make a
  // claim look older.
  now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)',
  forUpdate: 'FOR UPDATE',
  // The order of any other collation comes from the machine's libraries. After a failover or an upgrade to other ones,
  // a unique index would no longer find its rows. Then a claim would be made twice.
  textType: 'TEXT COLLATE "C"',
  columns: `SELECT c.relname || '.' || a.attname AS name, CASE WHEN a.attnotnull THEN 1 ELSE 0 END AS is_required
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped`,
  triggerPrelude: [
    // The server would refuse names and reasons that have other characters, each time, as if it were down.
    `DO $$ BEGIN IF current_setting('server_encoding') NOT IN ('UTF8', 'SQL_ASCII') THEN
       RAISE EXCEPTION USING ERRCODE = '22P05'; END IF; END $$`,
    `CREATE FUNCTION ledger_keep_rows() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN RAISE EXCEPTION ''rows of this table are kept as they are''; END'`,
  ],
  refuse: (table, event, when = '') =>
    `CREATE TRIGGER ${table}_no_${event.slice(0, 6).toLowerCase()}
     BEFORE ${event === 'DELETE' ? 'DELETE OR TRUNCATE' : event} ON ${table}
     FOR EACH ${event === 'DELETE' ? 'STATEMENT' : 'ROW'} ${when} EXECUTE FUNCTION ledger_keep_rows()`,
};

// Local to the transaction, because connection poolers refuse start-up parameters. A long statement has no limit of the
// server's own: the driver's one ends the connection, and with it the transaction.
const begin = (mode: string, isLong: boolean) =>
  `BEGIN ISOLATION LEVEL ${mode}; SELECT set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true),
  set_config('statement_timeout', '${isLong ? 0 : STATEMENT_TIMEOUT_MS}', true),
  set_config('idle_in_transaction_session_timeout', '${ANSWER_TIMEOUT_MS}', true)`;
const READS = 'REPEATABLE READ READ ONLY';
// A commit must be on disk with any default of the server, and the row locks require this isolation level.
const WRITES = 'READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = on';
const BESIDE_WRITERS = `SELECT pg_advisory_xact_lock_shared(${MIGRATION_LOCK})`;
// A migration may also do other work between its statements.
const WITHOUT_WRITERS = `SET LOCAL lock_timeout = ${MIGRATION_LOCK_TIMEOUT_MS}; SET LOCAL idle_in_transaction_session_timeout = 0;
  SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;

/**
 * A pool for the database that the address names; the first transaction connects. An administrator makes the database
 * itself: each transaction throws `LedgerNotFoundError` where the server has none of that name.
 */
export class PostgresEngine implements SqlEngine {
  readonly #pool: pg.Pool;

  constructor(url: string) {
    // Counts and instants are numbers; the ledger's stay far below 2^53.
    const types = new pg.TypeOverrides();
    types.setTypeParser(pg.types.builtins.INT8, Number);
    this.#pool = new pg.Pool({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      types,
      application_name: 'credit-journey',
      max: MAX_CONNECTIONS,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      maxLifetimeSeconds: MAX_AGE_S,
      // Statements that are issued without waiting for one another go to the server in one round trip.
      pipeline: true,
    });
    // A broken connection emits an event, in the pool or in use; without a listener the event ends the process. The
    // statement in progress fails by itself.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  read<T>(work: (session: SqlSession) => Promise<T>, isLong = false): Promise<T> {
    return this.#transaction(begin(READS, isLong), async (session) => rollBack(await work(session)), isLong);
  }

  write<T>(work: (session: SqlSession) => Promise<Written<T>>, isLong = false): Promise<T> {
    return this.#transaction(`${begin(WRITES, isLong)}; ${BESIDE_WRITERS}`, work, isLong);
  }

  migrate<T>(work: (session: SqlSession) => Promise<Written<T>>): Promise<T> {
    return this.#transaction(`${begin(WRITES, true)}; ${WITHOUT_WRITERS}`, work, true);
  }

  /** Frees the space of old row versions. Without the right to vacuum a table, the server sends a warning. */
  async scrub(): Promise<boolean> {
    const { query, release } = await this.#connect(true);
    try {
      const { notices } = await query('VACUUM inquiries, attempts, sealed_bodies');
      release();
      return !notices.some(({ severity }) => severity === 'WARNING');
    } catch {
      release(true);
      return false;
    }
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  /** @param isLong a statement may wait long for its answer */
  async #connect(isLong: boolean) {
    if (this.#pool.ending) throw new LedgerUnavailableError('the ledger is closed');
    // The driver throws at once where it cannot read the file of a certificate.
    const connect = async () => this.#pool.connect();
    const client = await connect().catch(throwTranslated);
    const notices: { severity: string | undefined; routine: string | undefined }[] = [];
    const onNotice = (notice: (typeof notices)[number]) => notices.push(notice);
    client.on('notice', onNotice);
    let failure: unknown;
    return {
      query: async (text: string, values?: readonly (SqlValue | undefined)[]) => {
        // `query_timeout` of one query is missing from the driver's types.
        const statement = {
          text,
          query_timeout: isLong ? SLOW_ANSWER_TIMEOUT_MS : ANSWER_TIMEOUT_MS,
          values: values && [...values],
        };
        // After one failure the server refuses all statements of the transaction. They were sent already, and the first
        // error is the reason.
        const { rows, command } = await client.query<SqlRow>(statement).catch((error: unknown) => {
          failure ??= error;
          throwTranslated(failure);
        });
        return { rows, command, notices };
      },
      /** Closes a connection in an unknown state. The server discards what that had not committed. */
      release: (isUnknown = false) => {
        client.off('notice', onNotice);
        client.release(isUnknown);
      },
    };
  }

  async #transaction<T>(
    begin: string,
    work: (session: SqlSession) => Promise<Written<T>>,
    isLong: boolean,
  ): Promise<T> {
    const { query, release } = await this.#connect(isLong);
    let isBegun = false;
    let isEnded = false;
    try {
      // By itself: without it, each statement that follows would be a transaction of its own.
      await query(begin);
      isBegun = true;
      const written = await runInSession(DIALECT, async (text, values) => (await query(text, values)).rows, work);
      const { keep, answer } = Ending.of(written);
      // The end goes along with statements that are under way. Where one of them has failed, the server commits nothing.
      const [{ command, notices }, value] = await Promise.all([query(keep ? 'COMMIT' : 'ROLLBACK'), answer]);
      isEnded = true;
      const isKept = command === 'COMMIT' && !notices.some(({ routine }) => routine === STANDBY_WAIT);
      if (keep && !isKept) throw new LedgerUnavailableError('the database did not commit');
      return value;
    } finally {
      isEnded ||= await query('ROLLBACK').then(
        () => true,
        () => false,
      );
      // A replica begins no transaction that writes. By now the address may lead to the new primary.
      release(!isEnded || !isBegun);
    }
  }
}
