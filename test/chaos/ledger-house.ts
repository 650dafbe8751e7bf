/** The ledger of a world on either engine, and the faults between it and the workers. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../support/postgres.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

export interface LedgerHouse {
  /** The workers' address: on PostgreSQL with their own role, once `furnish` has run. */
  workersUrl: string;
  /** The address for copies of the HTTP API, with their own role. */
  apiUrl: string;
  /** Straight to it. */
  ownUrl: string;
  /** Blocks all writes for this long. Clients can still connect. */
  lock(forMs: number): Promise<void>;
  /** Call this once the tables exist, and before the first program writes to them. */
  furnish(): Promise<void>;
  /**
   * No write is taken any more. `tell`: to processes that have the file open. Resolves with how many writes a server
   * has refused; those to a file are refused in the writers' own processes.
   */
  full(forMs: number, tell: (isFull: boolean) => void): Promise<number>;
  unreachable(forMs: number): Promise<void>;
  /** PostgreSQL only, as the rest. */
  slow(forMs: number, delayMs: number): Promise<void>;
  /** The next commit is made, and its answer is lost. */
  loseCommitAnswer(): Promise<void>;
  restart(downMs: number): Promise<void>;
  /** All of that is over. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

export function startLedgerHouse(engine: 'PostgreSQL' | 'SQLite', directory: string): Promise<LedgerHouse> {
  return engine === 'PostgreSQL' ? postgresHouse() : sqliteHouse(directory);
}

/** How long the next commit is waited for. */
const COMMIT_WITHIN_MS = 3_000;
const CUT_AFTER_COMMIT_MS = 300;

async function postgresHouse(): Promise<LedgerHouse> {
  const postgres = await startPostgres();
  const ownUrl = await postgres.url('ledger');
  const url = new URL(ownUrl);
  const wire = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(wire.port);
  const apiUrl = new URL(url);
  apiUrl.username = API_ROLE;
  url.username = WORKERS_ROLE;
  const whileMs = async (forMs: number, begin: () => void) => {
    begin();
    await delay(forMs);
    wire.heal();
  };
  return {
    ownUrl,
    workersUrl: url.href,
    apiUrl: apiUrl.href,
    lock: (forMs) =>
      withClient(ownUrl, async (client) => {
        await client.query('BEGIN');
        await client.query('LOCK TABLE attempts IN ACCESS EXCLUSIVE MODE');
        await delay(forMs);
        await client.query('ROLLBACK');
      }),
    furnish: () =>
      withClient(ownUrl, async (client) => {
        await putInFullDisk(client);
        await makeRoles(client, decodeURIComponent(url.password));
      }),
    full: (forMs) =>
      withClient(ownUrl, async (client) => {
        await client.query(`SELECT setval('chaos_refused_writes', 1, false)`);
        // Only this session holds it: after a kill of the server the disk has room again.
        await client.query(`SELECT pg_advisory_lock(${NO_ROOM})`);
        await delay(forMs);
        const { rows } = await client.query('SELECT last_value, is_called FROM chaos_refused_writes');
        return rows[0]?.is_called ? Number(rows[0].last_value) : 0;
      }),
    unreachable: (forMs) => whileMs(forMs, wire.cut),
    slow: (forMs, delayMs) => whileMs(forMs, () => wire.slowDown(delayMs)),
    async loseCommitAnswer() {
      const isCut = wire.cutAfterSending('COMMIT\0').then(() => true);
      if (!(await Promise.race([isCut, delay(COMMIT_WITHIN_MS, false)]))) {
        wire.heal();
        throw new Error('nothing was committed');
      }
      await delay(CUT_AFTER_COMMIT_MS);
      wire.heal();
    },
    async restart(downMs) {
      await postgres.kill();
      await delay(downMs);
      await postgres.restart();
    },
    heal: async () => wire.heal(),
    async stop() {
      await wire.close();
      await postgres.stop();
    },
  };
}

/** The lock that simulates a full disk. The ledger's own locks have other numbers. */
const NO_ROOM = 53_100;

/**
 * Simulates a full disk: the server answers and refuses every write (SQLSTATE 53100) while a client holds the lock. A
 * trigger on every table of the ledger checks that. A sequence counts the refusals, since it survives the rollback.
 */
async function putInFullDisk(client: pg.Client): Promise<void> {
  await client.query('CREATE SEQUENCE chaos_refused_writes');
  await client.query(`
    CREATE FUNCTION chaos_full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF pg_try_advisory_xact_lock_shared(${NO_ROOM}) THEN
        RETURN NULL;
      END IF;
      PERFORM nextval('chaos_refused_writes');
      RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device';
    END $$`);
  const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  for (const { tablename } of rows) {
    const table = client.escapeIdentifier(String(tablename));
    await client.query(`
      CREATE TRIGGER chaos_full_disk BEFORE INSERT OR UPDATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION chaos_full_disk()`);
  }
}

const API_ROLE = 'ledger_api';
const WORKERS_ROLE = 'ledger_worker';

const GRANTS = new URL('../../deploy/postgres/roles.sql', import.meta.url);

/** Makes the roles as a deployer does. A program that needs more than its grants fails in a storm. */
async function makeRoles(client: pg.Client, password: string): Promise<void> {
  await client.query(await readFile(GRANTS, 'utf8'));
  for (const role of [API_ROLE, WORKERS_ROLE]) {
    await client.query(`ALTER ROLE ${role} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
    // The trigger runs as who writes.
    await client.query(`GRANT USAGE ON SEQUENCE chaos_refused_writes TO ${role}`);
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // It may be killed while it waits: the next query says so.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function sqliteHouse(directory: string): Promise<LedgerHouse> {
  const [here, away] = [join(directory, 'ledger'), join(directory, 'ledger-is-away')];
  const file = join(here, 'ledger.db');
  await mkdir(here);
  const isBack = async () => {
    if (existsSync(away)) await rename(away, here);
  };
  const none = () => Promise.reject(new Error('not with a file'));
  return {
    ownUrl: `file:${file}`,
    workersUrl: `file:${file}`,
    apiUrl: `file:${file}`,
    async lock(forMs) {
      const database = new DatabaseSync(file, { timeout: 1_000 });
      try {
        database.exec('BEGIN IMMEDIATE');
        await delay(forMs);
        database.exec('ROLLBACK');
      } finally {
        database.close();
      }
    },
    async full(forMs, tell) {
      tell(true);
      await delay(forMs);
      tell(false);
      return 0;
    },
    async unreachable(forMs) {
      // The directory moves away and back: the file keeps its identity.
      await rename(here, away);
      await delay(forMs);
      await isBack();
    },
    furnish: async () => {},
    slow: none,
    loseCommitAnswer: none,
    restart: none,
    heal: isBack,
    stop: async () => {},
  };
}
