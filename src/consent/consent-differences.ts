/** The differences between two consents under one key. Pure. */
import { differingPaths } from '../base/differing-paths.ts';
import type { ConsentMessage } from '../messages/consent.ts';

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
