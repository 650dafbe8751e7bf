/**
 * Keeps the key that the HTTP API signs decisions with in files: a private JWK that its owner alone can read, and its
 * public half in the key set of the workers. It is rotated in three steps, so that no decision is refused meanwhile:
 * `prepare` puts the next public key into the set, `activate` lets the API sign with it, `retire` removes the former
 * one.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { open, realpath, rename, unlink } from 'node:fs/promises';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { isRecord } from '../../base/is-record.ts';
import { parseJson } from '../../base/json-safety.ts';
import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import type { DecisionContent, RepeatContent } from '../../model/decision-content.ts';
import { readKeySet } from '../proofs.ts';
import { fileLock } from './file-lock.ts';

/** Thrown when a key that signs decisions, or the key set beside it, cannot be changed. Names a file, never a key. */
class SigningKeyError extends CreditJourneyError {
  override readonly code = 'signingKeyUnusable';
}

/** Names the file of the next key, beside the current one. */
export function nextKeyFile(file: string): string {
  return `${file}.next`;
}

interface SigningKeyFiles {
  /** File of the private key. */
  file: string;
  /** File of the public keys. */
  keySet: string;
}

/**
 * Makes the first key, and the key set if it is missing. Never overwrites a key.
 *
 * @returns the key's id
 * @throws SigningKeyError
 */
export function makeSigningKey({ file, keySet }: SigningKeyFiles): Promise<string> {
  return withLock(keySet, () => makeKey(file, keySet));
}

/** Makes the key that is to follow. @throws SigningKeyError */
export async function prepareSigningKey({ file, keySet }: SigningKeyFiles): Promise<{ current: string; next: string }> {
  const current = keyIdIn(file);
  return withLock(keySet, async () => ({ current, next: await makeKey(nextKeyFile(file), keySet) }));
}

/** Lets the next start of the API sign with the prepared key. @throws SigningKeyError */
export function activateSigningKey({ file, keySet }: SigningKeyFiles): Promise<{ former: string; current: string }> {
  return withLock(keySet, async () => {
    const next = nextKeyFile(file);
    const [former, current] = [keyIdIn(file), keyIdIn(next)];
    if (!keysIn(keySet).some(({ kid }) => kid === current)) {
      throw new SigningKeyError(`${keySet} lacks the public key ${current}: every decision would be refused`);
    }
    await rename(next, file).catch((error: unknown) => {
      throw new SigningKeyError(`${file} could not be written (${readErrorCode(error)})`);
    });
    return { former, current };
  });
}

/** Removes a public key from the set: its signatures are refused from then on. @throws SigningKeyError */
export function retireSigningKey({ file, keySet }: SigningKeyFiles, keyId: string): Promise<void> {
  return withLock(keySet, async () => {
    if (existsSync(file) && keyIdIn(file) === keyId) {
      throw new SigningKeyError(`${keyId} is the key in ${file}: the API signs with it`);
    }
    const keys = keysIn(keySet);
    const left = keys.filter(({ kid }) => kid !== keyId);
    if (left.length === keys.length) throw new SigningKeyError(`${keySet} has no key ${keyId}`);
    if (left.length === 0) throw new SigningKeyError(`${keyId} is the last key of ${keySet}, which must have one`);
    await writeKeySet(keySet, left);
  });
}

/** Reads the `kid` of a private JWK. @throws SigningKeyError */
export function keyIdIn(file: string): string {
  try {
    const { kid, d } = JSON.parse(readFileSync(file, 'utf8')) as { kid?: unknown; d?: unknown };
    if (typeof kid === 'string' && kid !== '' && typeof d === 'string') return kid;
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') throw new SigningKeyError(`there is no ${file}`);
    // A parser's reason may quote the key.
  }
  throw new SigningKeyError(`${file} is no private JWK with a kid, as \`credit-journey keys signing\` makes them`);
}

