/**
 * Makes a ledger's tables, or brings older ones up to date. Called by `setup`, and where a ledger for the sandbox is
 * made.
 */
import { randomUUID } from 'node:crypto';
import type { Environment } from '../../model/products.ts';
import type { KeyWrapper, WrappedKey } from '../../protection/keys/key-ring.ts';
import { LedgerCipher } from '../../protection/sealed/sealing.ts';
import { beginChain } from '../audit/audit-chain.ts';
import { newLedgerSecret, openLedgerSecret, readLedgerSecret } from '../database/ledger-secret.ts';
import { migrate, SCHEMA_VERSION, schemaVersionOf, tablesAt } from '../database/schema.ts';
import type { SqlEngine, SqlSession } from '../database/sql-session.ts';
import { LedgerUnavailableError } from '../errors.ts';

interface MigrateOptions {
  environment: Environment;
  keyRing: KeyWrapper;
  /** Called with a sentence for each step. */
  onProgress?: ((step: string) => void) | undefined;
}

/**
 * Runs everything in one transaction, with no other writer beside it. Any number of processes may call it at once: one
 * does the work.
 *
 * @throws LedgerUnavailableError where the database does not answer, or others hold the tables all the time
 */
export async function migrateLedger(engine: SqlEngine, options: MigrateOptions): Promise<void> {
  const { dialect } = engine;
  const { onProgress = () => {} } = options;
  const version = await engine.read((session) => schemaVersionOf(session, dialect));
  if (version >= SCHEMA_VERSION) return;
  const { ledgerId, secret, cipher } = await secretOf(engine, version, options.keyRing);
  const onWait = (whatFor: string) => onProgress(`waiting for ${whatFor} to let go of the tables`);
  await engine.migrate(
    tablesAt(version, dialect),
    async (session) => {
      // Read again, now without other writers: another process may have been first.
      const from = await schemaVersionOf(session, dialect);
      if (from >= SCHEMA_VERSION) return { keep: false, value: undefined };
      if (from !== version) throw new LedgerUnavailableError('another process changes the tables: try again');
      await migrate(session, dialect, from, SCHEMA_VERSION, (to) => {
        if (from > 0) onProgress(`tables: version ${to - 1} to ${to}`);
      });
      if (from === 0) {
        await insertIdentity(session, dialect.now, options.environment, { ledgerId, secret });
        await beginChain(session, cipher);
      }
      return { keep: true, value: undefined };
    },
    onWait,
  );
}

/** Before the transaction: a key management service may be slow. */
async function secretOf(engine: SqlEngine, version: number, keyRing: KeyWrapper) {
  const ledgerId =
    version === 0
      ? `ledger-${randomUUID()}`
      : await engine.read(async (session) => {
          const [row] = await session.rows<{ ledger_id: string }>('SELECT ledger_id FROM ledger_identity');
          if (!row) throw new LedgerUnavailableError('the tables at the ledger address hold no identity');
          return row.ledger_id;
        });
  const secret =
    version === 0
      ? await newLedgerSecret(keyRing, ledgerId)
      : await engine.read((session) => readLedgerSecret(session));
  if (!secret) throw new LedgerUnavailableError('the tables at the ledger address hold no identity');
  return { ledgerId, secret, cipher: new LedgerCipher(ledgerId, await openLedgerSecret(keyRing, ledgerId, secret)) };
}

async function insertIdentity(
  session: SqlSession,
  now: string,
  environment: Environment,
  { ledgerId, secret }: { ledgerId: string; secret: WrappedKey },
): Promise<void> {
  await session.rows(
    `INSERT INTO ledger_identity (only_row, ledger_id, environment, created_at, secret_key_id, secret_wrapped)
     VALUES (1, $1, $2, ${now}, $3, $4)`,
    [ledgerId, environment, secret.keyId, secret.bytes],
  );
}
