/** The keys that wrap other keys (docs/protection.md), in memory. */
import type { KeyObject } from 'node:crypto';
import { access, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { omitUndefined } from '../../base/defined.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { boundTo, decrypt, encrypt } from '../aead.ts';
import { KeyServiceError, SealBrokenError, UnknownKeyError } from '../errors.ts';
import { KEY_USES, type KeyUse, newKey, openSecrets, readKeyRing, writeKeyRing } from './key-ring-file.ts';
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

/** Wraps data keys for sealing. A key ring or a key management service can provide it: hence the promises. */
export interface KeyWrapper {
  currentKeyId(use: KeyUse): Promise<string>;
  /** Wraps a data key under the current key of that use, bound to `bound`. */
  wrap(use: KeyUse, dataKey: Uint8Array, bound: string): Promise<WrappedKey>;
  /** Throws `UnknownKeyError` without the key, and `SealBrokenError` where bytes or `bound` differ. */
  unwrap(use: KeyUse, wrapped: WrappedKey, bound: string): Promise<Uint8Array>;
}

/** Finds keys for the payload codec. */
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
  /** Ids of keys that will never arrive. Content encrypted under one of them is refused for good. */
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
    const key = await this.find(use, wrapped.keyId);
    if (typeof key === 'string') throw new UnknownKeyError(wrapped.keyId, use);
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
  await writeKeyRing(file, { version: 1, keys }, { isNew: true });
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
  const secrets = await withKeyServices((serviceOf) => openSecrets(file, keys, serviceOf));
  return new KeyRing(
    keys.map(({ id, use, createdAt, retiredAt, status, kms }, index) => ({
      id,
      use,
      createdAt,
      status,
      ...omitUndefined({ retiredAt, kms }),
      secret: secrets[index] as KeyObject,
    })),
    refused,
  );
}

interface KeyRingSettings {
  keyRingFile: string;
  /** Whether a missing key ring may be made: in a sandbox whose configuration names none. */
  keyRingMayBeMade: boolean;
}

/**
 * Opens the key ring that the configuration names. The sandbox, if none was named, makes one on first use.
 *
 * @throws KeyRingError as `loadKeyRing` and `createKeyRing` do
 */
export async function openKeyRing(settings: KeyRingSettings): Promise<KeyRing> {
  await makeMissingKeyRing(settings);
  return loadKeyRing(settings.keyRingFile);
}

/** Makes the key ring where it is missing. Never throws: a later read of the file gives the reason. */
export async function makeMissingKeyRing({ keyRingFile, keyRingMayBeMade }: KeyRingSettings): Promise<void> {
  if (!keyRingMayBeMade || (await keyRingExists(keyRingFile))) return;
  // Another process may have made one first; then that key ring is used.
  await createKeyRing(keyRingFile).catch(() => {});
}

export function keyRingExists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

// A key ring that follows its file, so that operators can rotate keys under a running worker.

/** How long a worker may keep encrypting under the former key. It looks at once for a key that it needs to decrypt. */
const POLL_MS = 5_000;
/**
 * The wait before the next call to a key management service that did not answer. Every payload under a new key tries
 * this.
 */
const SERVICE_RETRY_MS = 30_000;

export interface KeyRingWatchOptions {
  pollMs?: number;
  serviceRetryMs?: number;
  /** Called when the file has changed, with its new content. */
  onReload?: (ring: KeyRing) => void;
  /**
   * Called once for each change that leaves the file unusable, or whose keys the key management service does not open
   * (`KeyServiceError`, which is tried again). The former keys stay in use.
   */
  onReloadFailed?: (error: unknown) => void;
}

export class WatchedKeyRing implements KeyWrapper, PayloadKeys {
  readonly #file: string;
  readonly #options: KeyRingWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #ring: KeyRing;
  #version: string;
  #retryAtMs = Number.POSITIVE_INFINITY;
  #reloading: Promise<void> | undefined;
  #lastReloadFailed = false;

  private constructor(file: string, ring: KeyRing, version: string, options: KeyRingWatchOptions) {
    this.#file = file;
    this.#ring = ring;
    this.#version = version;
    this.#options = options;
    this.#timer = setInterval(() => void this.reload(), options.pollMs ?? POLL_MS);
    this.#timer.unref();
  }

  /** Opens and watches the file. Throws `KeyRingError` as `loadKeyRing`. The caller closes it. */
  static async open(file: string, options: KeyRingWatchOptions = {}): Promise<WatchedKeyRing> {
    // Taken before the file is read: a change in between counts as a later change.
    const version = await readVersion(file);
    return new WatchedKeyRing(file, await loadKeyRing(file), version, options);
  }

  get ring(): KeyRing {
    return this.#ring;
  }

  /** Whether the file has newer content that could not be used: for readiness. */
  get lastReloadFailed(): boolean {
    return this.#lastReloadFailed;
  }

  current(use: KeyUse): RingKey {
    return this.#ring.current(use);
  }

