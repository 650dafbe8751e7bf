/**
 * The base of all errors that the client throws on purpose. An error without it is a bug, of the caller or of the
 * client. Messages, members and causes hold no secret and nothing personal.
 */
export abstract class CreditJourneyError extends Error {
  /** The kind of error, for programs. Messages may change, a code does not (docs/integrating.md). */
  abstract readonly code: string;

  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Thrown when a report is requested for another end user than the one it was pulled for: that takes a share. */
export class OtherEndUserError extends CreditJourneyError {
  override readonly code = 'otherEndUser';

  constructor() {
    super('the report was pulled for another end user: to give it to this one, share it');
  }
}
