import type { ConsentMessage } from '../../messages/consent.ts';
import type { LateConsentResult } from '../../messages/journey/shapes.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { runUntilDone } from '../run/activity-stubs.ts';
import { pinIfVersioned } from '../run/around-the-sdk.ts';
import { toUndecodableFailure } from '../run/failures.ts';

/**
 * Records a consent, denial or revocation for a journey that has ended. It posts nothing. The ledger flags for an
 * operator each posted share that the message concerns. Open runs that the consent concerns get a signal.
 *
 * @throws `InvalidInput` with `details[0] = { problems }` where the input cannot be decoded
 */
export async function recordLateConsent(input: { consent: ConsentMessage }): Promise<LateConsentResult> {
  if (isUndecodable(input)) throw toUndecodableFailure(input);
  // The sender may have sent any input. A thrown error would block the run for good; the activity refuses it instead.
  const consent = (input as Partial<typeof input> | null | undefined)?.consent as ConsentMessage;
  const args = { consent, receivedAt: new Date().toISOString() };
  return runUntilDone('recordLateConsentMessage', { summary: 'recording a late consent' }, args);
}

// The run takes seconds, so no deploy has to wait long for the version that it began with.
pinIfVersioned(recordLateConsent);
