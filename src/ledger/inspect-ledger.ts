/** Reads a ledger for `doctor`: needs no key, and makes or migrates nothing. */
import { toUtcInstant } from '../base/instants.ts';
import { readDurability } from './database/durability.ts';
import { mayWrite, readIdentity, SCHEMA_VERSION } from './database/schema.ts';
import type { SqlSession } from './database/sql-session.ts';
import type { Row } from './database/tables.ts';
import { countTasks } from './holds/holds.ts';
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
  return inspect(url, async (tx) => {
    const identity = await readIdentity(tx);
    const { schemaVersion = 0, oldestWriter = 0 } = identity ?? {};
    return {
      schemaVersion,
      knownSchemaVersion: SCHEMA_VERSION,
      oldestWriter,
      durability: await readDurability(tx),
      content:
        identity && schemaVersion >= SCHEMA_VERSION && mayWrite(identity) ? await readContent(tx, identity) : undefined,
      clock: await readClock(tx),
    };
  });
}

/**
 * Reads from a ledger, as `inspectLedger` does.
 *
 * @throws LedgerNotFoundError, LedgerUnavailableError
 */
export async function inspect<T>(url: string, work: (read: SqlSession) => Promise<T>): Promise<T> {
  const engine = await openEngine(url);
  try {
    return await engine.read(work);
  } finally {
    await engine.close();
  }
}

async function readContent(tx: SqlSession, { ledgerId, environment }: Row<'ledger_identity'>) {
  const keys = await tx.read<{ keyId: string; secret: number; reports: number }>(
    `SELECT key_id, max(secret) AS secret, sum(reports) AS reports
     FROM (SELECT key_id, 1 AS secret, 0 AS reports FROM ledger_identity
       UNION ALL SELECT key_id, 0, 1 FROM sealed_bodies WHERE key_id IS NOT NULL) wrapped
     GROUP BY key_id ORDER BY secret DESC, key_id`,
  );
  return {
    ledgerId,
    environment,
    wrappedUnder: keys.map(({ secret, ...key }) => ({ ...key, secret: secret === 1 })),
    needsPerson: (await countTasks(tx)).reduce((sum, { count }) => sum + count, 0),
    lost: (await readRestore(tx)).lost,
    pauses: await readPauses(tx, { inForce: true }),
  };
}

async function readClock(session: SqlSession) {
  const askedAtMs = Date.now();
  const [row] = await session.read<{ now: number }>(`SELECT ${session.dialect.now} AS now`);
  return { now: toUtcInstant(row?.now ?? 0), askedAtMs, answeredAtMs: Date.now() };
}
