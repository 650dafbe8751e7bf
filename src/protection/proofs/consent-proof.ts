/** Proofs of consents, made over the message itself. docs/journeys.md, "Consent that can be proved". */
import { isDeepStrictEqual } from 'node:util';
import type { ConsentMessage } from '../../messages/consent.ts';
import { createSignedContentReader, type ProofRefusal } from './signed-content.ts';

export type ProofVerdict = { accepted: true } | { accepted: false; reason: ProofRefusal };

/**
 * Judges a message's proof as of the instant at which the run received it, so that a later call gives the same answer.
 * A proof counts for its own journey, share, applicant and secondary user alone, and only unaltered.
 *
 * @throws Error where the keys cannot be read at the moment: nothing was judged
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
