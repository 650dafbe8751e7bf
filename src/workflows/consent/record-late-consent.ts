import { getExternalWorkflowHandle, TemporalFailure } from '@temporalio/workflow';
import type { ConsentMessage } from '../../messages/consent.ts';
import type { LateConsentResult } from '../../messages/journey/shapes.ts';
import { toRunKey, toWorkflowId } from '../../model/run-key.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { runUntilDone } from '../run/activity-stubs.ts';
import { pinIfVersioned } from '../run/around-the-sdk.ts';
import { toUndecodableFailure } from '../run/failures.ts';

/**
 * Records a consent, denial or revocation for a journey that has ended. It posts nothing. The ledger flags for an
 * operator each posted share that the message concerns. A share by itself that waits for the consent gets a signal.
 *
 * @throws `InvalidInput` with `details[0] = { problems }` where the input cannot be decoded
 */
export async function recordLateConsent(input: { consent: ConsentMessage }): Promise<LateConsentResult> {
  if (isUndecodable(input)) throw toUndecodableFailure(input);
  // The sender may have sent any input. A thrown error would block the run for good; the activity refuses it instead.
  const consent = (input as Partial<typeof input> | null | undefined)?.consent as ConsentMessage;
  const args = { consent, receivedAt: new Date().toISOString() };
  const result = await runUntilDone('recordLateConsentMessage', { summary: 'recording a late consent' }, args);
  if (!('problems' in result)) await tellOpenRuns(consent);
  return result;
}

/**
 * Signals open runs. A journey that was started meanwhile may have asked the ledger a moment too early, so it gets the
 * consent. It ignores a consent that it knows. A share by itself of this journey's report may wait for the consent
 * too; it asks the ledger which consent counts.
 */
async function tellOpenRuns(consent: ConsentMessage): Promise<void> {
  const run = toWorkflowId(consent.journeyId);
  const share = toWorkflowId(toRunKey('share', consent.shareId));
  await Promise.all([
    tellIfOpen(run, 'consent', consent),
    ...(share === run ? [] : [tellIfOpen(share, 'lookUpConsents')]),
  ]);
}

async function tellIfOpen(workflowId: string, signal: string, ...content: [] | [ConsentMessage]): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(signal, ...content);
  } catch (error) {
    // Usually the run is closed.
    if (!(error instanceof TemporalFailure)) throw error;
  }
}

// The run takes seconds, so no deploy has to wait long for the version that it began with.
pinIfVersioned(recordLateConsent);
