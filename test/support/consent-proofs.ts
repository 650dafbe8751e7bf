/** A consent system's key, for one process, and the proofs that it makes. */
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose';
import type { ConsentMessage } from '../../src/model/shapes.ts';

const pair = await generateKeyPair('ES256');

export const CONSENT_KEYS: JSONWebKeySet = {
  keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'consents', alg: 'ES256', use: 'sig' }],
};

export interface ProofParts {
  /** What is proved, where that is not the message itself. */
  consent?: object;
  /** Seconds since 1970; `null`: never. Default: in an hour. */
  expiresAt?: number | null;
  claims?: JWTPayload;
}

/** The message with a proof of it. */
export async function proved(message: ConsentMessage, parts: ProofParts = {}): Promise<ConsentMessage> {
  const { expiresAt = Math.floor(Date.now() / 1000) + 3_600, claims = {} } = parts;
  const payload = { consent: parts.consent ?? message, ...(expiresAt === null ? {} : { exp: expiresAt }), ...claims };
  const proof = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'consents' }).sign(pair.privateKey);
  return { ...message, proof };
}
