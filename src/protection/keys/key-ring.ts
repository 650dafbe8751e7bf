/** The keys that wrap other keys (docs/protection.md), in memory. */
import { createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { getErrorCode } from '../../base/error-code.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { parseJson } from '../../base/json-safety.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { READ_WITHOUT_WAIT } from '../../base/read-flags.ts';
import { requiredInstant } from '../../fields/fields.ts';
import { findSchemaProblems } from '../../fields/problems.ts';
import type { Problem } from '../../model/problems.ts';
import { decrypt, encrypt, toAssociatedData } from '../aead.ts';
import { KeyRingError, KeyServiceError, KmsError, SealBrokenError, UnknownKeyError } from '../errors.ts';
import { readFileVersion } from '../file-version.ts';
import { acquireFileLock } from './file-lock.ts';
import { isKmsName, type KeyServiceOf, KMS_NAME_RULE, withKeyServices } from './kms.ts';
import { type Placing, placeFile } from './whole-file.ts';

/** The facts of a key in the file, without its secret. */
type KeyFacts = Omit<FileKey, 'secret' | 'wrapped'>;

export interface RingKey extends KeyFacts {
  /** 32 bytes. A `KeyObject`, because it shows nothing when it is printed or made into JSON. */
  secret: KeyObject;
}

/** A data key, and the key of the ring that wraps it. Destroying it makes every copy of what it sealed unreadable. */
export interface WrappedKey {
  wrappedKey: Uint8Array;
  keyId: string;
}

/** Wraps data keys for sealing. */
export type KeyWrapper = Pick<KeyRing, 'current' | 'wrap' | 'unwrap'>;

/** Finds keys for the payload codec. */
export type PayloadKeys = Pick<KeyRing, 'current' | 'find'>;

/** A key ring in memory, as its file was at the last reading. */
export class KeyRing {
  protected content: { readonly keys: readonly RingKey[]; readonly refused: readonly string[] };

  /**
   * @param keys exactly one current key of each use, as `loadKeyRing` checks
   * @param refused ids of keys that will never arrive: content encrypted under one of them is refused for good
   */
  constructor(keys: readonly RingKey[], refused: readonly string[] = []) {
    this.content = { keys, refused };
  }

  /** All keys, oldest first, in the file's order. */
  get keys(): readonly RingKey[] {
    return this.content.keys;
  }

  get refused(): readonly string[] {
    return this.content.refused;
  }

  /** The key of that use that encrypts. */
  current(use: KeyUse): RingKey {
    return findCurrent(this.keys, use);
  }

  /**
   * `refused`: an operator has declared that this key never comes, or the id is that of a key of the other use. The
   * latter cannot be refused by an operator. `unknown`: it may still come.
   */
  async find(use: KeyUse, id: string): Promise<RingKey | 'refused' | 'unknown'> {
    const key = this.keys.find((candidate) => candidate.id === id);
    if (key) return key.use === use ? key : 'refused';
    return this.refused.includes(id) ? 'refused' : 'unknown';
  }

  /** Wraps a data key under the current key of that use, bound to `bound`. */
  async wrap(use: KeyUse, dataKey: Uint8Array, bound: string): Promise<WrappedKey> {
    const key = this.current(use);
    return { wrappedKey: encrypt(key.secret, dataKey, toAssociatedData(use, key.id, bound)), keyId: key.id };
  }

  /** Throws `UnknownKeyError` without the key, and `SealBrokenError` where bytes or `bound` differ. */
  async unwrap(use: KeyUse, { wrappedKey, keyId }: WrappedKey, bound: string): Promise<Uint8Array> {
    const key = await this.find(use, keyId);
    if (typeof key === 'string') throw new UnknownKeyError(keyId, use);
    try {
      return decrypt(key.secret, wrappedKey, toAssociatedData(use, key.id, bound));
    } catch {
      throw new SealBrokenError(
        `what was wrapped under the key "${key.id}" does not open: it was changed or moved, or the key ring has another ` +
          'key under that id. Compare the key ring with its copy, and put the right one where KEY_RING_FILE points',
      );
    }
  }
}

/** Every ring has one, as its schema requires. */
function findCurrent<K extends KeyFacts>(keys: readonly K[], use: KeyUse): K {
  const key = keys.find((candidate) => candidate.use === use && candidate.status === 'current');
  if (!key) throw new Error(`a key ring without a current ${use} key`);
  return key;
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
    Promise.all(KEY_USES.map((use) => generateKey({ use, createdAt }, kms, serviceOf))),
  );
  makeDirectory(dirname(file));
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
  const ringKeys = keys.map(({ wrapped: _, ...key }, index) => ({ ...key, secret: secrets[index] as KeyObject }));
  return new KeyRing(ringKeys, refused);
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
  if (!keyRingMayBeMade || existsSync(keyRingFile)) return;
  // Another process may have made one first; then that key ring is used.
  await createKeyRing(keyRingFile).catch(() => {});
}

