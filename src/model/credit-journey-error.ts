/**
 * The base of all errors that the client throws on purpose. An error without it is a bug, of the caller or of the
 * client. Messages, members and causes hold no secret and nothing personal.
 */
export abstract class CreditJourneyError extends Error {
  /** Says what went wrong, for programs. Messages may change, a code does not (docs/integrating.md). */
  abstract readonly code: string;
}
