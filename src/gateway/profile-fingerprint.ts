/**
 * What a run is bound to, as two digests. A person may approve another way to the same customer; the customer itself
 * never changes under a run.
 */
import { createHash } from 'node:crypto';
import { requestUrl, tokenUrl } from './addresses.ts';
import type { GatewayProfile } from './profile.ts';

/** Hex digits of each part: 128 bits. */
const PART_LENGTH = 32;

const fingerprints = new WeakMap<GatewayProfile, string>();

/**
 * `<identity>-<way>`, each 32 hex digits of a SHA-256. The first part is of environment, customer and software
 * provider. The second is of both addresses, API version and audience. It contains nothing secret, so that operators
 * may rotate credentials while a journey runs.
 */
export function profileFingerprint(profile: GatewayProfile): string {
  const known = fingerprints.get(profile);
  if (known !== undefined) return known;
  const identity = [profile.environment, profile.customerId, profile.softwareProviderId];
  const way = [tokenUrl(profile).href, requestUrl(profile).href, profile.apiVersion, profile.audience];
  const fingerprint = `${digest(identity)}-${digest(way)}`;
  fingerprints.set(profile, fingerprint);
  return fingerprint;
}

/** Whether the two differ in nothing but addresses, API version and audience. */
export function isSameCustomer(one: string, other: string): boolean {
  return identityOf(one) === identityOf(other);
}

function identityOf(fingerprint: string): string {
  return fingerprint.slice(0, PART_LENGTH);
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, PART_LENGTH);
}