// A key ring that follows its file, so that operators can rotate keys under a running worker.

/** How long a worker may keep encrypting under the former key. It looks at once for a key that it needs to decrypt. */
const POLL_MS = 5_000;
export interface KeyRingWatchOptions {
  pollMs?: number;
  /** Called once for each change of the file that could not be read. The former keys stay in use. */
  onReloadFailed?: (error: unknown) => void;
}

export class WatchedKeyRing extends KeyRing {
  readonly #file: string;
  readonly #onReloadFailed: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #version: string;
  /** The version that could not be read: for readiness. A key management service may open it later. */
  #failedVersion: string | undefined;
  #reloading: Promise<void> | undefined;

  private constructor(file: string, ring: KeyRing, version: string, options: KeyRingWatchOptions) {
    super(ring.keys, ring.refused);
    this.#file = file;
    this.#version = version;
    this.#onReloadFailed = options.onReloadFailed ?? (() => {});
    this.#timer = setInterval(() => void this.reload(), options.pollMs ?? POLL_MS);
    this.#timer.unref();
  }

  /** Opens and watches the file. Throws `KeyRingError` as `loadKeyRing`. The caller closes it. */
  static async open(file: string, options: KeyRingWatchOptions = {}): Promise<WatchedKeyRing> {
    // The state is taken before the file is read, so that a change in between counts as a later change.
    const version = readFileVersion(file);
    return new WatchedKeyRing(file, await loadKeyRing(file), version, options);
  }

  /** Whether the file has newer content that could not be used: for readiness. */
  get lastReloadFailed(): boolean {
    return this.#failedVersion !== undefined;
  }

