/** The keys that wrap other keys (DESIGN section 7): a JSON file, readable by its owner alone, and the ring it makes. */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseInstantMs } from '../model/instants.ts';
import type { Problem } from '../model/problems.ts';
import { boundTo, decrypt, encrypt } from './aead.ts';
import { KeyRingError, UnknownKeyError } from './errors.ts';

/** Each key has one use, so that a key given to the codec server opens no ledger and the other way round. */
export const KEY_USES = ['payload', 'ledger'] as const;
export type KeyUse = (typeof KEY_USES)[number];

export interface RingKey {
  id: string;
  use: KeyUse;
  /** RFC 3339. */
  createdAt: string;
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
  /** Wraps a data key under the current key of that use, bound to `bound`. */
  wrap(use: KeyUse, dataKey: Uint8Array, bound: string): Promise<WrappedKey>;
  /** `UnknownKeyError` without the key, `SealBrokenError` where bytes or `bound` differ. */
  unwrap(use: KeyUse, wrapped: WrappedKey, bound: string): Promise<Uint8Array>;
}

/** A key ring in memory: a `KeyWrapper` whose keys came from a file. */
export class KeyRing implements KeyWrapper {
  readonly #keys: readonly RingKey[];

  /** The keys must hold exactly one current key of each use, as `loadKeyRing` checks. */
  constructor(keys: readonly RingKey[]) {
    this.#keys = keys;
  }

  /** The key of that use that encrypts. */
  current(use: KeyUse): RingKey {
    const key = this.#keys.find((candidate) => candidate.use === use && candidate.status === 'current');
    if (!key) throw new Error(`a key ring without a current ${use} key`);
    return key;
  }

  /** Any key of that use, current or retired; `UnknownKeyError` where there is none. */
  key(use: KeyUse, id: string): RingKey {
    const key = this.#keys.find((candidate) => candidate.use === use && candidate.id === id);
    if (!key) throw new UnknownKeyError(id);
    return key;
  }

  async wrap(use: KeyUse, dataKey: Uint8Array, bound: string): Promise<WrappedKey> {
    const key = this.current(use);
    return { keyId: key.id, bytes: encrypt(key.secret, dataKey, boundTo(use, key.id, bound)) };
  }

  async unwrap(use: KeyUse, wrapped: WrappedKey, bound: string): Promise<Uint8Array> {
    const key = this.key(use, wrapped.keyId);
    return decrypt(key.secret, wrapped.bytes, boundTo(use, key.id, bound));
  }
}

const SECRET_BYTES = 32;
/** 90 days per key are some dozen keys in a ring's life; a file far beyond that is not a key ring. */
const MAX_FILE_BYTES = 1024 * 1024;

const keySchema = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores'),
  use: z.enum(KEY_USES, `must be one of ${KEY_USES.join(', ')}`),
  createdAt: z.string().refine((text) => parseInstantMs(text) !== null, 'must be an RFC 3339 instant with offset'),
  status: z.enum(['current', 'retired'], 'must be current or retired'),
  secret: z
    .string()
    .refine(isSecret, `must be ${SECRET_BYTES} bytes in base64`)
    .transform((text) => Buffer.from(text, 'base64')),
});

const fileSchema = z.strictObject({
  version: z.literal(1, 'must be 1'),
  keys: z.array(keySchema),
});

type FileKey = z.input<typeof keySchema>;

/**
 * Makes a new key ring file with one current key of each use; its directory is made where it is missing (0700).
 * `KeyRingError` where there is a file already: a key ring is never overwritten.
 */
export async function createKeyRing(file: string): Promise<KeyRing> {
  const createdAt = new Date().toISOString();
  const keys = KEY_USES.map((use): FileKey => newKey(use, createdAt));
  const directory = dirname(file);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Written aside and linked into place: whoever sees the file sees all of it, and a second maker loses.
  const aside = join(directory, `.key-ring-${randomBytes(8).toString('hex')}`);
  const handle = await open(aside, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
    await handle.sync();
    await handle.close();
    await link(aside, file);
    await syncDirectory(directory);
  } catch (error) {
    if (codeOf(error) === 'EEXIST')
      throw new KeyRingError(`there is a key ring at ${file} already: it is left as it is`);
    throw new KeyRingError(`the key ring ${file} could not be written (${codeOf(error)})`);
  } finally {
    await handle.close().catch(() => {});
    await unlink(aside).catch(() => {});
  }
  return loadKeyRing(file);
}

/**
 * Reads a key ring file. `KeyRingError` where it is missing, readable by group or others, or malformed (all problems
 * at once, by JSON pointer).
 */
export async function loadKeyRing(file: string): Promise<KeyRing> {
  const parsed = fileSchema.safeParse(parseJson(await readPrivate(file), file));
  if (!parsed.success) throw new KeyRingError(`the key ring ${file} is malformed`, parsed.error.issues.map(problemOf));
  const problems = ringProblems(parsed.data.keys);
  if (problems.length > 0) throw new KeyRingError(`the key ring ${file} is malformed`, problems);
  return new KeyRing(parsed.data.keys.map((key) => ({ ...key, secret: createSecretKey(key.secret) })));
}

async function readPrivate(file: string): Promise<string> {
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
    return await handle.readFile('utf8');
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

function ringProblems(keys: readonly { id: string; use: KeyUse; status: string }[]): Problem[] {
  const problems: Problem[] = [];
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

function newKey(use: KeyUse, createdAt: string): FileKey {
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
