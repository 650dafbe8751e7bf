/** A consent, denial or revocation that comes after its journey's end still has to reach the ledger (docs/journeys.md). */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { ConsentMessage } from '../../messages/consent.ts';
import type { LateConsentResult, RecordedConsent } from '../../messages/journey/shapes.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { priorityOf } from '../../model/work-class.ts';
import { type CallOptions, inOneTime, MESSAGE_TIMEOUT_MS } from '../connection/calls.ts';
import {
  JourneyFinishedError,
  JourneyNotFoundError,
  ResultNotReadyError,
  TemporalUnavailableError,
  TooManyMessagesError,
} from '../connection/errors.ts';
import { lateConsentWorkflowId } from '../connection/message-ids.ts';
import type { MessageOptions, RunContext } from './run-handle.ts';

/** The message came without an open run. `recorded: false`: Temporal has it, and the ledger does not have it yet. */
export type LateConsentAnswer = { accepted: true; late: true } & (
  | ({ recorded: true } & RecordedConsent)
  | { recorded: false }
);

/**
 * Starts `recordLateConsent`, or finds the run that is open for this very message. Whether the ledger has the message
 * already, the ledger says.
 *
 * @internal
 */
export async function startLateConsent(
  client: Client,
  taskQueue: string,
  consent: ConsentMessage,
  messageId?: string,
): Promise<Pick<WorkflowHandle, 'result'>> {
  return client.workflow.start('recordLateConsent', {
    workflowId: lateConsentWorkflowId(consent.journeyId, messageId),
    taskQueue,
    args: [{ consent }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    // The message names no other end user; of one who has only a name there is no key.
    priority: priorityOf('interactive', consent.secondaryUser.endUserCode),
    staticSummary: `late consent · ${consent.decision}`,
  });
}

/** A run answers a consent within 5 s. Where it still takes none after that, the client writes to the ledger. */
export const CONSENT_PATIENCE_MS = 6_000;

/**
 * Whether a consent that did not reach its run goes to the ledger. Either no run is open, or Temporal takes no more
 * messages for it. In the second case a grant is not recorded: the run would never hear of it, and wait in vain.
 */
export function isForLedger(error: unknown, { decision }: ConsentMessage): boolean {
  if (error instanceof TooManyMessagesError) return decision !== 'granted';
  return error instanceof JourneyNotFoundError || error instanceof JourneyFinishedError;
}

const serverLate = () => new TemporalUnavailableError('it did not answer in time', 'timedOut');

/**
 * Signals the run, and waits for no answer. Writes to the ledger where no run is open.
 *
 * @internal
 */
export async function signalConsent(
  context: RunContext,
  handle: WorkflowHandle,
  consent: ConsentMessage,
  options: CallOptions,
): Promise<{ late: false } | LateConsentAnswer> {
  const left = inOneTime(options);
  try {
    const call = { timeoutMs: MESSAGE_TIMEOUT_MS, ...options, ownerId: consent.journeyId, late: serverLate };
    await context.calls.make(call, () => handle.signal('consent', consent));
    return { late: false };
  } catch (error) {
    if (!isForLedger(error, consent)) throw error;
  }
  return recordLate(context, consent, left());
}

/**
 * Starts the workflow that records it, and waits for its result, as long as for any update.
 *
 * @throws InvalidInputError where the message is refused
 * @internal
 */
export async function recordLate(
  { client, calls, taskQueue }: RunContext,
  consent: ConsentMessage,
  { messageId, ...options }: MessageOptions = {},
): Promise<LateConsentAnswer> {
  const ownerId = consent.journeyId;
  const left = inOneTime({ timeoutMs: MESSAGE_TIMEOUT_MS, ...options });
  const run = await calls.make({ ...left(), ownerId, late: serverLate }, () =>
    startLateConsent(client, taskQueue, consent, messageId),
  );
  try {
    const late = () => new ResultNotReadyError(ownerId);
    const result: LateConsentResult = await calls.make({ ...left(), ownerId, late }, () => run.result());
    if ('problems' in result) throw new InvalidInputError(result.problems);
    return { accepted: true, late: true, recorded: true, ...result };
  } catch (error) {
    if (error instanceof ResultNotReadyError) return { accepted: true, late: true, recorded: false };
    throw error;
  }
}
