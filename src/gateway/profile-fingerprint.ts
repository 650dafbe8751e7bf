import { createHash } from 'node:crypto';
import { requestUrl, tokenUrl } from './addresses.ts';
import type { GatewayProfile } from './profile.ts';

/**
 * Hex SHA-256 of what a run is bound to: environment, both addresses, customer, software provider and audience. It
 * contains nothing secret, so that operators may rotate credentials while a journey runs.
 */
export function profileFingerprint(profile: GatewayProfile): string {
  const parts = [
    profile.environment,
    tokenUrl(profile).href,
    requestUrl(profile).href,
    profile.apiVersion,
    profile.customerId,
    profile.softwareProviderId,
    profile.audience,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
