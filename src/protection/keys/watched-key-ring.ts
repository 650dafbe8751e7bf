/** A key ring that follows its file, so that operators can rotate keys under a running worker. */
import { stat } from 'node:fs/promises';
import { KeyServiceError, UnknownKeyError } from '../errors.ts';
import {
  type KeyRing,
  type KeyWrapper,
  loadKeyRing,
  type PayloadKeys,
  type RingKey,
  type WrappedKey,
} from './key-ring.ts';
import type { KeyUse } from './key-ring-file.ts';

/** How long a worker may go on encrypting under the former key. A key that it needs to decrypt it looks for at once. */
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
    // The timer keeps no process alive.
    this.#timer.unref();
  }

  /** Opens and watches the file. Throws `KeyRingError` as `loadKeyRing`. The caller closes it. */
  static async open(file: string, options: KeyRingWatchOptions = {}): Promise<WatchedKeyRing> {
    // Taken before the file is read: a change in between counts as a later change.
    const version = await versionOf(file);
    return new WatchedKeyRing(file, await loadKeyRing(file), version, options);
  }

  /** The keys as they are now. */
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
    // Twice: the first read may be one that had begun before the key was written.
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
    if ((await this.find(use, wrapped.keyId)) === 'unknown') throw new UnknownKeyError(wrapped.keyId, use);
    return this.#ring.unwrap(use, wrapped, bound);
  }

  /** Reads the file again where it has changed. Never throws: where the ring cannot be read, the former one stays. */
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
    const version = await versionOf(this.#file);
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
async function versionOf(file: string): Promise<string> {
  const about = await stat(file, { bigint: true }).catch(() => null);
  return about === null ? 'missing' : [about.ino, about.size, about.mtimeNs, about.ctimeNs].join('-');
}
