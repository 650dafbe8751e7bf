/**
 * Ids of messages. The business key says what the message is about; the random message id stays the same for a retry of
 * the same message. Nothing of a message's content is in an id: ids lie in the clear.
 */
import { createHash, randomUUID } from 'node:crypto';
import type {
  AdvanceMessage,
  ConsentMessage,
  ExtendMessage,
  RequestShareMessage,
  ResolveInquiryMessage,
  WithdrawShareMessage,
} from '../../messages/journey/shapes.ts';

export const businessKeys = {
  /** A stage's gate opens once; that an old report will do, or that a stage is skipped, may be said later. Each repeat has its number. */
  advance: (message: AdvanceMessage): string =>
    'repeat' in message
      ? `advance-${message.repeat}-${message.occurrence}`
      : `advance-${message.to}-1${message.acceptAge ? '-acceptAge' : ''}${message.skip ? `-skip-${message.skip}` : ''}`,
  /** A wait is made longer once until each instant. */
  extend: ({ gate, shareId, until }: Omit<ExtendMessage, 'journeyId' | 'by' | 'reason'>): string =>
    `extend-${gate ?? shareId}-${until}`,
  requestShare: ({ share }: RequestShareMessage): string => `share-${share.shareId}`,
  withdrawShare: ({ shareId }: WithdrawShareMessage): string => `withdraw-share-${shareId}`,
  recordConsent: ({ shareId, applicantId, consentId, decision }: ConsentMessage): string =>
    `consent-${shareId}-${applicantId}-${consentId}-${decision}`,
  resolveInquiry: ({
    customerTraceNumber,
    attempt,
    decisionId,
  }: Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'>): string =>
    `resolve-${customerTraceNumber}-${attempt}-${decisionId}`,
  withdraw: (): string => 'withdraw',
  pause: (): string => 'pause',
  resume: (): string => 'resume',
};

/**
 * One update id for each message: the server answers a second call under it as it answered the first, a refusal too. A
 * corrected message has another.
 */
export function updateIdOf(businessKey: string, messageId: string = randomUUID()): string {
  return `${businessKey}-${messageId}`;
}

/** What the ids of all of a journey's late consents begin with; 16 hex digits follow. */
export function lateConsentIdPrefix(journeyId: string): string {
  return `late-consent-${journeyId}-`;
}

/** One workflow for each message that came too late. The ledger compares it with what it has under the same key. */
export function lateConsentWorkflowId(journeyId: string, messageId: string = randomUUID()): string {
  return `${lateConsentIdPrefix(journeyId)}${createHash('sha256').update(messageId).digest('hex').slice(0, 16)}`;
}
