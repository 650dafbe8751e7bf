/** Keys under the key ring: the ledger's secret, made once and stored beside its id, and the data keys of reports. */

import { randomBytes } from 'node:crypto';
import { pick } from '../../base/defined.ts';
import { UnknownKeyError } from '../../protection/errors.ts';
import type { KeyWrapper, WrappedKey } from '../../protection/keys/key-ring.ts';
import { LedgerCipher, rewrap, toSealName } from '../../protection/sealed/sealing.ts';
import { iteratePages, readKeyset } from './pages.ts';
import { toColumnName, updateRows } from './rows.ts';
import { requireIdentity } from './schema.ts';
import type { Row } from './tables.ts';
import type { Transactions } from './transactions.ts';

/** Makes a ledger's secret, wrapped. */
export function createLedgerSecret(keys: KeyWrapper, ledgerId: string): Promise<WrappedKey> {
  return keys.wrap('ledger', randomBytes(32), toBinding(ledgerId));
}

/** Unwraps the ledger's secret. Throws `UnknownKeyError` where the key ring lacks its wrapping key. */
export async function openCipher(keys: KeyWrapper, ledgerId: string, secret: WrappedKey): Promise<LedgerCipher> {
  return new LedgerCipher(ledgerId, await keys.unwrap('ledger', secret, toBinding(ledgerId)));
}

function toBinding(ledgerId: string): string {
  return JSON.stringify(['ledger secret', ledgerId]);
}

// Wraps data keys under the key ring's current key, a few rows at a time, so that other work can proceed.

/** Rows that one transaction writes: few enough for claims to pass in between. */
const BATCH = 50;

/** Passes rows that cannot be read once, in the order of the primary key. */
const KEY = ['customerTraceNumber', 'attempt', 'kind', 'late', 'fromTraceNumber', 'fromAttempt'] as const;

type WrappedRow = Required<Pick<Row<'sealed_bodies'>, (typeof KEY)[number] | 'keyId' | 'wrappedKey'>>;

/**
 * Wraps the ledger's own secret and the data key of every report under the key ring's current `ledger` key. The reports
 * themselves are not touched, and concurrent changes stay. May be stopped and run again.
 *
 * @returns how many data keys were rewrapped, whether the secret was, and what has a key that the key ring lacks
 * @throws SealBrokenError where a wrapped key was changed: nothing after it was wrapped
 */
export async function rewrapDataKeys(transactions: Transactions, keys: KeyWrapper, ledgerId: string) {
  const keyId = keys.current('ledger').id;
  const secret = await rewrapSecret(transactions, keys, ledgerId, keyId);
  const unreadable: string[] = [];
  let reports = 0;
  const batches = iteratePages((after?: WrappedRow) =>
    // Each page passes over all rows that have the current key.
    transactions.read(
      (session) =>
        readKeyset<WrappedRow>(session, {
          from: 'sealed_bodies',
          columns: [...KEY, 'keyId', 'wrappedKey'].map(toColumnName).join(', '),
          where: ['wrapped_key IS NOT NULL', 'key_id <> $1'],
          values: [keyId],
          order: KEY,
          after,
          limit: BATCH,
        }),
      true,
    ),
  );
  for await (const rows of batches) {
    const writes: (readonly [row: WrappedRow, change: WrappedKey])[] = [];
    for (const row of rows) {
      try {
        writes.push([row, await rewrap(keys, row, toSealName({ ...row, ledgerId }))]);
      } catch (error) {
        if (!(error instanceof UnknownKeyError)) throw error;
        unreadable.push(row.keyId);
      }
    }
    // Writes only where the row is unchanged: a data key that was destroyed meanwhile stays destroyed.
    reports += await transactions.writeTo(ledgerId, async (session) => {
      let written = 0;
      for (const [row, change] of writes) written += await updateRows(session, 'sealed_bodies', row, change);
      return written;
    });
  }
  const missing = [...Map.groupBy(unreadable, (id) => id)];
  return { keyId, reports, secret, unreadable: missing.map(([id, { length }]) => ({ keyId: id, reports: length })) };
}

/** `false` where it is wrapped under that key already, or was replaced meanwhile: then nothing was written. */
async function rewrapSecret(transactions: Transactions, keys: KeyWrapper, ledgerId: string, keyId: string) {
  const secret = pick(await transactions.read((session) => requireIdentity(session)), ['keyId', 'wrappedKey']);
  if (secret.keyId === keyId) return false;
  const change = await rewrap(keys, secret, toBinding(ledgerId));
  return (await transactions.writeTo(ledgerId, (tx) => updateRows(tx, 'ledger_identity', secret, change))) > 0;
}
