/** Keys under the key ring: the ledger's secret, made once and stored beside its id, and the data keys of reports. */

import { randomBytes } from 'node:crypto';
import { UnknownKeyError } from '../../protection/errors.ts';
import type { KeyWrapper, WrappedKey } from '../../protection/keys/key-ring.ts';
import { rewrap } from '../../protection/sealed/sealing.ts';
import type { RewrapResult } from '../records.ts';
import { REFUSAL } from '../reports/reports.ts';
import { keptWhereTrue, type SqlSession } from './sql-session.ts';
import type { Transactions } from './transactions.ts';

/** Makes a ledger's secret, wrapped. */
export function newLedgerSecret(keys: KeyWrapper, ledgerId: string): Promise<WrappedKey> {
  return keys.wrap('ledger', randomBytes(32), boundOf(ledgerId));
}

/** Unwraps the secret. Throws `UnknownKeyError` where the key ring lacks its wrapping key. */
export function openLedgerSecret(keys: KeyWrapper, ledgerId: string, wrapped: WrappedKey): Promise<Uint8Array> {
  return keys.unwrap('ledger', wrapped, boundOf(ledgerId));
}

/** Wraps the ledger's secret under the key ring's current key. */
export async function rewrapLedgerSecret(keys: KeyWrapper, ledgerId: string, wrapped: WrappedKey): Promise<WrappedKey> {
  return keys.wrap('ledger', await openLedgerSecret(keys, ledgerId, wrapped), boundOf(ledgerId));
}

export async function readLedgerSecret(session: SqlSession): Promise<WrappedKey | null> {
  const [row] = await session.rows<{ secret_key_id: string; secret_wrapped: Uint8Array }>(
    'SELECT secret_key_id, secret_wrapped FROM ledger_identity',
  );
  return row ? { keyId: row.secret_key_id, bytes: row.secret_wrapped } : null;
}

/** Returns whether the secret still was as `before` says; otherwise nothing was written. */
export async function replaceLedgerSecret(
  session: SqlSession,
  before: WrappedKey,
  after: WrappedKey,
): Promise<boolean> {
  const replaced = await session.rows(
    `UPDATE ledger_identity SET secret_key_id = $1, secret_wrapped = $2
     WHERE secret_key_id = $3 AND secret_wrapped = $4 RETURNING ledger_id`,
    [after.keyId, after.bytes, before.keyId, before.bytes],
  );
  return replaced.length > 0;
}

function boundOf(ledgerId: string): string {
  return JSON.stringify(['ledger secret', ledgerId]);
}

// Wraps data keys under the key ring's current key, a few rows at a time, so that other work can proceed.

/** Rows that one transaction writes: few enough for claims to pass in between. */
const BATCH = 50;

interface WrappedRow {
  customer_trace_number: string;
  attempt: number;
  /** The rest of the row's key. */
  part: number | string;
  key_id: string;
  wrapped_key: Uint8Array;
}

/** A table of sealed bodies; `part` is the last column of its key. */
interface SealedTable {
  name: string;
  part: string;
  /** A value before every other. */
  first: number | string;
  kindOf: (row: WrappedRow) => { kind?: string };
}

const TABLES: readonly SealedTable[] = [
  // A late report is bound like one that came in time.
  { name: 'reports', part: 'late', first: 0, kindOf: () => ({}) },
  { name: 'refusal_bodies', part: 'late', first: 0, kindOf: () => ({ kind: REFUSAL }) },
  { name: 'derived_documents', part: 'kind', first: '', kindOf: ({ part }) => ({ kind: String(part) }) },
];

type Rewrapped = { row: WrappedRow; keyId: string; wrappedKey: Uint8Array };

/**
 * Wraps the ledger's own secret and the data key of every report under the key ring's current `ledger` key. The reports
 * themselves are not touched, and concurrent changes stay. May be stopped and run again.
 *
 * @throws SealBrokenError where a wrapped key was changed: nothing after it was wrapped
 */
