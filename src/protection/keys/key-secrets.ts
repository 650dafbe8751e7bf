/** The secrets of a key ring's file: in the clear, or wrapped by a key management service. */
import { createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { KeyServiceError } from '../errors.ts';
import { KmsError } from '../key-management-service.ts';
import { type FileKey, type KeyUse, SECRET_BYTES } from './key-ring-file.ts';
import type { KeyServiceOf } from './kms.ts';

/**
 * The context of a wrapped key: authenticated, and readable in the service's log. Never changed: existing rings could
 * not be opened any more.
 */
function contextOf({ id, use }: Pick<FileKey, 'id' | 'use'>): Record<string, string> {
  return { project: 'credit-journey', keyId: id, use };
}

/**
 * A fresh key of that use, to be the current one.
 *
 * @throws KeyServiceError
 */
export async function newKey(
  { use, createdAt }: { use: KeyUse; createdAt: string },
  kms: string | undefined,
  serviceOf: KeyServiceOf,
): Promise<FileKey> {
  const secret = randomBytes(SECRET_BYTES);
  const id = `${use}-${randomBytes(6).toString('hex')}`;
  return withSecret({ id, use, createdAt, status: 'current' }, secret, kms, serviceOf);
}

/**
 * The key with this secret, wrapped by `kms` or in the clear. Unwraps once what it wrapped, so that no file gets a key
 * that cannot be opened. Wipes the secret's bytes afterwards.
 *
 * @throws KeyServiceError
 */
export async function withSecret(
  { id, use, createdAt, retiredAt, status }: Omit<FileKey, 'secret' | 'wrapped' | 'kms'>,
  secret: Buffer,
  kms: string | undefined,
  serviceOf: KeyServiceOf,
): Promise<FileKey> {
  const key: FileKey = { id, use, createdAt, ...(retiredAt === undefined ? {} : { retiredAt }), status };
  try {
    if (kms === undefined) return { ...key, secret: secret.toString('base64') };
    const { wrapped, kms: wrappedBy } = await (await serviceOf(kms)).wrap(secret, contextOf(key));
    const again = Buffer.from(await (await serviceOf(wrappedBy)).unwrap(wrapped, contextOf(key)));
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
 * The secrets of these keys, in their order.
 *
 * @throws KeyServiceError that names every key that was not unwrapped, and what to do
 */
export async function secretsOf(file: string, keys: readonly FileKey[], serviceOf: KeyServiceOf): Promise<KeyObject[]> {
  const secrets = await unwrapAll(file, keys, serviceOf);
  return secrets.map((secret) => {
    const key = createSecretKey(secret);
    secret.fill(0);
    return key;
  });
}

/** As `secretsOf`, but as bytes: for a ring whose wrapping will change. */
export async function unwrapAll(file: string, keys: readonly FileKey[], serviceOf: KeyServiceOf): Promise<Buffer[]> {
  const opened = await Promise.allSettled(keys.map((key) => secretBytes(key, serviceOf)));
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

async function secretBytes(key: FileKey, serviceOf: KeyServiceOf): Promise<Buffer> {
  if (key.secret !== undefined) return Buffer.from(key.secret, 'base64');
  if (key.wrapped === undefined || key.kms === undefined) throw new Error('a key without a secret was read');
  const service = await serviceOf(key.kms);
  const secret = Buffer.from(await service.unwrap(Buffer.from(key.wrapped, 'base64'), contextOf(key)));
  if (secret.byteLength !== SECRET_BYTES)
    throw new KmsError('notOpened', `what is wrapped is not ${SECRET_BYTES} bytes`);
  return secret;
}
