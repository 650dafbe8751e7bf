/** The keys that wrap other keys (docs/protection.md), in memory. */
import type { KeyObject } from 'node:crypto';
import { link, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { defined } from '../../base/defined.ts';
import { boundTo, decrypt, encrypt } from '../aead.ts';
import { SealBrokenError, UnknownKeyError } from '../errors.ts';
import { KEY_USES, type KeyUse, readKeyRing, writeKeyRing } from './key-ring-file.ts';
import { newKey, secretsOf } from './key-secrets.ts';
import { withKeyServices } from './kms.ts';

export interface RingKey {
  id: string;
  use: KeyUse;
  /** RFC 3339. */
  createdAt: string;
  /** RFC 3339; when another key became current. */
  retiredAt?: string;
  /** One `current` key of each use encrypts; all keys decrypt. */
  status: 'current' | 'retired';
  /** The key management service that wraps it in the file; absent where the file has it in the clear. */
  kms?: string;
  /** 32 bytes. A `KeyObject`, because it shows nothing when it is printed or made into JSON. */
  secret: KeyObject;
}

export interface WrappedKey {
  keyId: string;
  bytes: Uint8Array;
}

/** What sealing needs. A key ring or a key management service can provide it: hence the promises. */
export interface KeyWrapper {
  /** The id of the key that `wrap` uses. */
  currentKeyId(use: KeyUse): Promise<string>;
  /** Wraps a data key under the current key of that use, bound to `bound`. */
  wrap(use: KeyUse, dataKey: Uint8Array, bound: string): Promise<WrappedKey>;
  /** Throws `UnknownKeyError` without the key, and `SealBrokenError` where bytes or `bound` differ. */
  unwrap(use: KeyUse, wrapped: WrappedKey, bound: string): Promise<Uint8Array>;
}

/** What the payload codec needs of a key ring. */
export interface PayloadKeys {
  /** The key that encrypts. */
  current(use: KeyUse): RingKey;
  /** `refused`: an operator has declared that this key never comes. `unknown`: it may still come. */
  find(use: KeyUse, id: string): Promise<RingKey | 'refused' | 'unknown'>;
}

/** A key ring in memory, as its file was at the last reading. */
export class KeyRing implements KeyWrapper, PayloadKeys {
  /** All keys, oldest first, in the file's order. */
  readonly keys: readonly RingKey[];
  /** Ids of keys that will never come: what was encrypted under one of them is refused for good. */
  readonly refused: readonly string[];

  /** The keys must hold exactly one current key of each use, as `loadKeyRing` checks. */
  constructor(keys: readonly RingKey[], refused: readonly string[] = []) {
    this.keys = keys;
    this.refused = refused;
  }

  /** The key of that use that encrypts. */
  current(use: KeyUse): RingKey {
    const key = this.keys.find((candidate) => candidate.use === use && candidate.status === 'current');
    if (!key) throw new Error(`a key ring without a current ${use} key`);
    return key;
  }

  /** Any key of that use, current or retired. Throws `UnknownKeyError` where there is none. */
  key(use: KeyUse, id: string): RingKey {
    const key = this.keys.find((candidate) => candidate.use === use && candidate.id === id);
    if (!key) throw new UnknownKeyError(id, use);
    return key;
  }

  async find(use: KeyUse, id: string): Promise<RingKey | 'refused' | 'unknown'> {
    const key = this.keys.find((candidate) => candidate.use === use && candidate.id === id);
    return key ?? (this.refused.includes(id) ? 'refused' : 'unknown');
  }

  async currentKeyId(use: KeyUse): Promise<string> {
    return this.current(use).id;
  }

  async wrap(use: KeyUse, dataKey: Uint8Array, bound: string): Promise<WrappedKey> {
    const key = this.current(use);
    return { keyId: key.id, bytes: encrypt(key.secret, dataKey, boundTo(use, key.id, bound)) };
  }

  async unwrap(use: KeyUse, wrapped: WrappedKey, bound: string): Promise<Uint8Array> {
    const key = this.key(use, wrapped.keyId);
    try {
      return decrypt(key.secret, wrapped.bytes, boundTo(use, key.id, bound));
    } catch {
      throw new SealBrokenError(
        `what was wrapped under the key "${key.id}" does not open: it was changed or moved, or the key ring has another ` +
          'key under that id. Compare the key ring with its copy, and put the right one where KEY_RING_FILE points',
      );
    }
  }
}

/**
 * Makes a new key ring file with one current key of each use, and its directory (0700) where that is missing. Throws
 * `KeyRingError` where the file exists: a key ring is never overwritten.
 *
 * @param kms wraps the keys, by its name as `kms.ts` has it; without one they lie in the file in the clear
 */
export async function createKeyRing(file: string, { kms }: { kms?: string | undefined } = {}): Promise<KeyRing> {
  const createdAt = new Date().toISOString();
  const keys = await withKeyServices((serviceOf) =>
    Promise.all(KEY_USES.map((use) => newKey({ use, createdAt }, kms, serviceOf))),
  );
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeKeyRing(file, { version: 1, keys }, async (aside) => {
    // Linked into place: of two makers, the second gets an error.
    await link(aside, file);
  });
  return loadKeyRing(file);
}

/**
 * Reads a key ring file and unwraps its keys. It calls a key management service once, so that later encryptions cost no
 * call.
 *
 * @throws KeyRingError where it is missing, readable by group or others, or malformed (all problems at once, by JSON
 * pointer); its subclass `KeyServiceError` where a key management service does not open its keys
 */
export async function loadKeyRing(file: string): Promise<KeyRing> {
  const { keys, refused } = (await readKeyRing(file)).content;
  const secrets = await withKeyServices((serviceOf) => secretsOf(file, keys, serviceOf));
  return new KeyRing(
    keys.map(({ id, use, createdAt, retiredAt, status, kms }, index) => ({
      id,
      use,
      createdAt,
      status,
      ...defined({ retiredAt, kms }),
      secret: secrets[index] as KeyObject,
    })),
    refused,
  );
}
