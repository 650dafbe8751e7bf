/**
 * What a run is bound to, as one digest: the customer, and the way to the gateway. The profile may name former ways, under
 * which runs go on. The customer never changes under a run.
 */
import { createHash } from 'node:crypto';
import { requestUrl, tokenUrl } from './addresses.ts';
import type { GatewayProfile } from './profile.ts';

const fingerprints = new WeakMap<GatewayProfile, string>();

/**
 * The SHA-256 of environment, customer, software provider, both addresses, API version and audience, in hex. It contains
 * nothing secret, so that operators may rotate credentials while a journey runs.
 */
export function profileFingerprint(profile: GatewayProfile): string {
  const known = fingerprints.get(profile);
  if (known !== undefined) return known;
  const customer = [profile.environment, profile.customerId, profile.softwareProviderId];
  const way = [tokenUrl(profile).href, requestUrl(profile).href, profile.apiVersion, profile.audience];
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([customer, way]))
    .digest('hex');
  fingerprints.set(profile, fingerprint);
  return fingerprint;
}

/** Whether a run that began with the fingerprint goes on under the profile: as it is, or by one of its former ways. */
export function hasFingerprint(profile: GatewayProfile, fingerprint: string): boolean {
  if (profileFingerprint(profile) === fingerprint) return true;
  return (profile.formerly ?? []).some((way) => profileFingerprint({ ...profile, ...way }) === fingerprint);
}