export async function rewrapDataKeys(
  transactions: Transactions,
  keys: KeyWrapper,
  ledgerId: string,
): Promise<RewrapResult> {
  const keyId = await keys.currentKeyId('ledger');
  const secret = await rewrapSecret(transactions, keys, ledgerId, keyId);
  const unreadable = new Map<string, number>();
  let reports = 0;
  for (const table of TABLES) {
    let after: WrappedRow | undefined;
    for (;;) {
      const rows = await transactions.read(({ session }) => readBatch(session, table, keyId, after));
      const rewrapped: Rewrapped[] = [];
      for (const row of rows) {
        const anew = await rewrapRow(keys, { ledgerId, ...table.kindOf(row) }, row);
        if (anew) rewrapped.push(anew);
        else unreadable.set(row.key_id, (unreadable.get(row.key_id) ?? 0) + 1);
      }
      reports += await writeBatch(transactions, table, rewrapped);
      after = rows.at(-1);
      if (rows.length < BATCH) break;
    }
  }
  return {
    keyId,
    reports,
    secret,
    unreadable: [...unreadable].map(([missing, count]) => ({ keyId: missing, reports: count })),
  };
}

async function rewrapSecret(
  transactions: Transactions,
  keys: KeyWrapper,
  ledgerId: string,
  keyId: string,
): Promise<boolean> {
  const before = await transactions.read(({ session }) => readLedgerSecret(session));
  if (!before || before.keyId === keyId) return false;
  const after = await rewrapLedgerSecret(keys, ledgerId, before);
  return transactions.write(async ({ session }) => {
    return keptWhereTrue(await replaceLedgerSecret(session, before, after));
  });
}

/** In the order of the primary key, so that rows which cannot be read are passed once. */
function readBatch(
  session: SqlSession,
  { name, part, first }: SealedTable,
  keyId: string,
  after: WrappedRow | undefined,
): Promise<WrappedRow[]> {
  const from = after ? [after.customer_trace_number, after.attempt, after.part] : ['', 0, first];
  return session.rows<WrappedRow>(
    `SELECT customer_trace_number, attempt, ${part} AS part, key_id, wrapped_key FROM ${name}
     WHERE wrapped_key IS NOT NULL AND key_id <> $1 AND (customer_trace_number, attempt, ${part}) > ($2, $3, $4)
     ORDER BY customer_trace_number, attempt, ${part} LIMIT ${BATCH}`,
    [keyId, ...from],
  );
}

async function rewrapRow(
  keys: KeyWrapper,
  bound: { ledgerId: string; kind?: string },
  row: WrappedRow,
): Promise<Rewrapped | null> {
  const { customer_trace_number: customerTraceNumber, attempt, key_id: keyId, wrapped_key: wrappedKey } = row;
  try {
    return { row, ...(await rewrap(keys, { keyId, wrappedKey }, { ...bound, customerTraceNumber, attempt })) };
  } catch (error) {
    if (error instanceof UnknownKeyError) return null;
    throw error;
  }
}

/** Writes only where the row is unchanged: a data key that was destroyed meanwhile stays destroyed. */
function writeBatch(
  transactions: Transactions,
  { name, part }: SealedTable,
  rewrapped: readonly Rewrapped[],
): Promise<number> {
  if (rewrapped.length === 0) return Promise.resolve(0);
  return transactions.write(async ({ session }) => {
    let written = 0;
    for (const { row, keyId, wrappedKey } of rewrapped) {
      const updated = await session.rows(
        `UPDATE ${name} SET key_id = $1, wrapped_key = $2
         WHERE customer_trace_number = $3 AND attempt = $4 AND ${part} = $5 AND key_id = $6 AND wrapped_key = $7
         RETURNING attempt`,
        [keyId, wrappedKey, row.customer_trace_number, row.attempt, row.part, row.key_id, row.wrapped_key],
      );
      written += updated.length;
    }
    return { keep: written > 0, value: written };
  });
}