  /** Looks for a missing key in the file before it calls the key unknown. */
  override async find(use: KeyUse, id: string): Promise<RingKey | 'refused' | 'unknown'> {
    // Tries twice, since the first read may have begun before the key was written.
    for (let tries = 0; tries < 2; tries += 1) {
      const found = await super.find(use, id);
      if (found !== 'unknown') return found;
      await this.reload();
    }
    return super.find(use, id);
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
    const version = readFileVersion(this.#file);
    if (version === this.#version) {
      // The file of the keys in use is back.
      this.#failedVersion = undefined;
      return;
    }
    try {
      this.content = await loadKeyRing(this.#file);
      this.#version = version;
      this.#failedVersion = undefined;
    } catch (error) {
      if (version !== this.#failedVersion) this.#onReloadFailed(error);
      this.#failedVersion = version;
    }
  }
}

// Ages of keys (docs/protection.md: a key encrypts for at most 90 days).

const DAY_MS = 24 * 60 * 60 * 1000;

/** The age at which a current key must be replaced. */
export const MAX_ENCRYPTING_DAYS = 90;
/** The age from which warnings appear: two weeks to act in. */
const WARN_FROM_DAYS = 76;

export interface KeyAge extends Omit<KeyFacts, 'kms'> {
  /** The key management service that wraps it; absent where the file has it in the clear. */
  wrappedBy: KeyFacts['kms'];
  /** Whole days since the key was made. */
  ageDays: number;
  /** `retired`: the key encrypts nothing more, and may have any age. */
  verdict: 'good' | 'due' | 'overdue' | 'retired';
}

/** Every key of the ring, or of its file, with its age at `nowMs`; no secrets. */
export function computeKeyAges({ keys }: { keys: readonly KeyFacts[] }, nowMs: number = Date.now()): KeyAge[] {
  return keys.map(({ id, use, status, createdAt, retiredAt, kms }) => {
    const ageMs = nowMs - (parseInstantMs(createdAt) ?? 0);
    const ageDays = Math.max(0, Math.floor(ageMs / DAY_MS));
    const verdict = status === 'retired' ? 'retired' : judgeAge(ageMs);
    return { id, use, status, createdAt, retiredAt, wrappedBy: kms, ageDays, verdict };
  });
}

function judgeAge(ageMs: number): KeyAge['verdict'] {
  if (ageMs > MAX_ENCRYPTING_DAYS * DAY_MS) return 'overdue';
  return ageMs >= WARN_FROM_DAYS * DAY_MS ? 'due' : 'good';
}

/**
 * Reports about a key ring's file, also where its keys cannot be unwrapped now. `problem` names those keys and the
 * remedy. It is `null` if all were unwrapped, or if the file has them in the clear.
 *
 * @throws KeyRingError where the file is missing, readable by group or others, or malformed
 */
export async function examineKeyRing(file: string) {
  const { content } = await readKeyRing(file);
  const problem = await withKeyServices((serviceOf) => openSecrets(file, content.keys, serviceOf)).then(
    () => null,
    (error: unknown) => {
      if (error instanceof KeyServiceError) return error;
      throw error;
    },
  );
  return { keys: computeKeyAges(content), refused: content.refused ?? [], problem };
}

// The key ring's file (docs/protection.md): JSON, readable by its owner alone. It is replaced, never written into.

/** Each key has one use, so that a key of the codec server opens no ledger, and the other way round. */
export const KEY_USES = ['payload', 'ledger'] as const;
export type KeyUse = (typeof KEY_USES)[number];

const SECRET_BYTES = 32;
/** The longest text that AWS KMS unwraps. */
const MAX_WRAPPED_BYTES = 6_144;
/** At 90 days per key, a ring holds some dozen keys in its life. A far larger file is not a key ring. */
const MAX_FILE_BYTES = 1024 * 1024;

export const KEY_ID_FORM = /^[A-Za-z0-9._-]{1,64}$/;

const instantSchema = requiredInstant();
const idSchema = z
  .string()
  .refine((id) => KEY_ID_FORM.test(id), 'must be 1 to 64 letters, digits, dots, dashes or underscores');
const bytesSchema = (min: number, max: number, rule: string) =>
  z.string().refine((text) => {
    const bytes = Buffer.from(text, 'base64');
    return bytes.toString('base64') === text && bytes.byteLength >= min && bytes.byteLength <= max;
  }, rule);

const keySchema = z
  .strictObject({
    id: idSchema,
    use: z.enum(KEY_USES),
    createdAt: instantSchema,
    /** When another key became current. */
    retiredAt: instantSchema.optional(),
    /** One `current` key of each use encrypts; all keys decrypt. */
    status: z.enum(['current', 'retired']),
    /** The secret in the clear; or `wrapped`, by the service that `kms` names. */
    secret: bytesSchema(SECRET_BYTES, SECRET_BYTES, `must be ${SECRET_BYTES} bytes in base64`).optional(),
    wrapped: bytesSchema(1, MAX_WRAPPED_BYTES, `must be 1 to ${MAX_WRAPPED_BYTES} bytes in base64`).optional(),
    /** The key management service that wraps it in the file; absent where the file has it in the clear. */
    kms: z.string().refine(isKmsName, KMS_NAME_RULE).optional(),
  })
  .refine(({ secret, wrapped, kms }) => {
    const isClear = secret !== undefined;
    return isClear !== (wrapped !== undefined) && isClear !== (kms !== undefined);
  }, 'must have either a secret, or what is wrapped and the kms');

const fileSchema = z
  .strictObject({ version: z.literal(1), keys: z.array(keySchema), refused: z.array(idSchema).optional() })
  .check(({ value: { keys, refused = [] }, issues }) => {
    const report = (path: PropertyKey[], message: string) =>
      issues.push({ code: 'custom', input: undefined, path, message });
    for (const [index, { id }] of keys.entries()) {
      if (keys.findIndex((other) => other.id === id) < index) report(['keys', index, 'id'], 'must be unique');
    }
    for (const [index, id] of refused.entries()) {
      // A run that confused two keys could not replay.
      if (keys.some((key) => key.id === id)) {
        report(['refused', index], 'must not be a key of this ring: what is refused stays refused');
      }
    }
    for (const use of KEY_USES) {
      const current = keys.filter((key) => key.use === use && key.status === 'current').length;
      if (current !== 1) report(['keys'], `must hold exactly one current key for ${use}, not ${current}`);
    }
  });

/** A key in the file: with `secret`, or with `wrapped` and `kms`. */
type FileKey = z.input<typeof keySchema>;
/** The content of a key ring file: with the secrets, or with their wrapped form. */
export type KeyRingContent = z.input<typeof fileSchema>;

/** Writes a key ring file, readable by its owner alone. */
async function writeKeyRing(file: string, content: KeyRingContent, how: Omit<Placing, 'mode'>): Promise<void> {
  await placeFile(file, content, { mode: 0o600, ...how }).catch((error: unknown) => {
    const code = getErrorCode(error);
    if (code === 'EEXIST') throw new KeyRingError(`there is a key ring at ${file} already: it is left as it is`);
    throw new KeyRingError(`the key ring ${file} could not be written (${code})`);
  });
}

/**
 * Reads and checks a key ring file, and finds its owner. Calls no key management service.
 *
 * @throws KeyRingError where it is missing, readable by group or others, or malformed
 */
export async function readKeyRing(file: string) {
  const fail = (what: string, problems?: readonly Problem[]) => {
    throw new KeyRingError(`the key ring ${file} ${what}`, problems);
  };
  await using handle = await open(file, READ_WITHOUT_WAIT).catch((error: unknown) => {
    const code = getErrorCode(error);
    // The path is not shown: it may be the keys themselves, put in place of their file.
    const how = code === 'ENOENT' ? ', and `credit-journey keys new` makes one' : '';
    throw new KeyRingError(
      `the key ring cannot be opened (${code}): KEY_RING_FILE (of \`keys\`: --file) names it${how}`,
    );
  });
  // Examines the open file and not its name, which could be moved to another file in between.
  const about = await handle.stat();
  if (!about.isFile()) fail('is not a regular file');
  if (process.platform !== 'win32' && (about.mode & 0o077) !== 0) fail('is open to group or others: `chmod 600` it');
  if (about.size > MAX_FILE_BYTES) fail(`is larger than ${MAX_FILE_BYTES} bytes`);
  // The parser's own message quotes its input, and the input holds keys.
  const [content] = parseJson(await handle.readFile('utf8')) ?? [];
  if (content === undefined) fail('is not JSON');
  const problems = findSchemaProblems(fileSchema, content);
  if (problems.length > 0) fail('is malformed', problems);
  return { content: content as KeyRingContent, owner: { uid: about.uid, gid: about.gid } };
}

// Secrets of a key ring's file: in the clear, or wrapped by a key management service.

/**
 * The context of a wrapped key: authenticated, and readable in the service's log. Never changed: existing rings could
 * not be opened any more.
 */
function toContext({ id, use }: Pick<FileKey, 'id' | 'use'>): Record<string, string> {
  return { project: 'credit-journey', keyId: id, use };
}

/**
 * Makes a fresh key of that use, to be the current one.
 *
 * @throws KeyServiceError
 */
async function generateKey(
  { use, createdAt }: { use: KeyUse; createdAt: string },
  kms: string | undefined,
  openService: KeyServiceOf,
): Promise<FileKey> {
  const secret = randomBytes(SECRET_BYTES);
  const id = `${use}-${randomBytes(6).toString('hex')}`;
  return withSecret({ id, use, createdAt, status: 'current' }, secret, kms, openService);
}

/**
 * Builds the key with this secret, wrapped by `kms` or in the clear. Unwraps once what it wrapped, so that no file gets
 * a key that cannot be opened. Wipes the secret's bytes afterwards.
 *
 * @throws KeyServiceError
 */
async function withSecret(
  { id, use, createdAt, retiredAt, status }: Omit<FileKey, 'secret' | 'wrapped' | 'kms'>,
  secret: Buffer,
  kms: string | undefined,
  openService: KeyServiceOf,
): Promise<FileKey> {
  const key: FileKey = { id, use, createdAt, retiredAt, status };
  try {
    if (kms === undefined) return { ...key, secret: secret.toString('base64') };
    const { wrapped, kms: wrappedBy } = await (await openService(kms)).wrap(secret, toContext(key));
    const again = Buffer.from(await (await openService(wrappedBy)).unwrap(wrapped, toContext(key)));
    const isSame = again.byteLength === SECRET_BYTES && timingSafeEqual(again, secret);
    again.fill(0);
    if (!isSame) throw new KmsError('it does not unwrap to what it was given');
    return { ...key, wrapped: Buffer.from(wrapped).toString('base64'), kms: wrappedBy };
  } catch (error) {
    if (!(error instanceof KmsError)) throw error;
    throw new KeyServiceError(`${kms} does not wrap the key "${id}", and no key ring was changed: ${error.message}`);
  } finally {
    secret.fill(0);
  }
}

/**
 * Returns the secrets of these keys, in their order.
 *
 * @throws KeyServiceError that names every key that was not unwrapped, and what to do
 */
async function openSecrets(file: string, keys: readonly FileKey[], openService: KeyServiceOf): Promise<KeyObject[]> {
  const secrets = await unwrapAll(file, keys, openService);
  return secrets.map((secret) => {
    const key = createSecretKey(secret);
    secret.fill(0);
    return key;
  });
}

/** Like `openSecrets`, but returns bytes: for a ring whose wrapping will change. */
async function unwrapAll(file: string, keys: readonly FileKey[], openService: KeyServiceOf): Promise<Buffer[]> {
  const opened = await Promise.allSettled(keys.map((key) => readSecretBytes(key, openService)));
  const failures = new Map<string, string[]>();
  const secrets: Buffer[] = [];
  for (const [index, outcome] of opened.entries()) {
    const { id, kms } = keys[index] as FileKey;
    if (outcome.status === 'fulfilled') secrets.push(outcome.value);
    else if (outcome.reason instanceof KmsError) {
      const why = `by ${kms}: ${outcome.reason.message}`;
      failures.set(why, [...(failures.get(why) ?? []), `"${id}"`]);
    } else throw outcome.reason;
  }
  if (failures.size === 0) return secrets;
  const reasons = [...failures].map(([why, ids]) => `${ids.join(', ')} ${why}`);
  throw new KeyServiceError(`keys of the key ring ${file} were not unwrapped: ${reasons.join('; ')}`);
}

async function readSecretBytes(key: FileKey, openService: KeyServiceOf): Promise<Buffer> {
  if (key.secret !== undefined) return Buffer.from(key.secret, 'base64');
  if (key.wrapped === undefined || key.kms === undefined) throw new Error('a key without a secret was read');
  const service = await openService(key.kms);
  const secret = Buffer.from(await service.unwrap(Buffer.from(key.wrapped, 'base64'), toContext(key)));
  if (secret.byteLength !== SECRET_BYTES) throw new KmsError(`what is wrapped is not ${SECRET_BYTES} bytes`);
  return secret;
}

// Changes a key ring file: one change at a time, and each one complete or not made.

/**
 * Makes a new current key for each of these uses. The former keys decrypt for as long as they are in the file. A
 * running worker notices by itself (`WatchedKeyRing`).
 *
 * @param kms wraps the new keys; by default they are wrapped, or in the clear, as the former keys are
 * @returns the keys that only decrypt from now on, each with its successor
 * @throws KeyRingError as `readKeyRing`, and where the file cannot be replaced; `KeyServiceError`
 */
export async function rotateKeys(
  file: string,
  uses: readonly KeyUse[] = KEY_USES,
  { kms }: { kms?: string | undefined } = {},
) {
  return change(file, async (content, serviceOf) => {
    const createdAt = new Date().toISOString();
    const made = uses.map((use) =>
      generateKey({ use, createdAt }, kms ?? findCurrent(content.keys, use).kms, serviceOf),
    );
    return (await Promise.all(made)).map((after) => {
      const before = findCurrent(content.keys, after.use);
      Object.assign(before, { status: 'retired', retiredAt: createdAt });
      content.keys.push(after);
      return { use: after.use, retired: before.id, current: after.id };
    });
  });
}

/**
 * Wraps every key of the ring by a key management service or, with `null`, puts them in the clear. The keys themselves
 * stay the same, so nothing that they encrypted has to change.
 *
 * @returns the ids of the keys, and the name of the wrapping key: for an alias, the key that it names
 * @throws KeyRingError as `rotateKeys`
 */
export async function rewrapKeys(file: string, kms: string | null): Promise<{ ids: string[]; wrappedBy?: string }> {
  return change(file, async (content, serviceOf) => {
    const secrets = await unwrapAll(file, content.keys, serviceOf);
    content.keys = await Promise.all(
      content.keys.map((key, index) => withSecret(key, secrets[index] as Buffer, kms ?? undefined, serviceOf)),
    );
    return { ids: content.keys.map(({ id }) => id), wrappedBy: content.keys[0]?.kms };
  });
}

/**
 * Takes every retired key of the ledger out of the file. Reports that are still sealed under one of them are lost.
 *
 * @returns their ids
 * @throws KeyRingError as `rotateKeys`
 */
export async function removeRetiredLedgerKeys(file: string): Promise<string[]> {
  return change(file, async (content) => {
    const isRemoved = ({ use, status }: FileKey) => use === 'ledger' && status === 'retired';
    const removed = content.keys.filter(isRemoved).map(({ id }) => id);
    content.keys = content.keys.filter((key) => !isRemoved(key));
    return removed;
  });
}

/**
 * Records that a key which payloads name will never come. From then on payloads under it are refused, and no run waits
 * for it any longer.
 *
 * @returns whether it was not refused before
 * @throws KeyRingError as `readKeyRing`; where the ring holds that key, or it cannot be the id of a key; and where the
 * file cannot be replaced
 */
export async function refuseKey(file: string, keyId: string): Promise<boolean> {
  if (!KEY_ID_FORM.test(keyId)) throw new KeyRingError('this is not a key id: take it from the alert');
  return change(file, async (content) => {
    if (content.keys.some((key) => key.id === keyId)) {
      throw new KeyRingError(
        `the key ring ${file} holds the key "${keyId}": what it encrypted can be read, and histories need it`,
      );
    }
    const refused = new Set(content.refused);
    const isNew = !refused.has(keyId);
    content.refused = [...refused.add(keyId)];
    return isNew;
  });
}

/** Writes the content as `apply` has changed it, and returns the result of `apply`. */
async function change<T>(
  file: string,
  apply: (content: KeyRingContent, serviceOf: KeyServiceOf) => Promise<T>,
): Promise<T> {
  // If the name is a link, the link stays and its target is replaced.
  const target = await realpath(file).catch(() => file);
  // Reads without the lock first, so that a missing key ring leaves no lock file.
  await readKeyRing(target);
  using _lock = await acquireFileLock(`${target}.lock`).catch(() => {
    throw new KeyRingError(`the key ring ${file} could not be locked: its directory must be writable`);
  });
  const { content, owner } = await readKeyRing(target);
  const result = await withKeyServices((serviceOf) => apply(content, serviceOf));
  await writeKeyRing(target, content, { owner });
  return result;
}
