/**
 * Forms of fields as regular expressions for the published JSON Schemas (docs/integrating.md). They use only syntax
 * that ECMAScript, Python, Java, Go and .NET read alike. Each admits at least what our own check admits: the worker
 * decides.
 */

/** Not blank, no C0 or C1 control characters. Our own check also refuses the other characters of Unicode category C. */
export const PRINTABLE = '^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$';

/** The form of `checkAlphanumeric` (fields/alphanumeric.ts). */
export const ALPHANUMERIC = '^[!-~](?:[ -~]*[!-~])?$';

/** The letters of Latin alphabets beyond ASCII, their combining marks, and the typographic apostrophe: in a class. */
export const LATIN_LETTERS = '\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u1e00-\u1eff\u2019';

/** The form of `latinText` (fields/alphanumeric.ts). */
export const LATIN_TEXT = `^[!-~${LATIN_LETTERS}](?:[ -~${LATIN_LETTERS}]*[!-~${LATIN_LETTERS}])?$`;

/** The form of `parseDurationMs` without its limit; zero passes too. */
export const DURATION =
  '^P(?:[0-9]{1,5}D(?:T(?:[0-9]{1,5}H(?:[0-9]{1,6}M)?(?:[0-9]{1,7}S)?|[0-9]{1,6}M(?:[0-9]{1,7}S)?|[0-9]{1,7}S))?' +
  '|T(?:[0-9]{1,5}H(?:[0-9]{1,6}M)?(?:[0-9]{1,7}S)?|[0-9]{1,6}M(?:[0-9]{1,7}S)?|[0-9]{1,7}S))$';

/** The form of `parseInstantMs` without the calendar check. */
export const INSTANT =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$';

/** The form of `checkOpaqueId` without its search for social security numbers. */
export const OPAQUE_ID = '^[A-Za-z0-9][A-Za-z0-9._~-]*$';

/** The form of `checkReviewId` without its search for social security numbers. */
export const REVIEW_ID = OPAQUE_ID.replace('$', '(?:-[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$');

export const CALENDAR_DATE = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$';
