import { CreditJourneyError } from '../../model/credit-journey-error.ts';

/** Thrown where a key that signs decisions, or the key set beside it, cannot be changed. Names a file, never a key. */
export class SigningKeyError extends CreditJourneyError {
  override readonly name = 'SigningKeyError';
  override readonly code = 'signingKeyUnusable';
}