  /** Looks for a missing key in the file before it calls the key unknown. */
  async find(use: KeyUse, id: string): Promise<RingKey | 'refused' | 'unknown'> {
    // Tries twice, since the first read may have begun before the key was written.
    for (let tries = 0; tries < 2; tries += 1) {
      const found = await this.#ring.find(use, id);
      if (found !== 'unknown') return found;
      await this.reload();
    }
    return this.#ring.find(use, id);
  }

  currentKeyId(use: KeyUse): Promise<string> {
    return this.#ring.currentKeyId(use);
  }

  wrap(use: KeyUse, dataKey: Uint8Array, bound: string): Promise<WrappedKey> {
    return this.#ring.wrap(use, dataKey, bound);
  }

  async unwrap(use: KeyUse, wrapped: WrappedKey, bound: string): Promise<Uint8Array> {
    await this.find(use, wrapped.keyId);
    return this.#ring.unwrap(use, wrapped, bound);
  }

  /** Reads the file again if it has changed. Never throws: if the ring cannot be read, the former one stays. */
  reload(): Promise<void> {
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #reload(): Promise<void> {
    const version = await readVersion(this.#file);
    const isChanged = version !== this.#version;
    if (!isChanged && performance.now() < this.#retryAtMs) return;
    this.#version = version;
    this.#retryAtMs = Number.POSITIVE_INFINITY;
    try {
      this.#ring = await loadKeyRing(this.#file);
      this.#lastReloadFailed = false;
    } catch (error) {
      this.#lastReloadFailed = true;
      if (error instanceof KeyServiceError) {
        this.#retryAtMs = performance.now() + (this.#options.serviceRetryMs ?? SERVICE_RETRY_MS);
      }
      if (isChanged) this.#options.onReloadFailed?.(error);
      return;
    }
    this.#options.onReload?.(this.#ring);
  }
}

/** A text that differs after each relevant change: the file is always replaced, never written into. */
async function readVersion(file: string): Promise<string> {
  const about = await stat(file, { bigint: true }).catch(() => null);
  return about === null ? 'missing' : [about.ino, about.size, about.mtimeNs, about.ctimeNs].join('-');
}

// Ages of keys (docs/protection.md: a key encrypts for at most 90 days).

const DAY_MS = 24 * 60 * 60 * 1000;

/** The age at which a current key must be replaced. */
export const MAX_ENCRYPTING_DAYS = 90;
/** The age from which warnings appear: two weeks to act in. */
const WARN_FROM_DAYS = 76;

export interface KeyAge extends Pick<RingKey, 'id' | 'use' | 'status' | 'createdAt'> {
  retiredAt?: string;
  /** The key management service that wraps it; absent where the file has it in the clear. */
  wrappedBy?: string;
  /** Whole days since the key was made. */
  ageDays: number;
  /** `retired`: the key encrypts nothing more, and may have any age. */
  verdict: 'good' | 'due' | 'overdue' | 'retired';
}

type KeyFacts = Pick<RingKey, 'id' | 'use' | 'status' | 'createdAt'> & {
  retiredAt?: string | undefined;
  kms?: string | undefined;
};

/** Every key of the ring, or of its file, with its age at `nowMs`; no secrets. */
export function keyAges({ keys }: { keys: readonly KeyFacts[] }, nowMs: number = Date.now()): KeyAge[] {
  return keys.map(({ id, use, status, createdAt, retiredAt, kms }) => {
    const ageMs = nowMs - (parseInstantMs(createdAt) ?? 0);
    const ageDays = Math.max(0, Math.floor(ageMs / DAY_MS));
    const verdict = status === 'retired' ? 'retired' : judgeAge(ageMs);
    const optional = omitUndefined({ retiredAt, wrappedBy: kms });
    return { id, use, status, createdAt, ...optional, ageDays, verdict };
  });
}

function judgeAge(ageMs: number): KeyAge['verdict'] {
  if (ageMs > MAX_ENCRYPTING_DAYS * DAY_MS) return 'overdue';
  return ageMs >= WARN_FROM_DAYS * DAY_MS ? 'due' : 'good';
}

// A report about a key ring's file, which works even if its keys cannot be unwrapped now.

interface KeyRingReport {
  /** Every key, with its age and the service that wraps it; no secrets. */
  keys: KeyAge[];
  refused: readonly string[];
  /**
   * Names the keys that were not unwrapped, and the remedy. `null` if all were, or if the file has them in the clear.
   */
  problem: KeyServiceError | null;
}

/** @throws KeyRingError where the file is missing, readable by group or others, or malformed */
export async function examineKeyRing(file: string): Promise<KeyRingReport> {
  const { content } = await readKeyRing(file);
  const problem = await withKeyServices((serviceOf) => openSecrets(file, content.keys, serviceOf)).then(
    () => null,
    (error: unknown) => {
      if (error instanceof KeyServiceError) return error;
      throw error;
    },
  );
  return { keys: keyAges(content), refused: content.refused ?? [], problem };
}
