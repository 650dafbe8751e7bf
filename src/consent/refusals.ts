/** Rules by which refusals end grants of one applicant for one share. Pure; docs/journeys.md, Consent. */

import { parseInstantMs } from '../base/instants.ts';
import type { ConsentRecord } from './consent-record.ts';

/**
 * Whether a refusal ends a grant of the same applicant for the same share.
 *
 * @param revokesAll for a revocation: it named no known grant when it came, and so ends all grants before it
 */
export function endsGrant(
  refusal: ConsentRecord,
  grant: ConsentRecord,
  { revokesAll }: { revokesAll: boolean },
): boolean {
  if (refusal.decision === 'granted') return false;
  if (refusal.consentId === grant.consentId) return true;
  if (refusal.decision === 'revoked' && !revokesAll) return false;
  if (isNoEarlier(refusal.decidedAt, notAhead(grant))) return true;
  return revokesAll && isNoEarlier(refusal.receivedAt, grant.receivedAt);
}

/** Whether a revocation names no grant that came before it. @param said by the same applicant about the same share */
export function revokesAllOf(said: readonly ConsentRecord[], revocation: ConsentRecord): boolean {
  const isNamed = ({ decision, consentId, receivedAt }: ConsentRecord) =>
    decision === 'granted' && consentId === revocation.consentId && isNoEarlier(revocation.receivedAt, receivedAt);
  return revocation.decision === 'revoked' && !said.some(isNamed);
}

/**
 * The refusals that end this grant. @param said everything that its applicant has said about its share, in any order
 */
export function refusalsAgainst(grant: ConsentRecord, said: readonly ConsentRecord[]): ConsentRecord[] {
  // A revocation looks only at what has its own id: thousands of messages stay cheap.
  const byId = Map.groupBy(said, ({ consentId }) => consentId);
  return said.filter((one) => endsGrant(one, grant, { revokesAll: revokesAllOf(byId.get(one.consentId) ?? [], one) }));
}

function isNoEarlier(one: string, other: string): boolean {
  return (parseInstantMs(one) ?? 0) >= (parseInstantMs(other) ?? 0);
}

/** When the grant was decided: not after it came, though its sender's clock may be ahead. */
export function notAhead({ decidedAt, receivedAt }: Pick<ConsentRecord, 'decidedAt' | 'receivedAt'>): string {
  return isNoEarlier(decidedAt, receivedAt) ? receivedAt : decidedAt;
}

/** Clocks of consent systems may differ from ours by as much. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Whether a message is dated in the future: it would outlast the refusals that follow it. */
export function isAhead({ decidedAt }: Pick<ConsentRecord, 'decidedAt'>, nowMs: number): boolean {
  return (parseInstantMs(decidedAt) ?? 0) > nowMs + CLOCK_TOLERANCE_MS;
}
