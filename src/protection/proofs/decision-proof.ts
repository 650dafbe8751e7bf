/** Proofs of people's decisions about inquiries. docs/journeys.md, "Decisions that can be proved". */
import { isDeepStrictEqual } from 'node:util';
import { differingPaths } from '../../base/differing-paths.ts';
import type { DecisionContent, RepeatContent } from '../../model/decision-content.ts';
import { createSignedContentReader, type ProofRefusal } from './signed-content.ts';

export type DecisionProofVerdict =
  /** The key that signed it; absent where a proof is missing and not needed. */
  | { accepted: true; keyId?: string }
  /** The rule that `/proof` breaks, for people. */
  | { accepted: false; rule: string };

/**
 * Judges a decision's proof as of the instant at which the run received it, so that a repeated activity gives the same
 * answer.
 *
 * @param trust of the inquiry's profile: whether a proof is needed; a proof that is given must be good in any case
 * @throws Error where the keys cannot be read at the moment: nothing was judged
 */
export type DecisionProofVerifier = (
  decision: { content: DecisionContent | RepeatContent; proof?: string | undefined; receivedAt: string },
  trust: 'namespace' | 'proof',
) => Promise<DecisionProofVerdict>;

/**
 * @param keySet path of a JWKS file; without one no proof is accepted
 * @throws Error where the file cannot be used
 */
export function createDecisionProofVerifier(keySet: string | undefined): DecisionProofVerifier {
  const read = createSignedContentReader(keySet, { member: 'decision', required: ['exp', 'iat'], optional: [] });
  return async ({ content, proof, receivedAt }, trust) => {
    if (proof === undefined && trust === 'namespace') return { accepted: true };
    const signed = await read(proof, new Date(receivedAt));
    if (typeof signed === 'string') return { accepted: false, rule: ruleOf(signed) };
    if (isDeepStrictEqual(signed.content, content)) return { accepted: true, keyId: signed.keyId };
    // Only names of the content's own members: any other signed name is the signer's text.
    const differing = differingPaths(signed.content, content);
    const named = Object.keys(content).filter((name) => differing.includes(`/${name}`));
    return { accepted: false, rule: `${ruleOf('differs')}${named.length > 0 ? ` in ${named.join(', ')}` : ''}` };
  };
}

function ruleOf(refusal: ProofRefusal): string {
  return refusal === 'missing'
    ? 'is required: the profile takes a decision only with a proof (decisionTrust)'
    : `is refused: ${refusal}`;
}
