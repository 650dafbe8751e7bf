/**
 * The chain over consents and decisions: each row's hash covers the hash of the row before it. The hashes need a key
 * that comes from the ledger's secret, so write access to the database is not enough to compute them.
 * docs/protection.md, "The audit chain".
 *
 * 1. A row and its entry are written in one transaction, while the head is locked: entries have no gaps.
 * 2. The head states how many entries exist and the hash of the last one, authenticated. So the last rows cannot be
 *   removed unnoticed.
 * 3. A head that is not authentic never becomes authentic again without a mark: the mark is an entry itself.
 */

import { parseJson } from '../../base/json-safety.ts';
import type { LedgerCipher } from '../../protection/sealed/sealing.ts';
import type { Table, Writes } from '../database/columns.ts';
import { iterateKeyset } from '../database/pages.ts';
import { type InsertOptions, insertRaw, insertRow, toMemberName, toObject } from '../database/rows.ts';
import { listPlaceholders, type SqlRow, type SqlSession, type Transaction } from '../database/sql-session.ts';
import { type Row, TABLES, type TableName } from '../database/tables.ts';

type ChainedTable = {
  [Name in TableName]: (typeof TABLES)[Name] extends { isChained: true } ? Name : never;
}[TableName];
/** The tables in the chain. The primary key of a row also names it in findings. */
const CHAINED_TABLES = (Object.entries(TABLES) as [TableName, Table][])
  .filter(([, { isChained }]) => isChained)
  .map(([name]) => name as ChainedTable);

/** The entry that marks where the head was found not to be authentic. */
const BROKEN_HEAD = 'audit_head';

interface ChainHead {
  entries: number;
  hash: string;
}

type ChainEntry = Row<'audit_chain'>;

/** Rows that one statement reads or writes: both engines take thousands of values. */
const CHAIN_BATCH = 500;

function toRowKey(table: ChainedTable, row: SqlRow): string {
  return JSON.stringify(TABLES[table].key.map((column) => row[column]));
}

/** The hash at which the chain begins. */
function hashBeginning(cipher: LedgerCipher): string {
  return cipher.chainHash(JSON.stringify(['beginning']));
}

/** The hash covers every column that is set and is no state: a column that a later version adds changes no hash of older rows. */
function hashEntry(cipher: LedgerCipher, previous: string, table: ChainedTable, row: SqlRow): string {
  const { columns }: Table = TABLES[table];
  const set = Object.entries(row).filter(([column, value]) => value !== null && !columns[column]?.isState);
  const ordered = set.sort(([a], [b]) => (a < b ? -1 : 1));
  return cipher.chainHash(JSON.stringify([previous, table, ordered]));
}

function hashBrokenHead(cipher: LedgerCipher, previous: string, key: string): string {
  return cipher.chainHash(JSON.stringify([previous, BROKEN_HEAD, key]));
}

function hashHead(cipher: LedgerCipher, { entries, hash }: ChainHead): string {
  return cipher.chainHash(JSON.stringify(['head', entries, hash]));
}

/** The chain's head; `null` where there is none. */
async function readHead(tx: Transaction, lock = ''): Promise<(ChainHead & { isAuthentic: boolean }) | null> {
  const [row] = await tx.rows<ChainHead & { mac: string }>(`SELECT entries, hash, mac FROM audit_head ${lock}`);
  return row ? { entries: row.entries, hash: row.hash, isAuthentic: row.mac === hashHead(tx.cipher, row) } : null;
}

/** Inserts a row and its entry, and returns the row (`insertRow`). */
export type InsertChained = <Name extends ChainedTable>(
  table: Name,
  fields: Writes<Row<Name>>,
  options?: InsertOptions,
) => Promise<Row<Name> | undefined>;

/**
 * Appends the rows that `work` inserts. Takes the head's lock first, so that two writers of the same rows wait for each
 * other there and nowhere else. Where a transaction takes an inquiry's lock too, it takes that one first.
 */
export async function appendToChain<T>(tx: Transaction, work: (insert: InsertChained) => Promise<T>): Promise<T> {
  let head = await readLockedHead(tx);
  const before = head;
  const result = await work(async (table, fields, options) => {
    const row = await insertRaw(tx, table, fields, options);
    if (!row) return undefined;
    const entry = createNextEntry(head, table, toRowKey(table, row), hashEntry(tx.cipher, head.hash, table, row));
    await insertRow(tx, 'audit_chain', entry);
    head = toHead(entry);
    return toObject(row) as never;
  });
  if (head !== before) await writeHead(tx, head);
  return result;
}

