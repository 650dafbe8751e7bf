/** Envelope encryption: each sealed thing has a data key of its own, wrapped by the key ring's current `ledger` key. */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { decrypt, encrypt, toAssociatedData } from '../aead.ts';
import { SealBrokenError } from '../errors.ts';
import type { KeyWrapper, WrappedKey } from '../keys/key-ring.ts';

/** Names the layout of `body` in `aead.ts`. Stored beside it, so that a later layout can be recognized. */
const SEAL_ALGORITHM = 'A256GCM';

/** The row that a seal is bound to. The same bytes do not open in another row. */
interface SealedFor {
  ledgerId: string;
  customerTraceNumber: string;
  attempt: number;
  /** Bytes of one kind do not open as another. */
  kind: string;
}

export interface Sealed extends WrappedKey {
  body: Uint8Array;
  algorithm: string;
}

/** Seals a text under a fresh data key. */
export async function seal(keys: KeyWrapper, text: string, sealedFor: SealedFor): Promise<Sealed> {
  const dataKey = randomBytes(32);
  const bound = toSealName(sealedFor);
  const body = encrypt(createSecretKey(dataKey), Buffer.from(text, 'utf8'), toAssociatedData('report', bound));
  const wrapped = await keys.wrap('ledger', dataKey, bound);
  dataKey.fill(0);
  return { body, ...wrapped, algorithm: SEAL_ALGORITHM };
}

/**
 * Opens the sealed text. Throws `UnknownKeyError` with the id of a missing key, and `SealBrokenError` if anything was
 * changed.
 */
export async function unseal(keys: KeyWrapper, sealed: Sealed, sealedFor: SealedFor): Promise<string> {
  if (sealed.algorithm !== SEAL_ALGORITHM) {
    throw new SealBrokenError('sealed by an algorithm that this version does not know');
  }
  const bound = toSealName(sealedFor);
  const dataKey = await keys.unwrap('ledger', sealed, bound);
  return decrypt(createSecretKey(dataKey), sealed.body, toAssociatedData('report', bound)).toString('utf8');
}

/**
 * Wraps a key under the key ring's current key. Errors as `unseal`, except those of a body.
 *
 * @param bound the name that it was wrapped with, of a data key `toSealName`
 */
export async function rewrap(keys: KeyWrapper, wrappedKey: WrappedKey, bound: string): Promise<WrappedKey> {
  const dataKey = await keys.unwrap('ledger', wrappedKey, bound);
  const wrapped = await keys.wrap('ledger', dataKey, bound);
  dataKey.fill(0);
  return wrapped;
}

/**
 * Keys that one ledger derives from its own secret: for digests of requests, for hashes of the audit chain, and for
 * sealing small values. Look-ups need those values (`consumerId`s) at once, without a call to a key management service.
 * The key ring wraps the secret, which stays the same for the ledger's life.
 */
export class LedgerCipher {
  readonly #digestKey: KeyObject;
  readonly #valueKey: KeyObject;
  readonly #chainKey: KeyObject;
  readonly #ledgerId: string;

  constructor(ledgerId: string, secret: Uint8Array) {
    this.#ledgerId = ledgerId;
    this.#digestKey = derive(secret, ledgerId, 'request digest');
    this.#valueKey = derive(secret, ledgerId, 'small values');
    this.#chainKey = derive(secret, ledgerId, 'audit chain');
  }

  /** Returns HMAC-SHA-256 in lower-case hex. */
  digest(text: string): string {
    return createHmac('sha256', this.#digestKey).update(text, 'utf8').digest('hex');
  }

  /** HMAC-SHA-256, lower-case hex, for the audit chain. */
  chainHash(text: string): string {
    return createHmac('sha256', this.#chainKey).update(text, 'utf8').digest('hex');
  }

  /** Seals a JSON value, bound to the row and column that `place` names. */
  sealValue(value: unknown, ...place: readonly string[]): Uint8Array {
    return encrypt(
      this.#valueKey,
      Buffer.from(JSON.stringify(value), 'utf8'),
      toAssociatedData(this.#ledgerId, ...place),
    );
  }

  unsealValue(sealed: Uint8Array, ...place: readonly string[]): unknown {
    return JSON.parse(decrypt(this.#valueKey, sealed, toAssociatedData(this.#ledgerId, ...place)).toString('utf8'));
  }
}

function derive(secret: Uint8Array, ledgerId: string, purpose: string): KeyObject {
  return createSecretKey(new Uint8Array(hkdfSync('sha256', secret, ledgerId, purpose, 32)));
}

export function toSealName({ ledgerId, customerTraceNumber, attempt, kind }: SealedFor): string {
  return JSON.stringify([ledgerId, customerTraceNumber, attempt, kind]);
}
