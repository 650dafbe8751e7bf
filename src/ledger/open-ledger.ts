/** Opens the ledger that a configuration names, or makes it where that is allowed. */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pick } from '../base/defined.ts';
import type { Environment } from '../model/products.ts';
import type { KeyWrapper } from '../protection/keys/key-ring.ts';
import { toHeadColumns } from './audit/audit-chain.ts';
import { PostgresEngine } from './database/postgres-engine.ts';
import { insertRow, updateRows } from './database/rows.ts';
import { MIGRATIONS, mayWrite, readIdentity, SCHEMA_VERSION, VERSIONS } from './database/schema.ts';
import type { SqlEngine } from './database/sql-session.ts';
import { openSqlite } from './database/sqlite-engine.ts';
import type { Row } from './database/tables.ts';
import { Transactions } from './database/transactions.ts';
import { createLedgerSecret, openCipher } from './database/wrapped-keys.ts';
import { LedgerChangedError, LedgerNotFoundError, LedgerSchemaError, LedgerUnavailableError } from './errors.ts';
import { type Ledger, makeLedger } from './ledger.ts';

export interface OpenLedgerOptions {
  /** `file:<path>` (relative, absolute, or `file:///…`) or `postgres://…`. */
  url: string;
  environment: Environment;
  keyRing: KeyWrapper;
  /** The only accepted id. */
  expectedId?: string;
  /** Makes tables and identity where they are missing and no id is expected: for `setup`, and workers of the sandbox. */
  create?: boolean;
  /** Migrates older tables. Only `setup` does this, never a worker. */
  migrate?: boolean;
  /** With `create` or `migrate`: called with a sentence for each step. */
  onProgress?: (step: string) => void;
}

type IdentityRow = Row<'ledger_identity'>;

/**
 * @throws LedgerNotFoundError where there is none and `create` is not set
 * @throws LedgerChangedError where it belongs to another environment, or has another id than expected
 * @throws LedgerSchemaError where its tables need newer code, or are older and `migrate` is not set
 * @throws LedgerUnavailableError where it does not answer
 * @throws UnknownKeyError where the key ring lacks the key that the ledger's secret is wrapped under
 */
export async function openLedger(options: OpenLedgerOptions): Promise<Ledger> {
  // No empty ledger takes the place of a known one that is away, such as on a volume that is not mounted.
  const create = options.create === true && options.expectedId === undefined;
  const engine = await openEngine(options.url, create);
  try {
    const row = await engine.read(readIdentity);
    // Checks the owner at once, so that a wrong address never migrates another environment's ledger.
    if (row) requireExpected(row, options);
    const mayChange = row ? options.migrate && row.schemaVersion < SCHEMA_VERSION : create;
    const found = requireUsable(mayChange ? await migrateLedger(engine, row?.schemaVersion ?? 0, options) : row);
    requireExpected(found, options);
    const identity = pick(found, ['ledgerId', 'environment', 'createdAt', 'schemaVersion']);
    const cipher = await openCipher(options.keyRing, found.ledgerId, found);
    return makeLedger(new Transactions(engine, cipher), identity, options.keyRing);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * Makes a ledger's tables, or brings older ones up to date, and returns its identity. Runs everything in one transaction,
 * with no other writer beside it. Any number of processes may call it at once: one does the work.
 *
 * @throws LedgerUnavailableError where the database does not answer, or others hold the tables all the time
 */
async function migrateLedger(engine: SqlEngine, version: number, options: OpenLedgerOptions) {
  const { keyRing, environment, onProgress } = options;
  // Before the transaction: a key management service may be slow.
  const made = version === 0 ? await makeIdentity(keyRing) : undefined;
  return engine.migrate(async (session) => {
    // Read again, now without other writers: another process may have been first.
    const before = await readIdentity(session);
    const from = before?.schemaVersion ?? 0;
    if (from >= SCHEMA_VERSION) return before;
    if (from !== version) throw new LedgerUnavailableError('another process changes the tables: try again');
    const statements = MIGRATIONS.slice(from).flatMap((migration) => migration(session.dialect));
    for (const statement of statements) await session.rows(statement);
    if (made) return insertRow(session, 'ledger_identity', { ...made, onlyRow: 1, environment, ...VERSIONS });
    onProgress?.(`tables: version ${from} to ${SCHEMA_VERSION}`);
    await updateRows(session, 'ledger_identity', { onlyRow: 1 }, VERSIONS);
    return readIdentity(session);
  });
}

/** An id, a secret, and the head of an audit chain without entries. */
async function makeIdentity(keyRing: KeyWrapper) {
  const ledgerId = `ledger-${randomUUID()}`;
  const secret = await createLedgerSecret(keyRing, ledgerId);
  return { ledgerId, ...secret, ...toHeadColumns(await openCipher(keyRing, ledgerId, secret)) };
}

/** @throws LedgerNotFoundError, LedgerUnavailableError; TypeError where the address has neither form */
export async function openEngine(url: string, create = false): Promise<SqlEngine> {
  if (url.startsWith('file:')) return openSqlite(parsePath(url), create);
  if (/^postgres(ql)?:\/\//.test(url)) return new PostgresEngine(url);
  // Without the address itself, which may hold a password.
  throw new TypeError('a ledger address must begin with file: or postgres://');
}

/** `file:ledger.db` and `file:./ledger.db` are relative to the working directory; `file:///…` is a proper URL. */
function parsePath(url: string): string {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
  if (path === '') throw new TypeError('a ledger address must name a file');
  return resolve(path);
}

function requireUsable(row: IdentityRow | undefined): IdentityRow {
  if (!row) throw new LedgerNotFoundError('the database at the ledger address holds no ledger');
  if (row.schemaVersion < SCHEMA_VERSION) {
    throw new LedgerSchemaError(
      `the ledger's tables are at version ${row.schemaVersion} of ${SCHEMA_VERSION}: run \`credit-journey setup\` first`,
    );
  }
  // Newer tables that permit this program are no obstacle: this makes the rollback of a deployment possible.
  if (!mayWrite(row)) {
    throw new LedgerSchemaError(
      `the ledger's tables are at version ${row.schemaVersion}, and ask for programs that know version ${row.oldestWriter} or a ` +
        `later one; this one knows ${SCHEMA_VERSION}: run a newer one`,
    );
  }
  return row;
}

function requireExpected(row: IdentityRow, { environment, expectedId }: OpenLedgerOptions): void {
  if (row.environment !== environment) {
    throw new LedgerChangedError(
      `ledger ${row.ledgerId} belongs to the environment ${row.environment}, and ${environment} was asked for`,
    );
  }
  if (expectedId !== undefined && row.ledgerId !== expectedId) {
    throw new LedgerChangedError(`ledger ${expectedId} was asked for, but this is ledger ${row.ledgerId}`);
  }
}
