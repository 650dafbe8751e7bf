/** Whether workers take the decisions that the HTTP API signs: where they do not, each one is refused. */
import { existsSync } from 'node:fs';
import type { DecisionKey } from '../../config/config.ts';
import { openFileProblem } from '../../config/rules.ts';
import { decisionContent, type ProvableDecision } from '../../model/decision-content.ts';
import type { Environment } from '../../model/products.ts';
import { createDecisionProofVerifier } from '../../protection/proofs/decision-proof.ts';
import { type DecisionSigner, loadDecisionSigner } from '../../protection/proofs/decision-signer.ts';
import { readKeySet } from '../../protection/proofs/key-set.ts';
import { keyIdIn, nextKeyFile } from '../../protection/proofs/signing-key-files.ts';
import type { Check } from './check.ts';
import { type Finding, fail, pass, warn } from './finding.ts';

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
          const todo = 'name a private key in API_DECISION_KEY_FILE: `credit-journey keys signing new` makes one';
          return fail('the key that the HTTP API signs decisions with cannot be used', todo);
        }
        const content = decisionContent(config.environment, PROBE);
        const verify = createDecisionProofVerifier(config.decisionKeysFile);
        const proof = await signer.sign(content);
        const verdict = await verify({ content, proof, receivedAt: new Date().toISOString() }, 'proof');
        if (verdict.accepted) return openIn(config, inspected.file) ?? asNext(inspected.file, signer.keyId, config);
        const todo = `put its public key into DECISION_JWKS_FILE, with the kid ${signer.keyId}`;
        return fail(`every decision over the HTTP API would be refused: /proof ${verdict.rule}`, todo);
      },
    },
  ];
}

/** In production no other user of the machine may read it. */
function openIn({ environment }: { environment: Environment }, file: string): Finding | undefined {
  if (environment !== 'production' || openFileProblem(file) === null) return undefined;
  return fail('every user of this machine can sign as the HTTP API does', `chmod o-rwx ${file}`);
}

/** Where a key is prepared to follow, it must be known before the API signs with it. */
function asNext(file: string, keyId: string, { decisionKeysFile }: ProofKeysFile): Finding {
  const taken = `workers take what the HTTP API signs, by the key ${keyId}`;
  const next = nextKeyFile(file);
  if (!existsSync(next)) return pass(taken);
  try {
    const nextId = keyIdIn(next);
    const { keys } = readKeySet(decisionKeysFile ?? '');
    if (keys.some(({ kid }) => kid === nextId)) return pass(`${taken}; ${nextId} is prepared to follow`);
    return warn(
      `${taken}; ${nextId} is prepared to follow, and workers lack its public key`,
      'bring them the key set that `credit-journey keys signing rotate` has changed',
    );
  } catch {
    return warn(`${taken}; ${next} cannot be used`, 'take it away, and `credit-journey keys signing rotate` anew');
  }
}

interface ProofKeysFile {
  decisionKeysFile?: string | undefined;
}
