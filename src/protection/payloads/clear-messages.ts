/** Decides which messages count although they came in the clear, outside the sandbox. Pure. */

/** The members of a withdrawal, and of `pause` and `resume` of a review. */
const WITHDRAWAL = ['journeyId', 'pullId', 'shareId', 'reviewId', 'by', 'reason'];

const CONSENT = [
  ...['journeyId', 'shareId', 'applicantId', 'consentId', 'decision', 'decidedAt', 'decidedNow', 'secondaryUser'],
  ...['evidence', 'proof'],
];

/** Of a trace context: every sender's SDK may add it as a header. */
const TRACE = ['traceparent', 'tracestate', 'baggage'];

/**
 * Whether a value that came in the clear can lead to a posting: `advance`, `resolveInquiry`, `requestShare`, a grant, a
 * start. Anyone with write access to Temporal could send it without a key. A refusal of consent and a withdrawal only
 * stop something, so they count, as long as they have no further member: what else there is, another reader may take.
 *
 * @param value as it was sent; its shape is not checked yet
 */
export function mayLeadToPosting(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (hasOnly(value, TRACE)) return false;
  // `recordLateConsent` wraps its message.
  if ('consent' in value && hasOnly(value, ['consent'])) return !isRefusal(value.consent);
  return !isRefusal(value) && !hasOnly(value, WITHDRAWAL);
}

function isRefusal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !hasOnly(value, CONSENT)) return false;
  return 'decision' in value && (value.decision === 'denied' || value.decision === 'revoked');
}

function hasOnly(value: object, members: readonly string[]): boolean {
  return Object.keys(value).every((name) => members.includes(name));
}