/**
 * Keeps other transactions from writing consents, decisions or anything else that a share's claim depends on, until
 * this one ends. An inquiry's lock comes first.
 */
export async function lockHead(session: SqlSession): Promise<void> {
  await session.rows(`SELECT 1 FROM audit_head ${session.dialect.forUpdate}`);
}

async function readLockedHead(tx: Transaction): Promise<ChainHead> {
  const head = await readHead(tx, tx.dialect.forUpdate);
  const [last] = await tx.read<ChainEntry>('SELECT * FROM audit_chain ORDER BY position DESC LIMIT 1');
  // If entries are missing, the gap to the head's count already marks the removal.
  if (head?.isAuthentic && (last?.position ?? 0) <= head.entries) return head;
  // Stopping here would stop every journey; going on without a mark would hide the tampering.
  const found = last ? toHead(last) : { entries: 0, hash: hashBeginning(tx.cipher) };
  const key = JSON.stringify([found.entries + 1]);
  const mark = createNextEntry(found, BROKEN_HEAD, key, hashBrokenHead(tx.cipher, found.hash, key));
  await insertRow(tx, 'audit_chain', mark);
  await writeHead(tx, toHead(mark));
  return toHead(mark);
}

function createNextEntry(head: ChainHead, table: string, key: string, hash: string): ChainEntry {
  return { position: head.entries + 1, rowTable: table, rowKey: key, previous: head.hash, hash };
}

function toHead({ position, hash }: ChainEntry): ChainHead {
  return { entries: position, hash };
}

async function writeHead(tx: Transaction, head: ChainHead): Promise<void> {
  await tx.rows(
    `INSERT INTO audit_head (only_row, entries, hash, mac) VALUES (1, $1, $2, $3)
     ON CONFLICT (only_row) DO UPDATE SET entries = excluded.entries, hash = excluded.hash, mac = excluded.mac`,
    [head.entries, head.hash, hashHead(tx.cipher, head)],
  );
}

/** Makes the head, with the tables themselves. Where it is missing later, the next append marks that. */
export function beginChain(tx: Transaction): Promise<void> {
  return writeHead(tx, { entries: 0, hash: hashBeginning(tx.cipher) });
}

// Compares consents and decisions with their chain. Reports each mismatch by table and key, never by value.

/**
 * A mismatch with the chain. `headChanged` with a position: before that entry, the head had been tampered with.
 * `otherChain`: the expected head is not on this chain.
 */
export interface ChainFinding {
  kind: 'changed' | 'removed' | 'inserted' | 'outOfOrder' | 'headChanged' | 'otherChain';
  /** From 1. */
  position?: number;
  /** For `removed` without a key: the number of missing rows, from `position` on. */
  rows?: number;
  table?: ChainedTable;
  /** The row's primary key; ids, opaque. */
  key?: string[];
}

export interface ChainReport {
  /** The head's content: how many rows are chained, and the hash of the last one, lower-case hex. */
  entries: number;
  head: string;
  findings: ChainFinding[];
}

/**
 * Compares every consent and decision with the chain over them (docs/protection.md), a batch at a time. `expectHead` is
 * an earlier head that was kept elsewhere: the chain must pass through it.
 */
export async function verifyChain(tx: Transaction, { expectHead }: { expectHead?: string } = {}): Promise<ChainReport> {
  const head = await readHead(tx);
  const authentic = head?.isAuthentic ? head : undefined;
  const findings: ChainFinding[] = [];
  let last: ChainHead = { entries: 0, hash: hashBeginning(tx.cipher) };
  let isExpectedFound = expectHead === undefined || expectHead === last.hash;
  const list = { from: 'audit_chain', order: ['position'] as const, limit: CHAIN_BATCH };
  for await (const entries of iterateKeyset<ChainEntry>(tx, list)) {
    for (const named of await readNamedRows(tx, entries)) {
      const { entry, name } = named;
      const { position } = entry;
      const missing = position - last.entries - 1;
      if (missing > 0) findings.push({ kind: 'removed', position: last.entries + 1, rows: missing });
      const isBeyondHead = authentic !== undefined && position > authentic.entries;
      // Without the previous entry, the hash cannot be checked.
      const previous = missing === 0 ? last.hash : entry.previous;
      const kind = isBeyondHead ? 'inserted' : classifyEntry(tx.cipher, named, previous);
      if (kind) findings.push({ kind, position, ...name });
      last = toHead(entry);
      isExpectedFound ||= entry.hash === expectHead;
    }
  }
  for (const table of CHAINED_TABLES) findings.push(...(await findUnchained(tx, table)));
  findings.push(...judgeHead(authentic, last));
  if (!isExpectedFound) findings.push({ kind: 'otherChain' });
  return { entries: head?.entries ?? 0, head: head?.hash ?? '', findings };
}

