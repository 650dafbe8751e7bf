/** The keys that wrap other keys (docs/protection.md): a JSON file, readable by its owner alone, and the ring it makes. */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseInstantMs } from '../model/instants.ts';
import type { Problem } from '../model/problems.ts';
import { boundTo, decrypt, encrypt } from './aead.ts';
import { KeyRingError, SealBrokenError, UnknownKeyError } from './errors.ts';

/** Each key has one use, so that a key given to the codec server opens no ledger and the other way round. */
export const KEY_USES = ['payload', 'ledger'] as const;
export type KeyUse = (typeof KEY_USES)[number];

export interface RingKey {
  id: string;
  use: KeyUse;
  /** RFC 3339. */
  createdAt: string;
  /** RFC 3339; when another one became current. */
  retiredAt?: string;
  /** One `current` key of each use encrypts; all decrypt. */
  status: 'current' | 'retired';
  /** 32 bytes. A `KeyObject`, because it shows nothing when it is printed or made into JSON. */
  secret: KeyObject;
}

export interface WrappedKey {
  keyId: string;
  bytes: Uint8Array;
}

/** All that sealing needs of a key ring or a key management service: hence the promises. */
export interface KeyWrapper {
  /** The id of the key that `wrap` takes. */
  currentKeyId(use: KeyUse): Promise<string>;
  /** Wraps a data key under the current key of that use, bound to `bound`. */
  wrap(use: KeyUse, dataKey: Uint8Array, bound: string): Promise<WrappedKey>;
  /** `UnknownKeyError` without the key, `SealBrokenError` where bytes or `bound` differ. */
  unwrap(use: KeyUse, wrapped: WrappedKey, bound: string): Promise<Uint8Array>;
}

/** What the payload codec needs of a key ring. */
export interface PayloadKeys {
  /** The key that encrypts. */
  current(use: KeyUse): RingKey;
  /** `refused`: an operator has said that this key never comes. `unknown`: it may be on its way. */
  find(use: KeyUse, id: string): Promise<RingKey | 'refused' | 'unknown'>;
}

/** A key ring in memory, as its file was when it was read. */
export class KeyRing implements KeyWrapper, PayloadKeys {
  /** All keys, oldest first as the file has them. */
  readonly keys: readonly RingKey[];
  /** Ids of keys that will never come: what was encrypted under one is refused for good. */
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