async function makeKey(file: string, keySet: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const common = { kid: `api-${randomBytes(6).toString('hex')}`, alg: 'ES256', use: 'sig' };
  const keys = existsSync(keySet) ? keysIn(keySet) : [];
  const jwk = { ...privateKey.export({ format: 'jwk' }), ...common };
  // Never replaces a file, since its key may be in use.
  await writeFile(file, `${JSON.stringify(jwk, null, 2)}\n`, 0o600);
  try {
    await writeKeySet(keySet, [...keys, { ...createPublicKey(privateKey).export({ format: 'jwk' }), ...common }]);
  } catch (error) {
    await unlink(file).catch(() => {});
    throw error;
  }
  return common.kid;
}

type PublicKey = JsonWebKey & { kid?: string };

function keysIn(keySet: string): PublicKey[] {
  try {
    return readKeySet(keySet).keys as PublicKey[];
  } catch {
    throw new SigningKeyError(`${keySet} must be a file with public keys alone, {"keys": [...]}`);
  }
}

/** Replaces the file in one step, because workers read it at any time. */
async function writeKeySet(keySet: string, keys: readonly PublicKey[]): Promise<void> {
  // If the name is a link, the link stays and its target is replaced.
  const target = await realpath(keySet).catch(() => keySet);
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o644;
  const aside = `${target}.${randomBytes(6).toString('hex')}`;
  await writeFile(aside, `${JSON.stringify({ keys }, null, 2)}\n`, mode);
  await rename(aside, target).catch(async (error: unknown) => {
    await unlink(aside).catch(() => {});
    throw new SigningKeyError(`${keySet} could not be written (${readErrorCode(error)})`);
  });
}

/** Writes a new file. @throws SigningKeyError */
async function writeFile(file: string, text: string, mode: number): Promise<void> {
  try {
    const handle = await open(file, 'wx', mode);
    try {
      // The process's mask may have taken rights away that workers need.
      await handle.chmod(mode);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = readErrorCode(error);
    throw new SigningKeyError(
      code === 'EEXIST' ? `there is a ${file} already: it is left as it is` : `${file} could not be written (${code})`,
    );
  }
}

async function withLock<T>(keySet: string, work: () => Promise<T>): Promise<T> {
  const lock = await fileLock(`${keySet}.lock`).catch(() => {
    throw new SigningKeyError(`${keySet} could not be locked: its directory must be writable`);
  });
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function readErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

// Signs operators' decisions for a program that knows who they are. `proofs.ts` checks the signatures.

export interface DecisionSigner {
  /** The id in the ledger with each decision, and in the key set that checks them. */
  keyId: string;
  /** Good for ten minutes: it is judged as of the moment at which the run received it. */
  sign(content: DecisionContent | RepeatContent): Promise<string>;
}

const GOOD_FOR = '10m';

const MIN_RSA_BITS = 2_048;

/**
 * The key's id is the `kid` of the JWK, else the key's thumbprint (RFC 7638).
 *
 * @param file a private key: a JWK, or PKCS#8 in PEM
 * @throws Error that tells nothing of the key
 */
export async function loadDecisionSigner(file: string): Promise<DecisionSigner> {
  const { key, kid } = readKey(readFileSync(file, 'utf8'));
  const alg = toAlgorithm(key);
  const id = kid ?? (await calculateJwkThumbprint(await exportJWK(createPublicKey(key))));
  return {
    keyId: id,
    sign: (decision) =>
      new SignJWT({ decision })
        .setProtectedHeader({ alg, kid: id })
        .setIssuedAt()
        .setExpirationTime(GOOD_FOR)
        .sign(key),
  };
}

function readKey(text: string): { key: KeyObject; kid?: string } {
  const [jwk] = parseJson(text) ?? [];
  try {
    if (!isRecord(jwk)) return { key: createPrivateKey(text) };
    const key = createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return { key, ...(typeof jwk.kid === 'string' && jwk.kid !== '' ? { kid: jwk.kid } : {}) };
  } catch {
    // The reason may quote the file.
    throw new Error('the key that signs decisions must be a private key, as JWK or PKCS#8 in PEM');
  }
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

function toAlgorithm({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'rsa' && modulusLength >= MIN_RSA_BITS) return 'PS256';
  const algorithm = asymmetricKeyType === 'ec' ? CURVES[namedCurve] : undefined;
  if (algorithm) return algorithm;
  throw new Error(`the key that signs decisions must be EC, Ed25519, or RSA of ${MIN_RSA_BITS} bits or more`);
}
