/** The rules of single consents: refusals that end a grant, and faults of a grant. Pure; docs/journeys.md, Consent. */

import { differingPaths } from '../base/differing-paths.ts';
import { parseInstantMs } from '../base/instants.ts';
import type { ConsentMessage } from '../messages/consent.ts';
import type { ConsentRecord, GrantFault } from './consent-record.ts';

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
  // A revocation looks only at messages with its own id: thousands of messages stay cheap.
  const byId = Map.groupBy(said, ({ consentId }) => consentId);
  return said.filter((one) => endsGrant(one, grant, { revokesAll: revokesAllOf(byId.get(one.consentId) ?? [], one) }));
}

function isNoEarlier(one: string, other: string): boolean {
  return (parseInstantMs(one) ?? 0) >= (parseInstantMs(other) ?? 0);
}

/** Returns the grant's decision time, but no later than its arrival: the sender's clock may be ahead. */
export function notAhead({ decidedAt, receivedAt }: Pick<ConsentRecord, 'decidedAt' | 'receivedAt'>): string {
  return isNoEarlier(decidedAt, receivedAt) ? receivedAt : decidedAt;
}

/** Clocks of consent systems may differ from ours by as much. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Whether a message is dated in the future. It would outlast the refusals that follow it. */
export function isAhead({ decidedAt }: Pick<ConsentRecord, 'decidedAt'>, nowMs: number): boolean {
  return (parseInstantMs(decidedAt) ?? 0) > nowMs + CLOCK_TOLERANCE_MS;
}

// Says why a grant does not count, and what its sender does then. The same words on every path. Pure.

const SEND_A_NEW_ONE = 'while the share waits, send a new grant under a new consentId';

export const GRANT_FAULTS: Record<GrantFault, string> = {
  refused: `a denial or a revocation has ended this grant: ${SEND_A_NEW_ONE}`,
  tooOld: `the grant is too old for this share: ${SEND_A_NEW_ONE}`,
  spent: `another share was posted under this grant: ${SEND_A_NEW_ONE}`,
  missing: `the grant is not for this share and its secondary user: ${SEND_A_NEW_ONE}`,
  otherPerson: `/applicantId named another person when the grant came: ${SEND_A_NEW_ONE}`,
};

/** The problem of a grant that is sent again after it has ceased to count. */
export function describeFault(fault: GrantFault): { path: '/consentId'; rule: string } {
  return { path: '/consentId', rule: `names a grant that does not count: ${GRANT_FAULTS[fault]}` };
}

/**
 * The paths at which a consent differs from the kept one with the same key. Leaves out the proof, since it is about
 * this very content, and the evidence of a refusal, which needs none. A consent without a time of its own
 * (`decidedNow`) takes the time of the kept one. The exception is a grant in between: otherwise a new refusal would
 * count as older than that grant.
 *
 * @param hasGrantedSince whether the applicant has granted the share after the kept consent came
 */
export function consentDifferences(
  kept: ConsentMessage,
  sent: ConsentMessage,
  { hasGrantedSince }: { hasGrantedSince: boolean },
): string[] {
  const keepsTime = sent.decidedNow === true && (sent.decision === 'granted' || !hasGrantedSince);
  return differingPaths(consentContent(kept), consentContent(keepsTime ? withTimesOf(kept, sent) : sent));
}

function consentContent({ decision, decidedAt, secondaryUser, evidence }: ConsentMessage): object {
  return { decidedAt, secondaryUser, ...(decision === 'granted' ? { evidence } : {}) };
}

function withTimesOf(kept: ConsentMessage, sent: ConsentMessage): ConsentMessage {
  const { decidedAt, evidence } = sent;
  const isCapturedNow = evidence !== undefined && evidence.capturedAt === decidedAt;
  const capturedAt = isCapturedNow ? kept.evidence?.capturedAt : undefined;
  return {
    ...sent,
    decidedAt: kept.decidedAt,
    ...(evidence && capturedAt ? { evidence: { ...evidence, capturedAt } } : {}),
  };
}
