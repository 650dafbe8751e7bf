/** The rules of single consents: refusals that end a grant, and faults of a grant. Pure; docs/journeys.md, "Messages". */

import { findDifferingPaths } from '../base/differing-paths.ts';
import { parseInstantMs } from '../base/instants.ts';
import type { ConsentMessage } from '../messages/consent.ts';
import { type MessageRefusal, refuse } from '../model/refusals.ts';
import type { ConsentRecord, GrantFault } from './consent-record.ts';

/** A denial or a revocation. */
export type Refusal = ConsentRecord & { decision: 'denied' | 'revoked' };

/**
 * Returns a function that finds the refusal which ends a grant, if any. It looks at each message once: there may be
 * thousands.
 *
 * @param said by one applicant about one share
 */
export function findEnds(said: readonly ConsentRecord[]): (grant: ConsentRecord) => Refusal | undefined {
  const firstGrantMs = new Map<string, number>();
  for (const { decision, consentId, receivedAt } of said) {
    const atMs = parseInstantMs(receivedAt) ?? 0;
    if (decision === 'granted') firstGrantMs.set(consentId, Math.min(firstGrantMs.get(consentId) ?? atMs, atMs));
  }
  const byConsentId = new Map<string, Refusal>();
  let endsDecided: Refusal | undefined;
  let endsReceived: Refusal | undefined;
  for (const refusal of said.filter(isRefusal)) {
    byConsentId.set(refusal.consentId, refusal);
    const namesGrant = (firstGrantMs.get(refusal.consentId) ?? Number.POSITIVE_INFINITY) <= toReceivedAtMs(refusal);
    if (refusal.decision === 'revoked' && namesGrant) continue;
    if (!endsDecided || toDecidedAtMs(endsDecided) <= toDecidedAtMs(refusal)) endsDecided = refusal;
    if (refusal.decision === 'denied') continue;
    if (!endsReceived || toReceivedAtMs(endsReceived) <= toReceivedAtMs(refusal)) endsReceived = refusal;
  }
  return (grant) => {
    const named = byConsentId.get(grant.consentId);
    if (named) return named;
    if (endsDecided && toDecidedAtMs(endsDecided) >= computeGrantedAtMs(grant)) return endsDecided;
    return endsReceived && toReceivedAtMs(endsReceived) >= toReceivedAtMs(grant) ? endsReceived : undefined;
  };
}

export function isRefusal(consent: ConsentRecord): consent is Refusal {
  return consent.decision !== 'granted';
}

export function toDecidedAtMs({ decidedAt }: Pick<ConsentRecord, 'decidedAt'>): number {
  return parseInstantMs(decidedAt) ?? 0;
}

function toReceivedAtMs({ receivedAt }: Pick<ConsentRecord, 'receivedAt'>): number {
  return parseInstantMs(receivedAt) ?? 0;
}

/** When a grant was decided, but no later than its arrival: the sender's clock may be ahead. */
export function computeGrantedAtMs(grant: Pick<ConsentRecord, 'decidedAt' | 'receivedAt'>): number {
  return Math.min(toDecidedAtMs(grant), toReceivedAtMs(grant));
}

/** Clocks of consent systems may differ from ours by as much. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Whether a message is dated in the future. It would outlast the refusals that follow it. */
export function isAhead({ decidedAt }: Pick<ConsentRecord, 'decidedAt'>, nowMs: number): boolean {
  return toDecidedAtMs({ decidedAt }) > nowMs + CLOCK_TOLERANCE_MS;
}

// Describes why a grant is invalid, and the next step of its sender, in the same words on every path. Pure.

const SEND_A_NEW_ONE = 'while the share waits, send a new grant under a new consentId';

export const GRANT_FAULTS: Record<GrantFault, string> = {
  refused: `a denial or a revocation has ended this grant: ${SEND_A_NEW_ONE}`,
  tooOld: `the grant is too old for this share: ${SEND_A_NEW_ONE}`,
  spent: `another share was posted under this grant: ${SEND_A_NEW_ONE}`,
  missing: `the grant is not for this share and its secondary user: ${SEND_A_NEW_ONE}`,
  otherPerson: `/applicantId named another person when the grant came: ${SEND_A_NEW_ONE}`,
};

/** Refuses a grant that is sent again after it has ceased to count. */
export function refuseFault(fault: GrantFault): MessageRefusal {
  return refuse('noLongerCounts', `/consentId names a grant that does not count: ${GRANT_FAULTS[fault]}`);
}

/**
 * The paths at which a consent differs from the kept one with the same key. Leaves out the proof, since it is about
 * this very content, and the evidence of a refusal, which needs none. A consent without a time of its own
 * (`decidedNow`) takes the time of the kept one. The exception is a grant in between: otherwise a new refusal would
 * count as older than that grant.
 *
 * @param hasGrantedSince whether the applicant has granted the share after the kept consent came
 */
export function findConsentDifferences(
  kept: ConsentMessage,
  sent: ConsentMessage,
  { hasGrantedSince }: { hasGrantedSince: boolean },
): string[] {
  const keepsTime = sent.decidedNow === true && (sent.decision === 'granted' || !hasGrantedSince);
  return findDifferingPaths(toConsentContent(kept), toConsentContent(keepsTime ? keepTimes(kept, sent) : sent));
}

function toConsentContent({ decision, decidedAt, secondaryUser, evidence }: ConsentMessage): object {
  return { decidedAt, secondaryUser, evidence: decision === 'granted' ? evidence : undefined };
}

function keepTimes({ decidedAt, evidence: kept }: ConsentMessage, sent: ConsentMessage): ConsentMessage {
  const { evidence } = sent;
  const isCapturedNow = evidence?.capturedAt === sent.decidedAt;
  return {
    ...sent,
    decidedAt,
    evidence: evidence && kept && isCapturedNow ? { ...evidence, capturedAt: kept.capturedAt } : evidence,
  };
}
