/** What makes a grant count and a decision be taken, profile by profile. */
import type { Config } from '../../config/config.ts';
import type { GatewayProfile } from '../../gateway/profile.ts';
import { readKeySet } from '../../protection/proofs/key-set.ts';
import type { Check } from './check.ts';
import { counted, fail, pass } from './finding.ts';

interface Trust {
  /** Of the check's name, before the profile's. */
  name: string;
  variables: string;
  file: string;
  keysFile(config: Config): string | undefined;
  trustOf(profile: GatewayProfile): 'namespace' | 'proof';
  /** As `doctor` says it. */
  words: { keysOf: string; proof: string; namespace: string; without: string };
}

const CONSENTS: Trust = {
  name: 'consent-trust',
  variables: 'CONSENT_',
  file: 'CONSENT_JWKS_FILE',
  keysFile: ({ consentKeysFile }) => consentKeysFile,
  trustOf: ({ consentTrust }) => consentTrust,
  words: {
    keysOf: 'consent systems',
    proof: 'a grant counts with one that is checked with',
    namespace: 'whoever may write to the Temporal namespace is believed',
    without: 'a grant with a proof is refused: no key is given',
  },
};

const DECISIONS: Trust = {
  name: 'decision-trust',
  variables: 'DECISION_',
  file: 'DECISION_JWKS_FILE',
  keysFile: ({ decisionKeysFile }) => decisionKeysFile,
  trustOf: ({ decisionTrust }) => decisionTrust,
  words: {
    keysOf: 'those who decide',
    proof: 'a decision is taken with one that is checked with',
    namespace: 'who may write to the Temporal namespace may decide, under any name',
    without: 'a decision with a proof is refused: no key is given',
  },
};

export function trustChecks(profiles: Iterable<GatewayProfile>): Check[] {
  return [...profiles].flatMap((profile) => [CONSENTS, DECISIONS].map((trust) => trustCheck(trust, profile)));
}

function trustCheck({ words, file, ...trust }: Trust, profile: GatewayProfile): Check {
  return {
    name: `${trust.name}/${profile.name}`,
    needs: [trust.variables, 'GATEWAY_PROFILES_FILE'],
    run: async ({ config }) => {
      const keys = keyCount(trust.keysFile(config));
      if (keys === null) {
        return fail(`the keys of ${words.keysOf} cannot be read`, `put the key set back where ${file} points`);
      }
      const checkedWith = `${counted(keys, 'key')} in ${file}`;
      if (trust.trustOf(profile) === 'proof') return pass(`proof: ${words.proof} ${checkedWith}`);
      const proofs = keys === 0 ? words.without : `proofs are checked: ${checkedWith}`;
      return pass(`namespace: ${words.namespace}; ${proofs}`);
    },
  };
}

/** `null` where they cannot be read now. */
function keyCount(file: string | undefined): number | null {
  if (file === undefined) return 0;
  try {
    return readKeySet(file).keys.length;
  } catch {
    return null;
  }
}
