/** Opens the ledger that a configuration names, or makes it where that is allowed. */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pick } from '../base/defined.ts';
import type { Environment } from '../model/products.ts';
import type { KeyWrapper } from '../protection/keys/key-ring.ts';
import { LedgerCipher } from '../protection/sealed/sealing.ts';
import { beginChain } from './audit/audit-chain.ts';
import { openPostgres } from './database/postgres-engine.ts';
import { insertRow, readRows } from './database/rows.ts';
import { migrate, noteVersion, readSchemaVersion, SCHEMA_VERSION } from './database/schema.ts';
import type { SqlEngine } from './database/sql-session.ts';
import { openSqlite } from './database/sqlite-engine.ts';
import type { Row } from './database/tables.ts';
import { createLedgerSecret, openLedgerSecret } from './database/wrapped-keys.ts';
import { LedgerChangedError, LedgerNotFoundError, LedgerSchemaError, LedgerUnavailableError } from './errors.ts';
import { type Ledger, makeLedger } from './ledger.ts';

interface MigrateOptions {
  environment: Environment;
  keyRing: KeyWrapper;
  /** Called with a sentence for each step. */
  onProgress?: ((step: string) => void) | undefined;
}

/**
 * Makes a ledger's tables, or brings older ones up to date. Runs everything in one transaction, with no other writer beside it. Any number of processes may call it at once: one
 * does the work.
 *
 * @throws LedgerUnavailableError where the database does not answer, or others hold the tables all the time
 */
export async function migrateLedger(engine: SqlEngine, options: MigrateOptions): Promise<void> {
  const { dialect } = engine;
  const { onProgress = () => {} } = options;
  const version = await engine.read((session) => readSchemaVersion(session, dialect));
  if (version >= SCHEMA_VERSION) return;
  // Before the transaction: a key management service may be slow.
  const made = version === 0 ? await makeIdentity(options.keyRing) : undefined;
  await engine.migrate(async (session) => {
    // Read again, now without other writers: another process may have been first.
    const from = await readSchemaVersion(session, dialect);
    if (from >= SCHEMA_VERSION) return;
    if (from !== version) throw new LedgerUnavailableError('another process changes the tables: try again');
    if (from > 0) onProgress(`tables: version ${from} to ${SCHEMA_VERSION}`);
    await migrate(session, dialect, from);
    if (made) {
      const { ledgerId, secret, cipher } = made;
      const identity = { onlyRow: 1, ledgerId, environment: options.environment, schemaVersion: 0, oldestWriter: 0 };
      await insertRow(session, 'ledger_identity', {
        ...identity,
        secretKeyId: secret.keyId,
        secretWrapped: secret.bytes,
      });
      await beginChain(session, cipher);
    }
    await noteVersion(session, dialect);
  });
}

async function makeIdentity(keyRing: KeyWrapper) {
  const ledgerId = `ledger-${randomUUID()}`;
  const secret = await createLedgerSecret(keyRing, ledgerId);
  return { ledgerId, secret, cipher: new LedgerCipher(ledgerId, await openLedgerSecret(keyRing, ledgerId, secret)) };
}

interface OpenLedgerOptions {
  /** `file:<path>` (relative, absolute, or `file:///…`) or `postgres://…`. */
  url: string;
  environment: Environment;
  keyRing: KeyWrapper;
  /** The only accepted id. */
  expectedId?: string;
  /** Makes tables and identity where they are missing: for `setup`, and workers of the sandbox. */
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
  const engine = await openEngine(options);
  try {
    const found = await readIdentity(engine, options);
    const isMade = found.version === 0 ? options.create : options.migrate;
    if (isMade) await migrateLedger(engine, options);
    const row = requireUsable(isMade ? await readIdentity(engine, options) : found);
    const identity = pick(row, ['ledgerId', 'environment', 'createdAt', 'schemaVersion']);
    const wrapped = { keyId: row.secretKeyId, bytes: row.secretWrapped };
    const secret = await openLedgerSecret(options.keyRing, row.ledgerId, wrapped);
    const cipher = new LedgerCipher(row.ledgerId, secret);
    return makeLedger(engine, identity, cipher, options.keyRing);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** @throws LedgerNotFoundError, LedgerUnavailableError; TypeError where the address has neither form */
export async function openEngine({
  url,
  create = false,
}: Pick<OpenLedgerOptions, 'url' | 'create'>): Promise<SqlEngine> {
  try {
    if (url.startsWith('file:')) return await openSqlite(parsePath(url), create);
    if (/^postgres(ql)?:\/\//.test(url)) return await openPostgres(url);
  } catch (error) {
    throw error instanceof LedgerNotFoundError ? createNotFoundError(error.message) : error;
  }
  // Without the address itself, which may hold a password.
  throw new TypeError('a ledger address must begin with file: or postgres://');
}

/** `file:ledger.db` and `file:./ledger.db` are relative to the working directory; `file:///…` is a proper URL. */
function parsePath(url: string): string {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
  if (path === '') throw new TypeError('a ledger address must name a file');
  return resolve(path);
}

function createNotFoundError(what: string): LedgerNotFoundError {
  return new LedgerNotFoundError(
    `${what}: check LEDGER_URL, or run \`credit-journey setup\`, which makes a ledger (the database itself, on ` +
      'PostgreSQL, is made by its administrator). A journey that began on another ledger will not continue on a new one',
  );
}

interface Found {
  version: number;
  row: IdentityRow | undefined;
}

/** Checks the owner at once, so that a wrong address never migrates another environment's ledger. */
async function readIdentity(engine: SqlEngine, options: OpenLedgerOptions): Promise<Found> {
  const found = await engine.read(async (session) => {
    const version = await readSchemaVersion(session, engine.dialect);
    const [row] = version === 0 ? [] : await readRows(session, 'ledger_identity', { onlyRow: 1 });
    return { version, row };
  });
  if (found.row) requireExpected(found.row, options);
  return found;
}

function requireUsable({ version, row }: Found): IdentityRow {
  if (version === 0) throw createNotFoundError('the database at the ledger address holds no ledger');
  if (version < SCHEMA_VERSION) {
    throw new LedgerSchemaError(
      `the ledger's tables are at version ${version} of ${SCHEMA_VERSION}: run \`credit-journey setup\` first`,
    );
  }
  if (!row) throw createNotFoundError('the tables at the ledger address hold no identity');
  // Newer tables that permit this program are no obstacle: this makes the rollback of a deployment possible.
  if (row.oldestWriter > SCHEMA_VERSION) {
    throw new LedgerSchemaError(
      `the ledger's tables are at version ${version}, and ask for programs that know version ${row.oldestWriter} or a ` +
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
