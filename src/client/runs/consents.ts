/** Consents to a run. One that comes after the run's end still has to reach the ledger (docs/journeys.md). */
import type { Client } from '@temporalio/client';
import type { RunAnswers } from '../../messages/answers.ts';
import type { ConsentMessage } from '../../messages/consent.ts';
import type { LateConsentResult, RecordedConsent } from '../../messages/journey/shapes.ts';
import { InvalidInputError } from '../../model/problems.ts';
import type { RunKind } from '../../model/run-key.ts';
import { toPriority } from '../../model/work-class.ts';
import { createTimeoutError, MESSAGE_TIMEOUT_MS, type MessageOptions, shareTimeout } from '../connection/calls.ts';
import type { ClientParts } from '../connection/connect.ts';
import { CallError, hasCode } from '../connection/errors.ts';
import { toLateConsentWorkflowId } from '../connection/run-messages.ts';

/** The ledger took the consent without the run. `recorded: false`: Temporal has the message, and the ledger does not have it yet. */
export type LateConsentAnswer = { accepted: true; late: true } & (
  | ({ recorded: true } & RecordedConsent)
  | { recorded: false }
);

/** The answer of the run, or, with `late`, of the ledger alone. */
export type ConsentAnswer<Kind extends RunKind> = (RunAnswers[Kind]['update'] & { late: false }) | LateConsentAnswer;

/**
 * Starts `recordLateConsent`, or finds the run that is open for this very message. Whether the ledger has the message
 * already, the ledger says.
 *
 * @internal
 */
export async function startLateConsent(client: Client, taskQueue: string, consent: ConsentMessage, messageId?: string) {
  return client.workflow.start('recordLateConsent', {
    workflowId: toLateConsentWorkflowId(consent.journeyId, messageId),
    taskQueue,
    args: [{ consent }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    // The consent names the secondary user alone. A user without a code has no fairness key.
    priority: toPriority('interactive', consent.secondaryUser.endUserCode),
    staticSummary: `late consent · ${consent.decision}`,
  });
}

/** A run answers a consent within 5 s. Where it still takes none after that, the client writes to the ledger. */
const CONSENT_PATIENCE_MS = 6_000;

/**
 * Starts the workflow that records it, and waits for its result, as long as for any update.
 *
 * @throws InvalidInputError where the message is refused
 */
async function recordLate(
  { client, calls, taskQueue }: ClientParts,
  consent: ConsentMessage,
  { messageId, signal, timeoutMs = MESSAGE_TIMEOUT_MS }: MessageOptions,
): Promise<LateConsentAnswer> {
  const runKey = consent.journeyId;
  const left = shareTimeout({ signal, timeoutMs });
  const run = await calls.make({ runKey, late: createTimeoutError }, left(), () =>
    startLateConsent(client, taskQueue, consent, messageId),
  );
  try {
    const late = () => new CallError('resultNotReady', { runKey });
    const result: LateConsentResult = await calls.make({ runKey, late }, left(), () => run.result());
    if ('problems' in result) throw new InvalidInputError(result.problems, result.cause);
    return { accepted: true, late: true, recorded: true, ...result };
  } catch (error) {
    if (hasCode(error, 'resultNotReady')) return { accepted: true, late: true, recorded: false };
    // The workflow fails where it cannot decode the message. An open run refuses such a message, with this cause.
    if (error instanceof InvalidInputError && !error.refusalCause)
      throw new InvalidInputError(error.problems, 'notNow');
    throw error;
  }
}

/**
 * Sends a consent to its run: acknowledged once the ledger has it (`recorded`). If no run is open, or Temporal
 * takes no further denial or revocation for it, the message goes to the ledger alone: posted shares that it concerns are flagged, a run that is started later finds it, and `unmatched` says what the
 * ledger does not know.
 *
 * @internal
 */
export async function sendConsent<Answer extends object>(
  context: ClientParts,
  consent: ConsentMessage,
  options: MessageOptions,
  sendToRun: (patienceMs: number) => Promise<Answer>,
): Promise<Answer> {
  const left = shareTimeout(options);
  try {
    return { ...(await sendToRun(CONSENT_PATIENCE_MS)), late: false };
  } catch (error) {
    // An open run would never receive a grant that the ledger alone has, and wait in vain.
    const isRefusal = hasCode(error, 'tooManyMessages') && consent.decision !== 'granted';
    if (!isRefusal && !hasCode(error, 'notFound', 'journeyFinished')) throw error;
    return recordLate(context, consent, { ...left(), messageId: options.messageId }) as unknown as Answer;
  }
}
