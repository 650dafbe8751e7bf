/** Which messages count although they came in the clear. Outside the sandbox nothing else does. Pure. */

/** Each message names the run that it is for in one of these; what names none is no message of ours. */
const ADDRESSES = ['journeyId', 'pullId', 'shareId', 'reviewId'];

/** A withdrawal has nothing else. `pause` and `resume` of a review look the same. */
const WITHDRAWAL = [...ADDRESSES, 'by', 'reason'];

/**
 * Whether a message that came in the clear can lead to a posting: `advance`, `resolveInquiry`, `requestShare`, a grant, a
 * start. Whoever may write to Temporal could send one without any key. A refusal of consent and a withdrawal only stop
 * something: they count.
 *
 * @param value as it was sent; its shape is not checked yet
 */
export function mayLeadToPosting(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value);
  if (!names.some((name) => ADDRESSES.includes(name))) return false;
  if (names.every((name) => WITHDRAWAL.includes(name))) return false;
  const { decision, consentId } = value as { decision?: unknown; consentId?: unknown };
  return consentId === undefined || (decision !== 'denied' && decision !== 'revoked');
}
