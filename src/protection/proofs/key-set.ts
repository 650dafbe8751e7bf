/** Public keys of other systems, from a JWKS file. They check the signatures of tokens, consents and decisions. */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { isRecord } from '../../base/is-record.ts';
import { parseJson } from '../../base/json-safety.ts';

/** Only signatures with a key pair: with a shared secret, an attacker could use the public key as the secret. */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

/** `jose` refuses shorter keys, but only at the first signature. This check refuses them at the start. */
const MIN_RSA_BITS = 2_048;

/**
 * Looks keys up in the current file: it reads the file again after each change, so that a removed key counts no longer.
 * While the file cannot be used every look-up throws.
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
  const keys = isRecord(content) ? content.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isRecord)) {
    throw new Error('a key set must be {"keys": [...]}, with one key or more');
  }
  if (keys.some((key) => key.kty === 'oct' || 'd' in key || 'k' in key)) {
    throw new Error('a key set must hold public keys alone');
  }
  for (const key of keys) checkKey(key);
  return { keys } as unknown as JSONWebKeySet;
}

/** Keys of unknown kinds may stand beside the others: no signature of theirs is accepted here. */
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
