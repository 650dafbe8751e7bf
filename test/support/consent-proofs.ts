/** A consent system's key, for one process, and the proofs that it makes. */
import type { JWTPayload } from 'jose';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import { inAnHour, newSigningKey } from './signing-keys.ts';

const key = await newSigningKey('consents');

export const CONSENT_KEYS = key.keySet;

export interface ProofParts {
  /** What is proved, where that is not the message itself. */
  consent?: object;
  /** Seconds since 1970; `null`: never. Default: in an hour. */
  expiresAt?: number | null;
  claims?: JWTPayload;
}

/** The message with a proof of it. */
export async function proved(message: ConsentMessage, parts: ProofParts = {}): Promise<ConsentMessage> {
  const { expiresAt = inAnHour(), claims = {} } = parts;
  const payload = { consent: parts.consent ?? message, ...(expiresAt === null ? {} : { exp: expiresAt }), ...claims };
  return { ...message, proof: await key.sign(payload) };
}
