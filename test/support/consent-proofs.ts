/** The key of a consent system, made once in each process, and its proofs. */
import type { JWTPayload } from 'jose';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import { inAnHour, newSigningKey } from './signing-keys.ts';

const key = await newSigningKey('consents');

export const CONSENT_KEYS = key.keySet;

export interface ProofParts {
  /** The content that the proof covers. Default: the message itself. */
  consent?: object;
  /** Seconds since 1970; `null`: never. Default: in an hour. */
  expiresAt?: number | null;
  claims?: JWTPayload;
}

/** Adds a proof to the message. */
export async function proved(message: ConsentMessage, parts: ProofParts = {}): Promise<ConsentMessage> {
  const { expiresAt = inAnHour(), claims = {} } = parts;
  const payload = { consent: parts.consent ?? message, ...(expiresAt === null ? {} : { exp: expiresAt }), ...claims };
  return { ...message, proof: await key.sign(payload) };
}