/** An entry, and the row that it names. A name that was tampered with is not whole. */
interface NamedRow {
  entry: ChainEntry;
  name: Pick<ChainFinding, 'table' | 'key'>;
  row?: SqlRow | undefined;
}

/** Reads each table once. */
async function readNamedRows(session: SqlSession, entries: readonly ChainEntry[]): Promise<NamedRow[]> {
  const named = entries.map((entry): NamedRow => ({ entry, name: parseName(entry) }));
  for (const table of CHAINED_TABLES) {
    const wanted = named.filter(({ name }) => name.table === table && name.key);
    if (wanted.length === 0) continue;
    const columns = TABLES[table].key;
    const values: string[] = [];
    const keys = wanted.map(({ name }) => `(${name.key?.map((part) => `$${values.push(part)}`).join(', ')})`);
    const rows = await session.rows(
      `SELECT * FROM ${table} WHERE (${columns.join(', ')}) IN (VALUES ${keys.join(', ')})`,
      values,
    );
    const found = new Map(rows.map((row) => [toRowKey(table, row), row]));
    for (const entry of wanted) entry.row = found.get(JSON.stringify(entry.name.key));
  }
  return named;
}

function parseName({ rowTable, rowKey }: ChainEntry): NamedRow['name'] {
  const table = CHAINED_TABLES.find((name) => name === rowTable);
  if (!table) return {};
  const key = parseKey(rowKey);
  return key?.length === TABLES[table].key.length ? { table, key } : { table };
}

/** Returns `undefined` where the key was tampered with. */
function parseKey(text: string): string[] | undefined {
  const [key] = parseJson(text) ?? [];
  return Array.isArray(key) && key.every((part) => typeof part === 'string') ? key : undefined;
}

function classifyEntry(
  cipher: LedgerCipher,
  { entry, name: { table }, row }: NamedRow,
  previous: string,
): ChainFinding['kind'] | null {
  if (entry.rowTable === BROKEN_HEAD) {
    return entry.hash === hashBrokenHead(cipher, entry.previous, entry.rowKey) ? 'headChanged' : 'changed';
  }
  if (!table) return 'changed';
  if (!row) return 'removed';
  if (entry.hash !== hashEntry(cipher, entry.previous, table, row)) return 'changed';
  return entry.previous === previous ? null : 'outOfOrder';
}

function judgeHead(head: ChainHead | undefined, { entries, hash }: ChainHead): ChainFinding[] {
  if (!head) return [{ kind: 'headChanged' }];
  if (entries < head.entries) return [{ kind: 'removed', position: entries + 1, rows: head.entries - entries }];
  return entries === head.entries && hash !== head.hash ? [{ kind: 'changed', position: entries }] : [];
}

/** Finds rows that no entry names. */
async function findUnchained(session: SqlSession, table: ChainedTable): Promise<ChainFinding[]> {
  const { key: names } = TABLES[table];
  // Reads the keys alone: a column that was tampered with may not decode, and no error may quote it.
  const [columns, order] = [names.join(', '), names.map(toMemberName)];
  const list = { from: table, columns, order, limit: CHAIN_BATCH };
  const findings: ChainFinding[] = [];
  for await (const rows of iterateKeyset<Record<string, string>>(session, list)) {
    // PostgreSQL takes no empty list.
    if (rows.length === 0) continue;
    const keys = rows.map((row) => JSON.stringify(order.map((name) => row[name] ?? '')));
    const entries = await session.read<ChainEntry>(
      `SELECT row_key FROM audit_chain WHERE row_key IN (${listPlaceholders(keys)}) AND row_table = '${table}'`,
      keys,
    );
    const chained = new Set(entries.map(({ rowKey }) => rowKey));
    for (const key of keys) if (!chained.has(key)) findings.push({ kind: 'inserted', table, key: JSON.parse(key) });
  }
  return findings;
}
