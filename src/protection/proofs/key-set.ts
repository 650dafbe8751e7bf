/** Public keys of others, from a JWKS file: what signatures of tokens and of consents are checked against. */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { isJsonObject, parseJson } from '../../base/json-safety.ts';

/** Signatures with a key pair alone: with a secret one, the public key could be taken for the secret. */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

/** What `jose` refuses to verify with, in words of its own and at the first signature: said at the start instead. */
const MIN_RSA_BITS = 2_048;

/**
 * Looks keys up in the file as it is now: it is read again after each change, so that a key that was taken out counts
 * no longer. While the file cannot be used every look-up throws.
 *
 * @throws Error that names no key, where it cannot be used at the start
 */
export function keySetFile(file: string): JWTVerifyGetKey {
  let version = versionOf(file);
  let lookup: JWTVerifyGetKey = createLocalJWKSet(readKeySet(file));
  return async (header, token) => {
    const found = versionOf(file);
    if (found !== version) {
      lookup = createLocalJWKSet(readKeySet(file));
      version = found;
    }
    return lookup(header, token);
  };
}

function versionOf(file: string): string {
  const { mtimeNs, ctimeNs, size, ino } = statSync(file, { bigint: true });
  return [ino, size, mtimeNs, ctimeNs].join('-');
}

/** @throws Error that names no key */
export function readKeySet(file: string): JSONWebKeySet {
  const [content] = parseJson(readFileSync(file, 'utf8')) ?? [];
  const keys = isJsonObject(content) ? content.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isJsonObject)) {
    throw new Error('a key set must be {"keys": [...]}, with one key or more');
  }
  if (keys.some((key) => key.kty === 'oct' || 'd' in key || 'k' in key)) {
    throw new Error('a key set must hold public keys alone');
  }
  for (const key of keys) checkKey(key);
  return { keys } as unknown as JSONWebKeySet;
}

/** Kinds that are not known here sign nothing that is accepted here: they may stand beside the others. */
function checkKey(jwk: Record<string, unknown>): void {
  if (typeof jwk.kty !== 'string') throw new Error('a key set must hold keys that can be used');
  if (!['RSA', 'EC', 'OKP'].includes(jwk.kty)) return;
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKeyOf(jwk);
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS) {
    throw new Error(`RSA keys of a key set must have ${MIN_RSA_BITS} bits or more`);
  }
}

function publicKeyOf(jwk: Record<string, unknown>): KeyObject {
  try {
    return createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  } catch {
    throw new Error('a key set must hold keys that can be used');
  }
}