  /** Any key of that use, current or retired; `UnknownKeyError` where there is none. */
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

const SECRET_BYTES = 32;
/** 90 days per key are some dozen keys in a ring's life; a file far beyond that is not a key ring. */
const MAX_FILE_BYTES = 1024 * 1024;

export const KEY_ID_FORM = /^[A-Za-z0-9._-]{1,64}$/;

const idSchema = z.string().regex(KEY_ID_FORM, 'must be 1 to 64 letters, digits, dots, dashes or underscores');
const instantSchema = z
  .string()
  .refine((text) => parseInstantMs(text) !== null, 'must be an RFC 3339 instant with offset');

const keySchema = z.strictObject({
  id: idSchema,
  use: z.enum(KEY_USES, `must be one of ${KEY_USES.join(', ')}`),
  createdAt: instantSchema,
  retiredAt: instantSchema.optional(),
  status: z.enum(['current', 'retired'], 'must be current or retired'),
  secret: z.string().refine(isSecret, `must be ${SECRET_BYTES} bytes in base64`),
});

const fileSchema = z.strictObject({
  version: z.literal(1, 'must be 1'),
  keys: z.array(keySchema),
  refused: z.array(idSchema).optional(),
});

export type FileKey = z.input<typeof keySchema>;
/** A key ring as its file has it: with the secrets. */
export type KeyRingContent = z.input<typeof fileSchema>;

/**
 * Makes a new key ring file with one current key of each use; its directory is made where it is missing (0700).
 * `KeyRingError` where there is a file already: a key ring is never overwritten.
 */
export async function createKeyRing(file: string): Promise<KeyRing> {
  const createdAt = new Date().toISOString();
  const keys = KEY_USES.map((use): FileKey => newKey(use, createdAt));
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeKeyRing(file, { version: 1, keys }, async (aside) => {
    // Linked into place: a second maker loses.
    await link(aside, file);
  });
  return loadKeyRing(file);
}

/**
 * Writes a key ring aside, for its owner alone, and has it put into place: whoever sees the file sees all of it.
 *
 * @param owner of the file that it replaces: one that `root` writes must not lock out the worker's own user
 */
export async function writeKeyRing(
  file: string,
  content: KeyRingContent,
  putInPlace: (aside: string) => Promise<void>,
  owner?: { uid: number; gid: number },
): Promise<void> {
  const directory = dirname(file);
  const aside = join(directory, `.key-ring-${randomBytes(8).toString('hex')}`);
  const handle = await open(aside, 'wx', 0o600).catch((error: unknown) => {
    throw unwritable(file, error);
  });
  try {
    await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
    if (owner && process.platform !== 'win32') await handle.chown(owner.uid, owner.gid);
    await handle.sync();
    await handle.close();
    await putInPlace(aside);
    await syncDirectory(directory);
  } catch (error) {
    throw unwritable(file, error);
  } finally {
    await handle.close().catch(() => {});
    await unlink(aside).catch(() => {});
  }
}

function unwritable(file: string, error: unknown): KeyRingError {
  if (error instanceof KeyRingError) return error;
  if (codeOf(error) === 'EEXIST')
    return new KeyRingError(`there is a key ring at ${file} already: it is left as it is`);
  return new KeyRingError(`the key ring ${file} could not be written (${codeOf(error)})`);
}

/**
 * Reads a key ring file. `KeyRingError` where it is missing, readable by group or others, or malformed (all problems
 * at once, by JSON pointer).
 */
export async function loadKeyRing(file: string): Promise<KeyRing> {
  const { keys, refused } = (await readKeyRing(file)).content;
  return new KeyRing(
    keys.map(({ secret, retiredAt, ...key }) => ({
      ...key,
      ...(retiredAt === undefined ? {} : { retiredAt }),
      secret: createSecretKey(Buffer.from(secret, 'base64')),
    })),
    refused,
  );
}

/** The checked content of a key ring file, and whose it is. `KeyRingError` as `loadKeyRing`. */
export async function readKeyRing(
  file: string,
): Promise<{ content: KeyRingContent; owner: { uid: number; gid: number } }> {
  const { text, owner } = await readPrivate(file);
  const parsed = fileSchema.safeParse(parseJson(text, file));
  if (!parsed.success) throw new KeyRingError(`the key ring ${file} is malformed`, parsed.error.issues.map(problemOf));
  const problems = ringProblems(parsed.data);
  if (problems.length > 0) throw new KeyRingError(`the key ring ${file} is malformed`, problems);
  return { content: parsed.data, owner };
}

async function readPrivate(file: string): Promise<{ text: string; owner: { uid: number; gid: number } }> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    const ways = codeOf(error) === 'ENOENT' ? ': `credit-journey keys new` makes one' : ` (${codeOf(error)})`;
    throw new KeyRingError(`the key ring ${file} cannot be opened${ways}`);
  });
  try {
    // The open file is examined, not its name: nobody can swap it in between.
    const about = await handle.stat();
    if (!about.isFile()) throw new KeyRingError(`the key ring ${file} is not a regular file`);
    if (process.platform !== 'win32' && (about.mode & 0o077) !== 0) {
      throw new KeyRingError(`the key ring ${file} is open to group or others: \`chmod 600\` it`);
    }
    if (about.size > MAX_FILE_BYTES)
      throw new KeyRingError(`the key ring ${file} is larger than ${MAX_FILE_BYTES} bytes`);
    return { text: await handle.readFile('utf8'), owner: { uid: about.uid, gid: about.gid } };
  } finally {
    await handle.close();
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes its input, and the input holds keys.
    throw new KeyRingError(`the key ring ${file} is not JSON`);
  }
}

function ringProblems({ keys, refused = [] }: KeyRingContent): Problem[] {
  const problems: Problem[] = [];
  refused.forEach((id, index) => {
    // A run that took the one for the other on replay would not replay.
    if (keys.some((key) => key.id === id)) {
      problems.push({
        path: `/refused/${index}`,
        rule: 'must not be a key of this ring: what is refused stays refused',
      });
    }
  });
  keys.forEach((key, index) => {
    if (keys.findIndex((other) => other.id === key.id) < index) {
      problems.push({ path: `/keys/${index}/id`, rule: 'must be unique' });
    }
  });
  for (const use of KEY_USES) {
    const current = keys.filter((key) => key.use === use && key.status === 'current').length;
    if (current !== 1)
      problems.push({ path: '/keys', rule: `must hold exactly one current key for ${use}, not ${current}` });
  }
  return problems;
}

/** Never zod's own text for unknown fields: it echoes their names. */
function problemOf(issue: z.core.$ZodIssue): Problem {
  const path = `/${issue.path.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
  if (issue.code === 'unrecognized_keys') return { path, rule: 'has unknown fields' };
  if (issue.code === 'invalid_type') return { path, rule: `must be ${issue.expected}` };
  return { path, rule: issue.message };
}

/** A fresh key of that use, to be the current one. */
export function newKey(use: KeyUse, createdAt: string): FileKey {
  const secret = randomBytes(SECRET_BYTES).toString('base64');
  return { id: `${use}-${randomBytes(6).toString('hex')}`, use, createdAt, status: 'current', secret };
}

function isSecret(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.byteLength === SECRET_BYTES && bytes.toString('base64') === text;
}

async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
