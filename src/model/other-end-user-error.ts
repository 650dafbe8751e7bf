import { CreditJourneyError } from './credit-journey-error.ts';

/** Thrown when a report is asked for another end user than the one that it was pulled for: that takes a share. */
export class OtherEndUserError extends CreditJourneyError {
  override readonly name = 'OtherEndUserError';
  override readonly code = 'otherEndUser';

  constructor() {
    super('the report was pulled for another end user: to give it to this one, share it');
  }
}
