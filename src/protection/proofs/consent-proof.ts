/** Proofs of consents, over the message itself. docs/journeys.md, "Consent that can be proved". */
import { isDeepStrictEqual } from 'node:util';
import type { ConsentMessage } from '../../messages/journey/shapes.ts';
import { createSignedContentReader, type ProofRefusal } from './signed-content.ts';

export type ProofVerdict = { accepted: true } | { accepted: false; reason: ProofRefusal };

/**
 * Judges a message's proof as of the instant at which the journey received it, so that whoever asks again later is
 * told the same. It proves no consent of another journey, share, applicant or secondary user, and none that was altered.
 *
 * @throws Error where the keys cannot be read just now: nothing was judged
 */
export type ConsentProofVerifier = (consent: ConsentMessage, receivedAt: Date) => Promise<ProofVerdict>;

/**
 * @param keySet path of a JWKS file; without one no proof is accepted
 * @throws Error where the file cannot be used
 */
export function createConsentProofVerifier(keySet: string | undefined): ConsentProofVerifier {
  const read = createSignedContentReader(keySet, { member: 'consent', required: ['exp'], optional: ['iat'] });
  return async ({ proof, ...consent }, receivedAt) => {
    const signed = await read(proof, receivedAt);
    if (typeof signed === 'string') return { accepted: false, reason: signed };
    return isDeepStrictEqual(signed.content, consent) ? { accepted: true } : { accepted: false, reason: 'differs' };
  };
}
