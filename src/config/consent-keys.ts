/** The keys that proofs of consents are checked with. */
import type { GatewayProfile } from '../gateway/profile.ts';
import { readKeySet } from '../protection/key-set.ts';
import type { EnvironmentReader } from './environment-reader.ts';

const VARIABLE = 'CONSENT_JWKS_FILE';

/** The path of the key set, checked; `undefined` where there is none and no profile needs one. */
export function readConsentKeys(reader: EnvironmentReader, profiles: Iterable<GatewayProfile>): string | undefined {
  const path = reader.optional(VARIABLE);
  if (path === undefined) {
    const trusting = [...profiles].find(({ consentTrust }) => consentTrust === 'proof');
    if (trusting) {
      reader.report(VARIABLE, `is required: profile ${trusting.name} counts a grant only with a proof (CONSENT_TRUST)`);
    }
    return undefined;
  }
  try {
    readKeySet(path);
  } catch {
    reader.report(VARIABLE, 'must name a file with public keys alone, {"keys": [...]}');
  }
  return path;
}
