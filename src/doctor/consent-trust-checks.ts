/** How consents are trusted, profile by profile: what makes a grant count. */
import type { Config } from '../config-shape.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import { readKeySet } from '../protection/key-set.ts';
import { type Check, counted, fail, pass } from './check.ts';

export function consentTrustChecks(profiles: Iterable<GatewayProfile>): Check[] {
  return [...profiles].map(({ name, consentTrust }) => ({
    name: `consent-trust/${name}`,
    needs: ['CONSENT_', 'GATEWAY_PROFILES_FILE'],
    run: async ({ config }) => {
      const keys = keyCount(config);
      if (keys === null) {
        return fail(
          'the keys of consent systems cannot be read',
          'put the key set back where CONSENT_JWKS_FILE points',
        );
      }
      const checkedWith = `${counted(keys, 'key')} in CONSENT_JWKS_FILE`;
      if (consentTrust === 'proof') return pass(`proof: a grant counts with one that is checked with ${checkedWith}`);
      const proofs =
        keys === 0 ? 'a grant with a proof is refused: no key is given' : `proofs are checked: ${checkedWith}`;
      return pass(`namespace: whoever may write to the Temporal namespace is believed; ${proofs}`);
    },
  }));
}

/** `null` where they cannot be read now. */
function keyCount({ consentKeysFile }: Config): number | null {
  if (consentKeysFile === undefined) return 0;
  try {
    return readKeySet(consentKeysFile).keys.length;
  } catch {
    return null;
  }
}
