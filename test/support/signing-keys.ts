/** A key that signs proofs, made once in each process. */
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose';

export interface SigningKey {
  keySet: JSONWebKeySet;
  /** A compact JWS. */
  sign(payload: JWTPayload): Promise<string>;
}

export async function newSigningKey(kid: string): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return {
    keySet: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }] },
    sign: (payload) => new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey),
  };
}

/** The time in seconds since 1970. */
export function inAnHour(): number {
  return Math.floor(Date.now() / 1000) + 3_600;
}
