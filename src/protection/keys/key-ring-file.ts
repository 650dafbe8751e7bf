/** The key ring's file (docs/protection.md): JSON, readable by its owner alone. It is replaced, never written into. */
import { createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { Problem } from '../../model/problems.ts';
import { KeyRingError, KeyServiceError } from '../errors.ts';
import { KmsError } from '../key-management-service.ts';
import { isKmsName, type KeyServiceOf, KMS_NAME_RULE } from './kms.ts';
import { placeFile } from './whole-file.ts';

/** Each key has one use, so that a key of the codec server opens no ledger, and the other way round. */
export const KEY_USES = ['payload', 'ledger'] as const;
export type KeyUse = (typeof KEY_USES)[number];

const SECRET_BYTES = 32;
/** The longest text that AWS KMS unwraps. */
const MAX_WRAPPED_BYTES = 6_144;
/** At 90 days per key, a ring holds some dozen keys in its life. A far larger file is not a key ring. */
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
  /** The secret in the clear; or `wrapped`, by the service that `kms` names. */
  secret: z.string().refine(isSecret, `must be ${SECRET_BYTES} bytes in base64`).optional(),
  wrapped: z.string().refine(isWrapped, `must be 1 to ${MAX_WRAPPED_BYTES} bytes in base64`).optional(),
  kms: z.string().refine(isKmsName, KMS_NAME_RULE).optional(),
});

const fileSchema = z.strictObject({
  version: z.literal(1, 'must be 1'),
  keys: z.array(keySchema),
  refused: z.array(idSchema).optional(),
});

/** A key in the file: with `secret`, or with `wrapped` and `kms`. */
type FileKey = z.input<typeof keySchema>;
/** The content of a key ring file: with the secrets, or with their wrapped form. */
export type KeyRingContent = z.input<typeof fileSchema>;

/**
 * Writes a key ring file, readable by its owner alone.
 *
 * @param how `isNew`: never overwrites one. Else the owner of the replaced file, who stays its owner
 */
export async function writeKeyRing(
  file: string,
  content: KeyRingContent,
  how: { isNew: true } | { owner: { uid: number; gid: number } },
): Promise<void> {
  await placeFile(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, ...how }).catch((error: unknown) => {
    throw unwritable(file, error);
  });
}

function unwritable(file: string, error: unknown): KeyRingError {
  if (errorCode(error) === 'EEXIST') {
    return new KeyRingError(`there is a key ring at ${file} already: it is left as it is`);
  }
  return new KeyRingError(`the key ring ${file} could not be written (${errorCode(error)})`);
}

/**
 * Reads and checks a key ring file, and finds its owner. Calls no key management service.
 *
 * @throws KeyRingError where it is missing, readable by group or others, or malformed
 */
export async function readKeyRing(
  file: string,
): Promise<{ content: KeyRingContent; owner: { uid: number; gid: number } }> {
  const { text, owner } = await readPrivate(file);
  const parsed = fileSchema.safeParse(parseJson(text, file));
  if (!parsed.success) throw new KeyRingError(`the key ring ${file} is malformed`, parsed.error.issues.map(toProblem));
  const problems = ringProblems(parsed.data);
  if (problems.length > 0) throw new KeyRingError(`the key ring ${file} is malformed`, problems);
  return { content: parsed.data, owner };
}

async function readPrivate(file: string): Promise<{ text: string; owner: { uid: number; gid: number } }> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    const ways = errorCode(error) === 'ENOENT' ? ': `credit-journey keys new` makes one' : ` (${errorCode(error)})`;
    throw new KeyRingError(`the key ring ${file} cannot be opened${ways}`);
  });
  try {
    // Examines the open file and not its name, which could be moved to another file in between.
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
    // A run that confused two keys could not replay.
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
    const isClear = key.secret !== undefined && key.wrapped === undefined && key.kms === undefined;
    const isWhollyWrapped = key.secret === undefined && key.wrapped !== undefined && key.kms !== undefined;
    if (!isClear && !isWhollyWrapped) {
      problems.push({ path: `/keys/${index}`, rule: 'must have either a secret, or what is wrapped and the kms' });
    }
  });
  for (const use of KEY_USES) {
    const current = keys.filter((key) => key.use === use && key.status === 'current').length;
    if (current !== 1)
      problems.push({ path: '/keys', rule: `must hold exactly one current key for ${use}, not ${current}` });
  }
  return problems;
}

