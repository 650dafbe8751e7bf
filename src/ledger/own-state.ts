/** What a ledger says of itself while it is in use: that it answers, who may write, and whether commits can be lost. */
import { utcInstant } from '../base/instants.ts';
import { type Durability, ON_ONE_MACHINE, readDurability } from './database/durability.ts';
import { oldestWriterOf, SCHEMA_VERSION } from './database/schema.ts';
import type { SqlEngine } from './database/sql-session.ts';
import { LedgerChangedError } from './errors.ts';
import type { Ledger } from './port.ts';

/** A ledger beside its database: it also says how that keeps what it confirms. */
export interface OpenedLedger extends Ledger {
  /** Reads only; as far as the database shows it. */
  durability(): Promise<Durability>;
}

export async function readClock(engine: SqlEngine): Promise<{ now: string }> {
  const [row] = await engine.read((session) =>
    session.rows<{ now: number }>(`SELECT ${engine.dialect.now} AS now FROM ledger_identity`),
  );
  if (!row) throw new LedgerChangedError('the database that answers holds no ledger');
  return { now: utcInstant(row.now) };
}

export async function readMayWrite(engine: SqlEngine): Promise<boolean> {
  return (await engine.read(oldestWriterOf)) <= SCHEMA_VERSION;
}

/** On one of the connections that are there. What a role or a database is set to shows once it is a newer one. */
export async function readOwnDurability(engine: SqlEngine): Promise<Durability> {
  // SQLite needs no row locks.
  return engine.dialect.forUpdate === '' ? ON_ONE_MACHINE : engine.read(readDurability);
}
