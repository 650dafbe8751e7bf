/** The keys to check proofs with: those of consent systems, and those of deciding people or systems. */
import { defined } from '../base/defined.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import { readKeySet } from '../protection/proofs/key-set.ts';
import type { EnvironmentReader } from './environment-reader.ts';

/** Two sets: a consent system must not be able to sign a decision. */
const KEYS = {
  consent: {
    variable: 'CONSENT_JWKS_FILE',
    trust: 'consentTrust',
    rule: 'counts a grant only with a proof (CONSENT_TRUST)',
  },
  decision: {
    variable: 'DECISION_JWKS_FILE',
    trust: 'decisionTrust',
    rule: 'takes a decision only with a proof (DECISION_TRUST)',
  },
} as const;

interface ProofKeys {
  consentKeysFile?: string;
  decisionKeysFile?: string;
}

/** The checked paths of the key sets; absent where none is set and no profile needs one. */
export function readProofKeys(reader: EnvironmentReader, profiles: Iterable<GatewayProfile>): ProofKeys {
  const all = [...profiles];
  const consentKeysFile = readKeys(reader, all, 'consent');
  const decisionKeysFile = readKeys(reader, all, 'decision');
  return defined({ consentKeysFile, decisionKeysFile });
}

function readKeys(
  reader: EnvironmentReader,
  profiles: readonly GatewayProfile[],
  what: keyof typeof KEYS,
): string | undefined {
  const { variable, trust, rule } = KEYS[what];
  const path = reader.optional(variable);
  if (path === undefined) {
    const trusting = profiles.find((profile) => profile[trust] === 'proof');
    if (trusting) reader.report(variable, `is required: profile ${trusting.name} ${rule}`);
    return undefined;
  }
  try {
    readKeySet(path);
  } catch {
    reader.report(variable, 'must name a file with public keys alone, {"keys": [...]}');
  }
  return path;
}

/** The private key that the HTTP API signs decisions with. */
export interface DecisionKey {
  file: string;
  /** Default: `kid` of the JWK, else the key's thumbprint. */
  keyId?: string;
}

/** `undefined` where the API signs nothing. */
export function apiDecisionKey(env: NodeJS.ProcessEnv): DecisionKey | undefined {
  const { API_DECISION_KEY_FILE: file, API_DECISION_KEY_ID: keyId } = env;
  return file ? { file, ...(keyId ? { keyId } : {}) } : undefined;
}
