/** Judges the proof of a decision that a program beside the ledger writes there, as a worker does of a run's. */
import { loadDecisionTrust } from '../config/config.ts';
import { decisionContent, type ProvableDecision } from '../model/decision-content.ts';
import type { InquiryDescription } from '../model/inquiry.ts';
import type { DecisionProofVerdict } from '../protection/proofs.ts';

export type DecisionJudge = (
  inquiry: Pick<InquiryDescription, 'environment' | 'profile'>,
  decision: { message: ProvableDecision & { proof?: string }; receivedAt: string },
) => Promise<DecisionProofVerdict>;

/** @throws ConfigError where what the environment says of decisions is wrong */
export function configuredDecisionJudge(env: NodeJS.ProcessEnv): DecisionJudge {
  return async ({ environment, profile }, { message, receivedAt }) => {
    const { trust: readTrust, keysFile } = loadDecisionTrust(env);
    const trust = readTrust.get(profile);
    if (trust === undefined) {
      return { accepted: false, rule: 'cannot be judged: this configuration lacks the profile of the inquiry' };
    }
    // Loaded when needed: most callers decide about open runs, whose workers judge.
    const { createDecisionProofVerifier } = await import('../protection/proofs.ts');
    const content = decisionContent(environment, message);
    return createDecisionProofVerifier(keysFile)({ content, proof: message.proof, receivedAt }, trust);
  };
}
