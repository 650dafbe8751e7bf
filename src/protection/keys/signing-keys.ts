/**
 * Keeps the key that the HTTP API signs decisions with, or a consent system its consents. A file that its owner alone can
 * read has the private JWK, and the workers' key set has its public half. The set may hold two keys, so that nothing is
 * refused while the signer moves from one to the other.
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
import { realpath, unlink } from 'node:fs/promises';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { getErrorCode } from '../../base/error-code.ts';
import { isRecord } from '../../base/is-record.ts';
import { parseJson } from '../../base/json-safety.ts';
import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import type { DecisionContent, RepeatContent } from '../../model/decision-content.ts';
import { MIN_RSA_BITS, readKeySet } from '../proofs.ts';
import { acquireFileLock } from './file-lock.ts';
import { placeFile } from './whole-file.ts';

/** Thrown when a key that signs decisions, or the key set beside it, cannot be changed. Names a file, never a key. */
class SigningKeyError extends CreditJourneyError {
  override readonly code = 'signingKeyUnusable';
}

interface SigningKeyFiles {
  /** File of the private key. */
  file: string;
  /** File of the public keys. */
  keySet: string;
}

/**
 * Makes a key, and the key set if it is missing. Never overwrites a key, since it may be in use.
 *
 * @returns the key's id
 * @throws SigningKeyError
 */
export async function makeSigningKey({ file, keySet }: SigningKeyFiles): Promise<string> {
  using _lock = await acquireFileLock(`${keySet}.lock`).catch(() => {
    throw new SigningKeyError(`${keySet} could not be locked: its directory must be writable`);
  });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const common = { kid: `key-${randomBytes(6).toString('hex')}`, alg: 'ES256', use: 'sig' };
  const keys = existsSync(keySet) ? parseKeys(keySet) : [];
  const jwk = { ...privateKey.export({ format: 'jwk' }), ...common };
  await placeFile(file, jwk, { mode: 0o600, isNew: true }).catch((error: unknown) => {
    if (getErrorCode(error) !== 'EEXIST') throw toUnwritableError(file, error);
    throw new SigningKeyError(`there is a ${file} already: it is left as it is`);
  });
  try {
    await writeKeySet(keySet, [...keys, { ...createPublicKey(privateKey).export({ format: 'jwk' }), ...common }]);
  } catch (error) {
    await unlink(file).catch(() => {});
    throw error;
  }
  return common.kid;
}

type PublicKey = JsonWebKey & { kid?: string };

function parseKeys(keySet: string): PublicKey[] {
  try {
    return readKeySet(keySet).keys as PublicKey[];
  } catch {
    throw new SigningKeyError(`${keySet} must be a file with only public keys, {"keys": [...]}`);
  }
}

async function writeKeySet(keySet: string, keys: readonly PublicKey[]): Promise<void> {
  // If the name is a link, the link stays and its target is replaced.
  const target = await realpath(keySet).catch(() => keySet);
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o644;
  await placeFile(target, { keys }, { mode }).catch((error: unknown) => {
    throw toUnwritableError(keySet, error);
  });
}

function toUnwritableError(file: string, error: unknown): SigningKeyError {
  return new SigningKeyError(`${file} could not be written (${getErrorCode(error)})`);
}

// Signs operators' decisions for a program that knows who they are. `proofs.ts` checks the signatures.

export interface DecisionSigner {
  /** The id in the ledger with each decision, and in the key set that checks them. */
  keyId: string;
  /** Valid for ten minutes, since the proof is judged at the moment when the run received it. */
  sign(content: DecisionContent | RepeatContent): Promise<string>;
}

const GOOD_FOR = '10m';

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
    return { key, kid: typeof jwk.kid === 'string' && jwk.kid !== '' ? jwk.kid : undefined };
  } catch {
    // The reason may quote the file.
    throw new SigningKeyError('the key that signs decisions must be a private key, as JWK or PKCS#8 in PEM');
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
