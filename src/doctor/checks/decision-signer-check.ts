/** Whether workers take the decisions that the HTTP API signs: where they do not, each one is refused. */
import type { DecisionKey } from '../../config/proof-keys.ts';
import { decisionContent, type ProvableDecision } from '../../model/decision-content.ts';
import { createDecisionProofVerifier } from '../../protection/proofs/decision-proof.ts';
import { type DecisionSigner, loadDecisionSigner } from '../../protection/proofs/decision-signer.ts';
import type { Check } from './check.ts';
import { fail, pass } from './finding.ts';

const PROBE: ProvableDecision = {
  decisionId: 'DOCTOR',
  customerTraceNumber: 'DOCTOR',
  attempt: 1,
  action: 'abandon',
  by: 'doctor',
  reason: 'none: it is sent to nobody',
  providerSaid: 'notAsked',
};

/** None where the API signs nothing. */
export function decisionSignerChecks(inspected: DecisionKey | undefined): Check[] {
  if (!inspected) return [];
  return [
    {
      name: 'decision-signer',
      needs: ['DECISION_'],
      async run({ config }) {
        let signer: DecisionSigner;
        try {
          signer = await loadDecisionSigner(inspected.file, inspected.keyId);
        } catch {
          const todo = 'name a private key in API_DECISION_KEY_FILE: a JWK, or PKCS#8 in PEM';
          return fail('the key that the HTTP API signs decisions with cannot be used', todo);
        }
        const content = decisionContent(config.environment, PROBE);
        const verify = createDecisionProofVerifier(config.decisionKeysFile);
        const proof = await signer.sign(content);
        const verdict = await verify({ content, proof, receivedAt: new Date().toISOString() }, 'proof');
        if (verdict.accepted) return pass(`workers take what the HTTP API signs, by the key ${signer.keyId}`);
        const todo = `put its public key into DECISION_JWKS_FILE, with the kid ${signer.keyId}`;
        return fail(`every decision over the HTTP API would be refused: /proof ${verdict.rule}`, todo);
      },
    },
  ];
}
