/** Where two consents under one key differ. Pure. */
import { differingPaths } from '../base/differing-paths.ts';
import type { ConsentMessage } from '../messages/journey/shapes.ts';

/**
 * Where a consent differs from one with the same key. The proof is left out, since it is about this very content; so is
 * the evidence of a refusal, which needs none. One that was sent without a time of its own (`decidedNow`) has that of the
 * one that is kept, unless the applicant has granted since: then a refusal would be taken for one of before.
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
