/**
 * The rule for ids that this project puts into workflow ids, search attributes, logs and metrics, where nothing
 * personal may be (docs/protection.md). Pure, so that workflow code may use it.
 */

/** RFC 3986's unreserved characters, which need no quoting in a URL, a shell or a visibility query. */
const OPAQUE = /^[A-Za-z0-9][A-Za-z0-9._~-]*$/;

/** An SSN as people write it. */
const DASHED_SSN = /(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)/;

/** An SSN, or a ZIP+4, as machines write it: exactly nine digits in a row. */
const NINE_DIGITS = /(?<!\d)\d{9}(?!\d)/;

/**
 * A UUID is opaque by its form. One in about seventy random UUIDs holds nine decimal digits in a row: without this
 * exception such callers would fail at random. A UUID with dashes is recognized anywhere in a text, one without them
 * only as the whole text.
 */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const BARE_UUID = /^[0-9a-f]{32}$/i;

/**
 * A reference to the proof of a consent: printable ASCII without spaces and `@`. `doc:2024/17#v2` fits; an e-mail
 * address does not.
 */
export const EVIDENCE_REFERENCE = /^[!-?A-~]+$/;

/** The longest `journeyId`, `consentId` and `decisionId`. */
export const MAX_ID_LENGTH = 64;

/** The longest `shareId`. It is shorter because update ids contain it beside the other ids. */
export const MAX_SHARE_ID_LENGTH = 40;

/** The rule that `text` breaks as an id, or `null`. */
export function checkOpaqueId(text: string, maxLength: number): string | null {
  if (text.length === 0 || text.length > maxLength || !OPAQUE.test(text)) {
    return `must be 1 to ${maxLength} letters, digits, ".", "_", "~" or "-", beginning with a letter or digit`;
  }
  if (mayHoldSsn(text)) return 'must be opaque: it looks as if it held a social security number';
  return null;
}

/** The time that a Temporal Schedule adds to the workflow id of each run that it starts. */
const SCHEDULED_TIME = /-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/** The rule that `text` breaks as a `reviewId`, or `null`. Only this id may hold a colon, and only in such a time. */
export function checkReviewId(text: string): string | null {
  return checkOpaqueId(
    text.replace(SCHEDULED_TIME, (time) => time.replaceAll(':', '.')),
    MAX_ID_LENGTH,
  );
}

/** Whether the text holds nine digits in a row, or digits grouped like an SSN. */
export function mayHoldSsn(text: string): boolean {
  if (BARE_UUID.test(text)) return false;
  // Not the empty text: the parts before and after a UUID must not join.
  const rest = text.replace(UUID, '~');
  return DASHED_SSN.test(rest) || NINE_DIGITS.test(rest);
}
