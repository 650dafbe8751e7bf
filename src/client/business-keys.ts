/** Ids made of business keys, so that a message sent again is known to be the same one. */
import { createHash } from 'node:crypto';
import type { AdvanceMessage, ConsentMessage, RequestShareMessage, ResolveInquiryMessage } from '../model/shapes.ts';

export const updateIds = {
  /** A stage's gate opens once. */
  advance: ({ to }: AdvanceMessage): string => `advance-${to}-1`,
  requestShare: ({ share }: RequestShareMessage): string => `share-${share.shareId}`,
  /** With its proof: the same consent sent again with a better one is another message. */
  recordConsent: ({ shareId, applicantId, consentId, decision, proof }: ConsentMessage): string =>
    `consent-${shareId}-${applicantId}-${consentId}-${decision}${proof === undefined ? '' : `-${shortHash(proof)}`}`,
  resolveInquiry: ({
    customerTraceNumber,
    attempt,
    decisionId,
  }: Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'>): string =>
    `resolve-${customerTraceNumber}-${attempt}-${decisionId}`,
  withdraw: (): string => 'withdraw',
};

/** What the ids of all of a journey's late consents begin with; 16 hex digits follow. */
export function lateConsentIdPrefix(journeyId: string): string {
  return `late-consent-${journeyId}-`;
}

/** One workflow for each message that came too late; `|` is in none of the ids, so no two messages share a hash. */
export function lateConsentWorkflowId({
  journeyId,
  shareId,
  applicantId,
  consentId,
  decision,
}: ConsentMessage): string {
  const key = [shareId, applicantId, consentId, decision].join('|');
  return `${lateConsentIdPrefix(journeyId)}${shortHash(key)}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
