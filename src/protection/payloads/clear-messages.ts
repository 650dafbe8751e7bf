/** Decides which messages count although they came in the clear, outside the sandbox. Pure. */

/** Each message names its run, or its schedule, in one of these members. Only `recordLateConsent` wraps its message. */
const ADDRESSES = ['journeyId', 'pullId', 'shareId', 'reviewId', 'scheduleId'];

/** The members of a withdrawal, and of `pause` and `resume` of a review. */
const WITHDRAWAL = [...ADDRESSES, 'by', 'reason'];

/**
 * Whether a message that came in the clear can lead to a posting: `advance`, `resolveInquiry`, `requestShare`, a grant,
 * a start. Anyone with write access to Temporal could send it without a key. A refusal of consent and a withdrawal only
 * stop something, so they count.
 *
 * @param value as it was sent; its shape is not checked yet
 */
export function mayLeadToPosting(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value);
  if (!names.some((name) => ADDRESSES.includes(name))) {
    return 'consent' in value && mayLeadToPosting(value.consent);
  }
  if (names.every((name) => WITHDRAWAL.includes(name))) return false;
  const { decision, consentId } = value as { decision?: unknown; consentId?: unknown };
  return consentId === undefined || (decision !== 'denied' && decision !== 'revoked');
}