/** Never uses zod's own text for unknown fields, which repeats their names. */
function toProblem(issue: z.core.$ZodIssue): Problem {
  const path = `/${issue.path.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
  if (issue.code === 'unrecognized_keys') return { path, rule: 'has unknown fields' };
  if (issue.code === 'invalid_type') return { path, rule: `must be ${issue.expected}` };
  return { path, rule: issue.message };
}

function isSecret(text: string): boolean {
  return isBase64(text) && Buffer.byteLength(text, 'base64') === SECRET_BYTES;
}

function isWrapped(text: string): boolean {
  return text !== '' && isBase64(text) && Buffer.byteLength(text, 'base64') <= MAX_WRAPPED_BYTES;
}

function isBase64(text: string): boolean {
  return Buffer.from(text, 'base64').toString('base64') === text;
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
export async function newKey(
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
export async function withSecret(
  { id, use, createdAt, retiredAt, status }: Omit<FileKey, 'secret' | 'wrapped' | 'kms'>,
  secret: Buffer,
  kms: string | undefined,
  openService: KeyServiceOf,
): Promise<FileKey> {
  const key: FileKey = { id, use, createdAt, ...(retiredAt === undefined ? {} : { retiredAt }), status };
  try {
    if (kms === undefined) return { ...key, secret: secret.toString('base64') };
    const { wrapped, kms: wrappedBy } = await (await openService(kms)).wrap(secret, toContext(key));
    const again = Buffer.from(await (await openService(wrappedBy)).unwrap(wrapped, toContext(key)));
    const isSame = again.byteLength === SECRET_BYTES && timingSafeEqual(again, secret);
    again.fill(0);
    if (!isSame) throw new KmsError('unknown', 'it unwraps something else than it was given');
    return { ...key, wrapped: Buffer.from(wrapped).toString('base64'), kms: wrappedBy };
  } catch (error) {
    if (!(error instanceof KmsError)) throw error;
    const why = `${kms} does not wrap the key "${id}", and no key ring was changed: ${error.message}`;
    throw new KeyServiceError(why, [error.code]);
  } finally {
    secret.fill(0);
  }
}

/**
 * Returns the secrets of these keys, in their order.
 *
 * @throws KeyServiceError that names every key that was not unwrapped, and what to do
 */
export async function openSecrets(
  file: string,
  keys: readonly FileKey[],
  openService: KeyServiceOf,
): Promise<KeyObject[]> {
  const secrets = await unwrapAll(file, keys, openService);
  return secrets.map((secret) => {
    const key = createSecretKey(secret);
    secret.fill(0);
    return key;
  });
}

/** Like `openSecrets`, but returns bytes: for a ring whose wrapping will change. */
export async function unwrapAll(file: string, keys: readonly FileKey[], openService: KeyServiceOf): Promise<Buffer[]> {
  const opened = await Promise.allSettled(keys.map((key) => secretBytes(key, openService)));
  const failures = new Map<string, { kms: string; error: KmsError; ids: string[] }>();
  const secrets: Buffer[] = [];
  for (const [index, outcome] of opened.entries()) {
    const { id, kms = '' } = keys[index] as FileKey;
    if (outcome.status === 'fulfilled') secrets.push(outcome.value);
    else if (outcome.reason instanceof KmsError) {
      const group = failures.get(`${kms} ${outcome.reason.code}`) ?? { kms, error: outcome.reason, ids: [] };
      failures.set(`${kms} ${outcome.reason.code}`, { ...group, ids: [...group.ids, id] });
    } else throw outcome.reason;
  }
  if (failures.size === 0) return secrets;
  const told = [...failures.values()].map(({ kms, error, ids }) => {
    return `${ids.map((id) => `"${id}"`).join(', ')} by ${kms}: ${error.message}`;
  });
  throw new KeyServiceError(
    `keys of the key ring ${file} were not unwrapped: ${told.join('; ')}`,
    [...failures.values()].map(({ error }) => error.code),
  );
}

async function secretBytes(key: FileKey, openService: KeyServiceOf): Promise<Buffer> {
  if (key.secret !== undefined) return Buffer.from(key.secret, 'base64');
  if (key.wrapped === undefined || key.kms === undefined) throw new Error('a key without a secret was read');
  const service = await openService(key.kms);
  const secret = Buffer.from(await service.unwrap(Buffer.from(key.wrapped, 'base64'), toContext(key)));
  if (secret.byteLength !== SECRET_BYTES)
    throw new KmsError('notOpened', `what is wrapped is not ${SECRET_BYTES} bytes`);
  return secret;
}
