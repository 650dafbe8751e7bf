/** Reads a ledger for `doctor`: needs no key, and makes or migrates nothing. */
import { omitUndefined } from '../base/defined.ts';
import { toUtcInstant } from '../base/instants.ts';
import { readDurability } from './database/durability.ts';
import { readRows } from './database/rows.ts';
import { readOldestWriter, readSchemaVersion, SCHEMA_VERSION } from './database/schema.ts';
import type { SqlDialect, SqlSession, Unsealed } from './database/sql-session.ts';
import { countWork } from './holds/work.ts';
import { openEngine } from './open-ledger.ts';
import { readPauses } from './pauses.ts';
import { readRestore } from './restores.ts';

export type LedgerInspection = Awaited<ReturnType<typeof inspectLedger>>;

/**
 * Reads versions, durability, content and clock. A version is 0 where the database holds no ledger. `content` is absent where
 * this program may not write to these tables. The clock is the database's, between two readings of ours.
 *
 * @throws LedgerNotFoundError, LedgerUnavailableError
 */
export async function inspectLedger(url: string) {
  const engine: 'sqlite' | 'postgres' = url.startsWith('file:') ? 'sqlite' : 'postgres';
  return inspect(url, async ({ session, dialect }) => {
    const schemaVersion = await readSchemaVersion(session, dialect);
    const isOlder = schemaVersion < SCHEMA_VERSION;
    const oldestWriter = isOlder ? 0 : await readOldestWriter(session);
    return {
      engine,
      schemaVersion,
      knownSchemaVersion: SCHEMA_VERSION,
      oldestWriter,
      durability: await readDurability({ session, dialect }),
      content: isOlder || oldestWriter > SCHEMA_VERSION ? undefined : await readContent(session, dialect),
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

async function readContent(session: SqlSession, dialect: SqlDialect) {
  const [identity] = await readRows(session, 'ledger_identity', { onlyRow: 1 });
  const rows = await session.read<{ keyId: string; reports: number }>(
    `SELECT key_id, count(*) AS reports FROM sealed_bodies WHERE wrapped_key IS NOT NULL GROUP BY key_id ORDER BY key_id`,
  );
  const { lost } = await readRestore({ session });
  const reports = new Map(rows.map((row) => [row.keyId, row.reports]));
  const secretKeyId = identity?.secretKeyId ?? '';
  return {
    ledgerId: identity?.ledgerId ?? '',
    environment: identity?.environment ?? 'sandbox',
    wrappedUnder: [...new Set([secretKeyId, ...reports.keys()])].map((keyId) => ({
      keyId,
      secret: keyId === secretKeyId,
      reports: reports.get(keyId) ?? 0,
    })),
    needsPerson: (await countWork({ session, dialect })).reduce((sum, { count }) => sum + count, 0),
    ...omitUndefined({ lost }),
    pauses: await readPauses({ session }, { inForce: true }),
  };
}

async function readClock(session: SqlSession, dialect: SqlDialect) {
  const askedAtMs = Date.now();
  const [row] = await session.read<{ now: number }>(`SELECT ${dialect.now} AS now`);
  return { now: toUtcInstant(row?.now ?? 0), askedAtMs, answeredAtMs: Date.now() };
}
