/** The ledger's own secret: made once, wrapped by the key ring, stored beside the ledger's id. */
import { randomBytes } from 'node:crypto';
import type { KeyWrapper, WrappedKey } from '../../protection/keys/key-ring.ts';
import type { SqlSession } from './sql-session.ts';

/** Makes a ledger's secret, wrapped. */
export function newLedgerSecret(keys: KeyWrapper, ledgerId: string): Promise<WrappedKey> {
  return keys.wrap('ledger', randomBytes(32), boundOf(ledgerId));
}

/** Unwraps the secret. Throws `UnknownKeyError` where the key ring lacks its wrapping key. */
export function openLedgerSecret(keys: KeyWrapper, ledgerId: string, wrapped: WrappedKey): Promise<Uint8Array> {
  return keys.unwrap('ledger', wrapped, boundOf(ledgerId));
}

/** The same secret under the key ring's current key. */
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
