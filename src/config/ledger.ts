/** The addresses of the ledger and the key ring. */
import { type EnvironmentReader, readPart } from './environment.ts';
import type { VariableValue } from './variables.ts';

export type LedgerAccess = ReturnType<typeof readLedgerAccess>;

/**
 * Loads the access to the ledger. `setup`, which makes the ledger, needs no `LEDGER_ID` yet.
 *
 * @throws ConfigError
 */
export function loadLedgerAccess(env: NodeJS.ProcessEnv, options = { needsId: true }): LedgerAccess {
  return readPart(env, (reader) => readLedgerAccess(reader, options));
}

/** @param needsId false for `setup` alone, which makes the ledger and prints its id */
export function readLedgerAccess(reader: EnvironmentReader, { needsId } = { needsId: true }) {
  const { environment } = reader;
  const isSandbox = environment === 'sandbox';
  const expectedId = reader.get('LEDGER_ID');
  if (expectedId === undefined && !isSandbox && needsId) {
    const rule = 'is required outside the sandbox: `credit-journey setup` makes a ledger and tells its id';
    reader.report('LEDGER_ID', rule);
  }
  return {
    environment,
    /** The address is `file:<path>` or `postgres://…`; outside the sandbox the ledger must have the id. */
    ledger: { url: readUrl(reader), durability: readDurability(reader), expectedId },
    keyRingFile: reader.get('KEY_RING_FILE'),
    /** Whether a missing key ring is made. */
    keyRingMayBeMade: isSandbox && reader.raw('KEY_RING_FILE') === undefined,
  };
}

/**
 * Reads the means that keep commits when a server fails, and who decided so. This decision of a named operator overrules
 * the state that PostgreSQL shows.
 */
function readDurability(reader: EnvironmentReader): { kind: VariableValue<'LEDGER_DURABILITY'>; by?: string } {
  const kind = reader.get('LEDGER_DURABILITY');
  const by = kind === 'replication' ? undefined : reader.get('LEDGER_DURABILITY_BY');
  if (by === undefined && kind !== 'replication' && reader.environment !== 'sandbox') {
    reader.report('LEDGER_DURABILITY_BY', `is required with LEDGER_DURABILITY=${kind}: who decided so, and why`);
  }
  return { kind, by };
}

function readUrl(reader: EnvironmentReader): string {
  if (reader.raw('LEDGER_URL_FILE') === undefined) return reader.get('LEDGER_URL');
  if (reader.raw('LEDGER_URL') !== undefined) reader.report('LEDGER_URL', 'must not be given beside its file');
  reader.requireClosedFile('LEDGER_URL_FILE');
  return reader.get('LEDGER_URL_FILE') ?? '';
}
