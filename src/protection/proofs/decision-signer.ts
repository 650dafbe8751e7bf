/** Signs decisions of people, for a program that knows who they are. decision-proof.ts checks what it makes. */
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { isRecord } from '../../base/is-record.ts';
import { parseJson } from '../../base/json-safety.ts';
import type { DecisionContent, RepeatContent } from '../../model/decision-content.ts';

export interface DecisionSigner {
  /** As the ledger has it with each decision, and the key set that checks them. */
  keyId: string;
  /** Good for ten minutes: it is judged as of the moment at which the run received it. */
  sign(content: DecisionContent | RepeatContent): Promise<string>;
}

const GOOD_FOR = '10m';

const MIN_RSA_BITS = 2_048;

/**
 * @param file a private key: a JWK, or PKCS#8 in PEM
 * @param keyId default: `kid` of the JWK, else the key's thumbprint (RFC 7638)
 * @throws Error that tells nothing of the key
 */
export async function loadDecisionSigner(file: string, keyId?: string): Promise<DecisionSigner> {
  const { key, kid } = readKey(readFileSync(file, 'utf8'));
  const alg = algorithmOf(key);
  const id = keyId ?? kid ?? (await calculateJwkThumbprint(await exportJWK(createPublicKey(key))));
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

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'rsa' && modulusLength >= MIN_RSA_BITS) return 'PS256';
  const algorithm = asymmetricKeyType === 'ec' ? CURVES[namedCurve] : undefined;
  if (algorithm) return algorithm;
  throw new Error(`the key that signs decisions must be EC, Ed25519, or RSA of ${MIN_RSA_BITS} bits or more`);
}
