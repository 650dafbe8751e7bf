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
import { iterateKeyset } from '../database/pages.ts';
import {
  type InsertOptions,
  insertRaw,
  insertRow,
  isIn,
  readRows,
  toMemberName,
  toObject,
  updateRows,
} from '../database/rows.ts';
import { requireIdentity } from '../database/schema.ts';
import type { SqlRow, SqlSession, Transaction } from '../database/sql-session.ts';
import { type Row, TABLES, type Table, type TableName } from '../database/tables.ts';

type ChainedTable = {
  [Name in TableName]: (typeof TABLES)[Name] extends { isChained: true } ? Name : never;
}[TableName];
/** The tables in the chain. The primary key of a row also names it in findings. */
const CHAINED_TABLES = (Object.keys(TABLES) as ChainedTable[]).filter((name) => (TABLES[name] as Table).isChained);

/** The entry that marks where the head was found not to be authentic. */
const BROKEN_HEAD = 'brokenHead';

type ChainEntry = Row<'audit_chain'>;
/** The last entry; position 0 where there is none. */
type ChainHead = Pick<ChainEntry, 'position' | 'hash'>;

/** Rows that one statement reads or writes: both engines take thousands of values. */
const CHAIN_BATCH = 500;

function toRowKey(table: ChainedTable, row: SqlRow): string {
  return JSON.stringify(TABLES[table].key.map((column) => row[column]));
}

function computeHash(cipher: LedgerCipher, ...parts: readonly unknown[]): string {
  return cipher.chainHash(JSON.stringify(parts));
}

/** The head of a chain without entries. */
function createHead(cipher: LedgerCipher): ChainHead {
  return { position: 0, hash: computeHash(cipher, 'beginning') };
}

