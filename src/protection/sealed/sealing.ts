/** Envelope encryption: a data key of its own for each thing sealed, wrapped by the key ring's current `ledger` key. */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { boundTo, decrypt, encrypt } from '../aead.ts';
import { SealBrokenError } from '../errors.ts';
import type { KeyWrapper } from '../keys/key-ring.ts';

/** Names the layout of `body` in `aead.ts`; kept beside it, so that another may follow. */
export const SEAL_ALGORITHM = 'A256GCM';

/** What the seal is bound to: the same bytes moved to another row no longer open. */
export interface SealedFor {
  ledgerId: string;
  customerTraceNumber: string;
  attempt: number;
  /** Of what was derived from the report; the report itself has none. */
  kind?: string;
}

export interface Sealed {
  body: Uint8Array;
  /** The data key, wrapped. Destroying it destroys the body, wherever copies of it are. */
  wrappedKey: Uint8Array;
  keyId: string;
  algorithm: string;
}

/** Seals a text under a fresh data key. */
export async function seal(keys: KeyWrapper, text: string, sealedFor: SealedFor): Promise<Sealed> {
  const dataKey = randomBytes(32);
  const bound = nameOf(sealedFor);
  const body = encrypt(dataKey, Buffer.from(text, 'utf8'), boundTo('report', bound));
  const wrapped = await keys.wrap('ledger', dataKey, bound);
  dataKey.fill(0);
  return { body, wrappedKey: wrapped.bytes, keyId: wrapped.keyId, algorithm: SEAL_ALGORITHM };
}

/** The text. `UnknownKeyError` names a key id that is missing; `SealBrokenError` where anything was changed. */
export async function unseal(keys: KeyWrapper, sealed: Sealed, sealedFor: SealedFor): Promise<string> {
  if (sealed.algorithm !== SEAL_ALGORITHM) {
    throw new SealBrokenError('sealed by an algorithm that this version does not know');
  }
  const bound = nameOf(sealedFor);
  const dataKey = await keys.unwrap('ledger', { keyId: sealed.keyId, bytes: sealed.wrappedKey }, bound);
  return decrypt(dataKey, sealed.body, boundTo('report', bound)).toString('utf8');
}

/**
 * Wraps the data key under the key ring's current key; the body stays as it is. Errors as `unseal`, but for the body,
 * which is not opened.
 */
export async function rewrap(
  keys: KeyWrapper,
  sealed: Pick<Sealed, 'wrappedKey' | 'keyId'>,
  sealedFor: SealedFor,
): Promise<Pick<Sealed, 'wrappedKey' | 'keyId'>> {
  const bound = nameOf(sealedFor);
  const dataKey = await keys.unwrap('ledger', { keyId: sealed.keyId, bytes: sealed.wrappedKey }, bound);
  const wrapped = await keys.wrap('ledger', dataKey, bound);
  dataKey.fill(0);
  return { wrappedKey: wrapped.bytes, keyId: wrapped.keyId };
}

/**
 * What one ledger derives from its own secret, which is wrapped by the key ring and stays the same for the ledger's
 * life: the digests of requests, the hashes of the audit chain, and the sealing of small values (`consumerId`s) that every look-up needs at once,
 * without a call to a key management service.
 */
export class LedgerCipher {
  readonly #digestKey: Uint8Array;
  readonly #valueKey: Uint8Array;
  readonly #chainKey: Uint8Array;
  readonly #ledgerId: string;

  constructor(ledgerId: string, secret: Uint8Array) {
    this.#ledgerId = ledgerId;
    this.#digestKey = derive(secret, ledgerId, 'request digest');
    this.#valueKey = derive(secret, ledgerId, 'small values');
    this.#chainKey = derive(secret, ledgerId, 'audit chain');
  }

  /** HMAC-SHA-256, lower-case hex. */
  digest(text: string): string {
    return createHmac('sha256', this.#digestKey).update(text, 'utf8').digest('hex');
  }

  /** HMAC-SHA-256, lower-case hex: what the audit chain is made of. */
  chainHash(text: string): string {
    return createHmac('sha256', this.#chainKey).update(text, 'utf8').digest('hex');
  }

  /** Seals a JSON value, bound to the row and column that `place` names. */
  sealValue(value: unknown, ...place: readonly string[]): Uint8Array {
    return encrypt(this.#valueKey, Buffer.from(JSON.stringify(value), 'utf8'), boundTo(this.#ledgerId, ...place));
  }

  unsealValue(sealed: Uint8Array, ...place: readonly string[]): unknown {
    return JSON.parse(decrypt(this.#valueKey, sealed, boundTo(this.#ledgerId, ...place)).toString('utf8'));
  }
}

function derive(secret: Uint8Array, ledgerId: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, ledgerId, purpose, 32));
}

function nameOf(sealedFor: SealedFor): string {
  const { ledgerId, customerTraceNumber, attempt, kind } = sealedFor;
  return JSON.stringify([ledgerId, customerTraceNumber, attempt, ...(kind === undefined ? [] : [kind])]);
}
