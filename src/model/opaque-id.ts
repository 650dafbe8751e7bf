/**
 * Which texts may be an id that this project puts into workflow ids, search attributes, logs and metrics, where
 * nothing personal may be (docs/protection.md). Pure, so that workflow code may use it.
 */

/** RFC 3986's unreserved characters, which need no quoting in a URL, a shell or a visibility query. */
const OPAQUE = /^[A-Za-z0-9][A-Za-z0-9._~-]*$/;

/** An SSN as people write it. */
const DASHED_SSN = /(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)/;

/** An SSN, or a ZIP+4, as machines write it: exactly nine digits in a row. */
const NINE_DIGITS = /(?<!\d)\d{9}(?!\d)/;

/**
 * A UUID is opaque by its form, and one in about seventy random ones holds nine decimal digits in a row: refusing
 * those would fail a caller at random. With dashes it is known anywhere, without them only by itself.
 */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const BARE_UUID = /^[0-9a-f]{32}$/i;

/** Where a consent can be proved: printable ASCII without spaces and `@`, enough for `doc:2024/17#v2`, too little for an address. */
export const EVIDENCE_REFERENCE = /^[!-?A-~]+$/;

/** The longest `journeyId`, `consentId` and `decisionId`. */
export const MAX_ID_LENGTH = 64;

/** The longest `shareId`: it is part of update ids together with the others. */
export const MAX_SHARE_ID_LENGTH = 40;

/** The rule that `text` breaks, or `null` where it may be an id. */
export function opaqueIdProblem(text: string, maxLength: number): string | null {
  if (text.length === 0 || text.length > maxLength || !OPAQUE.test(text)) {
    return `must be 1 to ${maxLength} letters, digits, ".", "_", "~" or "-", beginning with a letter or digit`;
  }
  if (mayHoldSsn(text)) return 'must be opaque: it looks as if it held a social security number';
  return null;
}

/** Whether nine digits in a row, or digits grouped like an SSN, are anywhere in it. */
export function mayHoldSsn(text: string): boolean {
  if (BARE_UUID.test(text)) return false;
  // Not the empty text: what stands before and after must not grow together.
  const rest = text.replace(UUID, '~');
  return DASHED_SSN.test(rest) || NINE_DIGITS.test(rest);
}

export const MAX_SCHEDULE_ID_LENGTH = 40;