/** Lists every column that is set and is no state: a column that a later version adds changes no hash of older rows. */
function listContent(table: ChainedTable, row: SqlRow): readonly unknown[] {
  const { columns }: Table = TABLES[table];
  const set = Object.entries(row).filter(([column, value]) => value !== null && !columns[column]?.isState);
  return set.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The head as the ledger's identity has it. By default that of a new ledger. */
export function toHeadColumns(cipher: LedgerCipher, { position, hash } = createHead(cipher)) {
  return { chainEntries: position, chainHash: hash, chainMac: computeHash(cipher, 'head', position, hash) };
}

async function readHead(tx: Transaction, lock = ''): Promise<ChainHead & { isAuthentic: boolean }> {
  const { chainEntries: position, chainHash: hash, chainMac } = await requireIdentity(tx, lock);
  return { position, hash, isAuthentic: chainMac === toHeadColumns(tx.cipher, { position, hash }).chainMac };
}

/** Inserts a row and its entry, and returns the row (`insertRow`). */
export type InsertChained = <Name extends ChainedTable>(
  table: Name,
  fields: Partial<Row<Name>>,
  options?: InsertOptions,
) => Promise<Row<Name> | undefined>;

/**
 * Appends the rows that `work` inserts. Takes the head's lock first, so that two writers of the same rows wait for each
 * other there and nowhere else. Where a transaction takes an inquiry's lock too, it takes that one first.
 */
export async function appendToChain<T>(tx: Transaction, work: (insert: InsertChained) => Promise<T>): Promise<T> {
  const before = await readLockedHead(tx);
  let head = before;
  const result = await work(async (table, fields, options) => {
    const row = await insertRaw(tx, table, fields, options);
    if (!row) return undefined;
    head = await appendEntry(tx, head, table, toRowKey(table, row), listContent(table, row));
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
  await session.rows(`SELECT 1 FROM ledger_identity ${session.dialect.forUpdate}`);
}

async function readLockedHead(tx: Transaction): Promise<ChainHead> {
  const head = await readHead(tx, tx.dialect.forUpdate);
  const [last] = await tx.read<ChainEntry>('SELECT * FROM audit_chain ORDER BY position DESC LIMIT 1');
  // If entries are missing, the gap to the head's count already marks the removal.
  if (head.isAuthentic && (last?.position ?? 0) <= head.position) return head;
  // Stopping here would stop every journey; going on without a mark would hide the tampering.
  const found = last ?? createHead(tx.cipher);
  const key = JSON.stringify([found.position + 1]);
  const mark = await appendEntry(tx, found, BROKEN_HEAD, key, key);
  await writeHead(tx, mark);
  return mark;
}

async function appendEntry(
  tx: Transaction,
  head: ChainHead,
  rowTable: string,
  rowKey: string,
  content: unknown,
): Promise<ChainEntry> {
  const previous = head.hash;
  const hash = computeHash(tx.cipher, previous, rowTable, content);
  const entry = { position: head.position + 1, rowTable, rowKey, previous, hash };
  await insertRow(tx, 'audit_chain', entry);
  return entry;
}

async function writeHead(tx: Transaction, head: ChainHead): Promise<void> {
  await updateRows(tx, 'ledger_identity', { onlyRow: 1 }, toHeadColumns(tx.cipher, head));
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
  const findings: ChainFinding[] = [];
  let last = createHead(tx.cipher);
  let isExpectedFound = expectHead === undefined || expectHead === last.hash;
  const list = { from: 'audit_chain', order: ['position'] as const, limit: CHAIN_BATCH };
  for await (const entries of iterateKeyset<ChainEntry>(tx, list)) {
    for (const named of await readNamedRows(tx, entries)) {
      const { entry, name } = named;
      const { position } = entry;
      const missing = position - last.position - 1;
      if (missing > 0) findings.push({ kind: 'removed', position: last.position + 1, rows: missing });
      const isBeyondHead = head.isAuthentic && position > head.position;
      // Without the previous entry, the hash cannot be checked.
      const previous = missing === 0 ? last.hash : entry.previous;
      const kind = isBeyondHead ? 'inserted' : classifyEntry(tx.cipher, named, previous);
      if (kind) findings.push({ kind, position, ...name });
      last = entry;
      isExpectedFound ||= entry.hash === expectHead;
    }
  }
  for (const table of CHAINED_TABLES) findings.push(...(await findUnchained(tx, table)));
  const { position } = last;
  if (!head.isAuthentic) findings.push({ kind: 'headChanged' });
  else if (position < head.position)
    findings.push({ kind: 'removed', position: position + 1, rows: head.position - position });
  else if (position === head.position && last.hash !== head.hash) findings.push({ kind: 'changed', position });
  if (!isExpectedFound) findings.push({ kind: 'otherChain' });
  return { entries: head.position, head: head.hash, findings };
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

/** A key that was tampered with is no part of the name. */
function parseName({ rowTable, rowKey }: ChainEntry): NamedRow['name'] {
  const table = CHAINED_TABLES.find((name) => name === rowTable);
  if (!table) return {};
  const [key] = parseJson(rowKey) ?? [];
  const isWhole = Array.isArray(key) && key.length === TABLES[table].key.length;
  return isWhole && key.every((part) => typeof part === 'string') ? { table, key } : { table };
}

function classifyEntry(
  cipher: LedgerCipher,
  { entry, name: { table }, row }: NamedRow,
  previous: string,
): ChainFinding['kind'] | null {
  const isMark = entry.rowTable === BROKEN_HEAD;
  if (!table && !isMark) return 'changed';
  if (table && !row) return 'removed';
  const content = table && row ? listContent(table, row) : entry.rowKey;
  if (entry.hash !== computeHash(cipher, entry.previous, entry.rowTable, content)) return 'changed';
  if (isMark) return 'headChanged';
  return entry.previous === previous ? null : 'outOfOrder';
}

/** Finds rows that no entry names. */
async function findUnchained(session: SqlSession, table: ChainedTable): Promise<ChainFinding[]> {
  const { key: names } = TABLES[table];
  // Reads the keys alone: a column that was tampered with may not decode, and no error may quote it.
  const [columns, order] = [names.join(', '), names.map(toMemberName)];
  const list = { from: table, columns, order, limit: CHAIN_BATCH };
  const findings: ChainFinding[] = [];
  for await (const rows of iterateKeyset<Record<string, string>>(session, list)) {
    const keys = rows.map((row) => JSON.stringify(order.map((name) => row[name] ?? '')));
    const entries = await readRows(session, 'audit_chain', { rowTable: table, rowKey: isIn(keys) });
    const chained = new Set(entries.map(({ rowKey }) => rowKey));
    for (const key of keys) if (!chained.has(key)) findings.push({ kind: 'inserted', table, key: JSON.parse(key) });
  }
  return findings;
}
