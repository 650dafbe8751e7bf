/**
 * Ids of messages. The business key (`keyOf` of a message) says what the message is about; the random message id stays the same for a retry of
 * the same message. Nothing of a message's content is in an id: ids lie in the clear.
 */
import { createHash, randomUUID } from 'node:crypto';

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
