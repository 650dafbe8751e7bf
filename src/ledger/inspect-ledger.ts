/** Reads a ledger for `doctor`: needs no key, and makes or migrates nothing. */
import { utcInstant } from '../base/instants.ts';
import type { SeenAttempt } from '../messages/ledger-watch.ts';
import type { Environment } from '../model/products.ts';
import { type Durability, readDurability } from './database/durability.ts';
import { readOldestWriter, readSchemaVersion, SCHEMA_VERSION } from './database/schema.ts';
import type { SqlDialect, SqlSession, Unsealed } from './database/sql-session.ts';
import { readCounts } from './holds/work.ts';
import { openEngine } from './open-ledger.ts';
import { type Pause, readPauses } from './pauses.ts';
import { readRestore } from './restores.ts';

export interface LedgerInspection {
  engine: 'sqlite' | 'postgres';
  /** 0 where the database holds no ledger. */
  schemaVersion: number;
  /** The version that this code works on. */
  knownSchemaVersion: number;
  /** The lowest version that may write. A newer ledger may still permit this program. */
  oldestWriter: number;
  /** Whether a commit survives a power cut and a failover. */
  durability: Durability;
  /** Absent where this program may not write to these tables: then it reads nothing more. */
  content?: LedgerContent;
  /** By the database's clock, RFC 3339, and by ours before and after the question, milliseconds since the epoch. */
  clock: { now: string; askedAtMs: number; answeredAtMs: number };
}

export interface LedgerContent {
  ledgerId: string;
  environment: Environment;
  /** Keys of the key ring that are in use: for the ledger's own secret, or for so many reports and lists of changes. */
  wrappedUnder: { keyId: string; secret: boolean; reports: number }[];
  /** How many rows the work queue has. */
  needsPerson: number;
  /** The ledger is an older copy of itself: this attempt was seen and is missing, and no operator has accepted that. */
  lost?: SeenAttempt;
  /** The pauses in force. */
  pauses: Pause[];
}

/** @throws LedgerNotFoundError, LedgerUnavailableError */
export async function inspectLedger(url: string): Promise<LedgerInspection> {
  const kind = url.startsWith('file:') ? 'sqlite' : 'postgres';
  return inspect(url, async ({ session, dialect }) => {
    const schemaVersion = await readSchemaVersion(session, dialect);
    const isOlder = schemaVersion < SCHEMA_VERSION;
    const oldestWriter = isOlder ? 0 : await readOldestWriter(session);
    return {
      engine: kind,
      schemaVersion,
      knownSchemaVersion: SCHEMA_VERSION,
      oldestWriter,
      durability: await readDurability({ session, dialect }),
      ...(isOlder || oldestWriter > SCHEMA_VERSION ? {} : { content: await readContent(session, dialect) }),
      clock: await readClock(session, dialect),
    };
  });
}

/**
 * Reads from a ledger, as `inspectLedger` does.
 *
 * @throws LedgerNotFoundError, LedgerUnavailableError
 */
export async function inspect<T>(url: string, work: (read: Unsealed) => Promise<T>): Promise<T> {
  const engine = await openEngine({ url });
  try {
    return await engine.read((session) => work({ session, dialect: engine.dialect }));
  } finally {
    await engine.close();
  }
}

export function readPausesInForce(tx: Pick<Unsealed, 'session'>): Promise<Pause[]> {
  return readPauses(tx, { inForce: true });
}

async function readContent(session: SqlSession, dialect: SqlDialect): Promise<LedgerContent> {
  const [identity] = await session.rows<{ ledger_id: string; environment: Environment; secret_key_id: string }>(
    'SELECT ledger_id, environment, secret_key_id FROM ledger_identity',
  );
  const rows = await session.rows<{ key_id: string; reports: number }>(
    `SELECT key_id, count(*) AS reports FROM sealed_bodies WHERE wrapped_key IS NOT NULL GROUP BY key_id ORDER BY key_id`,
  );
  const { lost } = await readRestore({ session });
  const reports = new Map(rows.map((row) => [row.key_id, row.reports]));
  const secretKeyId = identity?.secret_key_id ?? '';
  return {
    ledgerId: identity?.ledger_id ?? '',
    environment: identity?.environment ?? 'sandbox',
    wrappedUnder: [...new Set([secretKeyId, ...reports.keys()])].map((keyId) => ({
      keyId,
      secret: keyId === secretKeyId,
      reports: reports.get(keyId) ?? 0,
    })),
    needsPerson: (await readCounts(session, dialect)).reduce((sum, { count }) => sum + count, 0),
    ...(lost ? { lost } : {}),
    pauses: await readPausesInForce({ session }),
  };
}

async function readClock(session: SqlSession, dialect: SqlDialect): Promise<LedgerInspection['clock']> {
  const askedAtMs = Date.now();
  const [row] = await session.rows<{ now: number }>(`SELECT ${dialect.now} AS now`);
  return { now: utcInstant(row?.now ?? 0), askedAtMs, answeredAtMs: Date.now() };
}
