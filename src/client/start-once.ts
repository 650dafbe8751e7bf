/** Starts a run of a caller's own id, once: a start that is repeated finds the first. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import { type Payload, type Priority, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { redactedPointer } from '../codec-server/redaction.ts';
import { workflowIdOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import { translated } from './error-translation.ts';

export interface StartOnce {
  client: Client;
  taskQueue: string;
  workflowType: string;
  ownerId: string;
  input: object;
  priority: Priority;
  staticSummary: string;
  staticDetails: string;
  /** Whether the run that has this id was started with the same input, as far as this client may see it. */
  isSame(started: unknown): boolean;
}

/**
 * Whether the run under this id is of this input. One that failed, was terminated or timed out is run again.
 *
 * @throws what `translated` makes of the SDK's errors
 */
export async function startOnce({ client, taskQueue, workflowType, ownerId, ...start }: StartOnce): Promise<boolean> {
  const { input, priority, staticSummary, staticDetails, isSame } = start;
  const workflowId = workflowIdOf(ownerId);
  try {
    await client.workflow.start(workflowType, {
      workflowId,
      taskQueue,
      args: [input],
      // Told apart from a first start, so that the two inputs can be compared.
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      priority,
      // Payloads like any other, and so encrypted; nothing personal all the same.
      staticSummary,
      staticDetails,
    });
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translated(error, ownerId);
    const started = await startedInput(client, workflowId).catch((failed) => {
      throw translated(failed, ownerId);
    });
    return isSame(started);
  }
}

/**
 * Whether a run was started with this input, in whatever form means the same. Masked by a codec server it is known only
 * in part: all but its member `personal` is compared.
 *
 * @param parse throws InvalidInputError for what is no such input
 */
export function isSameInput<Input extends object>(
  started: unknown,
  input: Input,
  { parse, personal }: { parse(started: unknown): Input; personal: keyof Input },
): boolean {
  if (redactedPointer(started) !== null) {
    const known = (one: object) => ({ ...one, [personal]: undefined });
    return isDeepStrictEqual(known(started as object), known(input));
  }
  try {
    return isDeepStrictEqual(parse(started), input);
  } catch (error) {
    // A run with an invalid input is about to fail.
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
}

/** The input of the newest run, as far as this client may see it. */
async function startedInput({ connection, options }: Client, workflowId: string): Promise<unknown> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: options.namespace,
    execution: { workflowId },
    maximumPageSize: 1,
  });
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  let payloads: Payload[] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  for (const codec of payloadCodecs) payloads = await codec.decode(payloads);
  const [payload] = payloads;
  return payload && payloadConverter.fromPayload(payload);
}
