/** Compares consents and decisions with their chain. Reports each mismatch by table and key, never by value. */
import { defined } from '../../base/defined.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import type { SqlEngine, SqlRow, SqlSession } from '../database/sql-session.ts';
import type { ChainFinding, ChainReport } from '../records.ts';
import {
  BROKEN_HEAD,
  beginningOf,
  brokenHashOf,
  CHAIN_BATCH,
  CHAINED,
  CHAINED_TABLES,
  type ChainEntry,
  type ChainedTable,
  type ChainHead,
  columnsOf,
  hashOf,
  keyOf,
  places,
  readChainedRows,
  readHead,
} from './audit-chain.ts';

/** The progress of a verification. */
interface Walk {
  cipher: LedgerCipher;
  /** `null` where the head is not authentic. */
  head: ChainHead | null;
  /** The last entry. Its hash is unknown where the entry that belongs there is missing. */
  position: number;
  hash: string;
  expected: string | undefined;
  isExpectedFound: boolean;
  findings: ChainFinding[];
}

/** As `Ledger.verifyChain`: one consistent view, a batch at a time. */
export function verifyChain(
  engine: SqlEngine,
  cipher: LedgerCipher,
  { expectHead }: { expectHead?: string } = {},
): Promise<ChainReport> {
  return engine.read(async (session) => {
    const head = await readHead(session, cipher);
    const hash = beginningOf(cipher);
    const walk: Walk = {
      cipher,
      head: head?.isAuthentic ? head : null,
      position: 0,
      hash,
      expected: expectHead,
      isExpectedFound: expectHead === undefined || expectHead === hash,
      findings: [],
    };
    await walkEntries(session, walk);
    for (const table of CHAINED_TABLES) await findUnchained(session, walk, table);
    judgeHead(walk);
    if (!walk.isExpectedFound) walk.findings.push({ kind: 'otherChain' });
    return { entries: head?.entries ?? 0, head: head?.hash ?? '', findings: walk.findings };
  });
}

async function walkEntries(session: SqlSession, walk: Walk): Promise<void> {
  for (;;) {
    const entries = await session.rows<ChainEntry>(
      `SELECT position, row_table, row_key, previous, hash FROM audit_chain WHERE position > $1
       ORDER BY position LIMIT ${CHAIN_BATCH}`,
      [walk.position],
    );
    const rows = await rowsOf(session, entries);
    for (const entry of entries) walkEntry(walk, entry, rows.get(nameOf(entry)));
    if (entries.length < CHAIN_BATCH) return;
  }
}

function walkEntry(walk: Walk, entry: ChainEntry, row: SqlRow | undefined): void {
  const { position } = entry;
  const missing = position - walk.position - 1;
  if (missing > 0) walk.findings.push({ kind: 'removed', position: walk.position + 1, rows: missing });
  const kind = kindOf(walk, entry, row, missing === 0);
  if (kind) walk.findings.push({ kind, position, ...named(entry) });
  walk.position = position;
  walk.hash = entry.hash;
  walk.isExpectedFound ||= entry.hash === walk.expected;
}

function kindOf(
  { cipher, head, hash }: Walk,
  entry: ChainEntry,
  row: SqlRow | undefined,
  isNext: boolean,
): ChainFinding['kind'] | null {
  if (head && entry.position > head.entries) return 'inserted';
  if (entry.row_table === BROKEN_HEAD) {
    return entry.hash === brokenHashOf(cipher, entry.previous, entry.row_key) ? 'headChanged' : 'changed';
  }
  const table = tableOf(entry);
  if (!table) return 'changed';
  if (!row) return 'removed';
  if (entry.hash !== hashOf(cipher, entry.previous, table, row)) return 'changed';
  // Without the entry before, nothing can be compared.
  return isNext && entry.previous !== hash ? 'outOfOrder' : null;
}

function judgeHead({ head, position, hash, findings }: Walk): void {
  if (!head) findings.push({ kind: 'headChanged' });
  else if (position < head.entries) {
    findings.push({ kind: 'removed', position: position + 1, rows: head.entries - position });
  } else if (position === head.entries && hash !== head.hash) findings.push({ kind: 'changed', position });
}

/** Finds rows that no entry names. */
async function findUnchained(session: SqlSession, { findings }: Walk, table: ChainedTable): Promise<void> {
  let after: SqlRow | undefined;
  for (;;) {
    const rows = await readChainedRows(session, table, after);
    const keys = rows.map((row) => keyOf(table, row));
    const chained = await chainedKeys(session, table, keys);
    for (const key of keys) if (!chained.has(key)) findings.push({ kind: 'inserted', table, key: JSON.parse(key) });
    if (rows.length < CHAIN_BATCH) return;
    after = rows.at(-1);
  }
}

async function chainedKeys(session: SqlSession, table: ChainedTable, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const found = await session.rows<{ row_key: string }>(
    `SELECT row_key FROM audit_chain WHERE row_table = $1 AND row_key IN ${places(1, keys.length, 2)}`,
    [table, ...keys],
  );
  return new Set(found.map(({ row_key }) => row_key));
}

/** The rows that these entries name, by `nameOf`. */
async function rowsOf(session: SqlSession, entries: readonly ChainEntry[]): Promise<Map<string, SqlRow>> {
  const found = new Map<string, SqlRow>();
  for (const table of CHAINED_TABLES) {
    const keys = entries.flatMap((entry) => {
      const key = tableOf(entry) === table ? partsOf(entry) : undefined;
      return key ? [key] : [];
    });
    if (keys.length === 0) continue;
    const columns: readonly string[] = CHAINED[table].key;
    const rows = await session.rows<SqlRow>(
      `SELECT ${columnsOf(table).join(', ')} FROM ${table}
       WHERE (${columns.join(', ')}) IN (VALUES ${places(keys.length, columns.length)})`,
      keys.flat(),
    );
    for (const row of rows) found.set(nameOf({ row_table: table, row_key: keyOf(table, row) }), row);
  }
  return found;
}

function nameOf({ row_table, row_key }: Pick<ChainEntry, 'row_table' | 'row_key'>): string {
  return `${row_table} ${row_key}`;
}

function tableOf({ row_table }: ChainEntry): ChainedTable | undefined {
  return CHAINED_TABLES.find((table) => table === row_table);
}

/** The parts of the entry's key; `undefined` where the key was tampered with. */
function partsOf(entry: ChainEntry): string[] | undefined {
  const table = tableOf(entry);
  if (!table) return undefined;
  try {
    const parts: unknown = JSON.parse(entry.row_key);
    const isKey = Array.isArray(parts) && parts.length === CHAINED[table].key.length;
    return isKey && parts.every((part) => typeof part === 'string') ? parts : undefined;
  } catch {
    return undefined;
  }
}

function named(entry: ChainEntry): Pick<ChainFinding, 'table' | 'key'> {
  const table = tableOf(entry);
  const key = partsOf(entry);
  return defined({ table, key });
}
