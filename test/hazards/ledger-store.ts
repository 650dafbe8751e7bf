/** A ledger's database as its administrator handles it while no worker runs: backed up, restored, lost. */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { PostgresServer } from '../support/postgres.ts';

export interface LedgerStore {
  url: string;
  /** Keeps a copy under this name. */
  backUp(name: string): Promise<void>;
  /** Puts a copy in the place of what is there. */
  restore(name: string): Promise<void>;
  /** Leaves an empty database. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

export function sqliteStore(directory: string): LedgerStore {
  const file = join(directory, 'ledger.db');
  const copyOf = (name: string) => join(directory, `copy-${name}.db`);
  const empty = async () => {
    for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true });
  };
  return {
    url: `file:${file}`,
    // The last handle that closes leaves everything in this one file.
    backUp: (name) => cp(file, copyOf(name)),
    async restore(name) {
      await empty();
      await cp(copyOf(name), file);
    },
    empty,
    close: async () => {},
  };
}

export async function postgresStore(server: PostgresServer, database: string): Promise<LedgerStore> {
  const url = await server.url(database);
  const admin = new pg.Client({ connectionString: url.replace(/[^/]+$/, 'postgres') });
  await admin.connect();
  const nameOf = (name: string) => admin.escapeIdentifier(name);
  const copyOf = (name: string) => nameOf(`${database}_${name}`);
  // FORCE: a pool that was closed may take a moment to be gone.
  const drop = (name: string) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  return {
    url,
    async backUp(name) {
      await drop(copyOf(name));
      await admin.query(`CREATE DATABASE ${copyOf(name)} TEMPLATE ${nameOf(database)} STRATEGY FILE_COPY`);
    },
    async restore(name) {
      await drop(nameOf(database));
      await admin.query(`CREATE DATABASE ${nameOf(database)} TEMPLATE ${copyOf(name)} STRATEGY FILE_COPY`);
    },
    async empty() {
      await drop(nameOf(database));
      await admin.query(`CREATE DATABASE ${nameOf(database)} STRATEGY FILE_COPY`);
    },
    close: () => admin.end(),
  };
}
