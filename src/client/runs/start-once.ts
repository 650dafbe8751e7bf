/** Starts a run of a caller's own id, once: a start that is repeated finds the first. */
import type { Client } from '@temporalio/client';
import { type Payload, type Priority, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { differingPaths } from '../../base/differing-paths.ts';
import { workflowIdOf } from '../../model/owner-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { redactedPointer } from '../../protection/redaction/redaction.ts';

interface StartOnce {
  client: Client;
  taskQueue: string;
  workflowType: string;
  ownerId: string;
  input: object;
  priority: Priority;
  staticSummary: string;
  staticDetails: string;
  /** Where the input of the run that has this id differs, as far as this client may see it. */
  differences(started: unknown): string[];
}

/** `paths`: where the input of the run that has this id differs; none where it is the same. */
type StartedOnce = { kind: 'started' } | { kind: 'found'; paths: string[] };

/** Starts the run, or compares the one that has this id. One that failed, was terminated or timed out is run again. */
export async function startOnce(options: StartOnce): Promise<StartedOnce> {
  const { client, taskQueue, workflowType, ownerId, input, priority, staticSummary, staticDetails } = options;
  const workflowId = workflowIdOf(ownerId);
  try {
    await client.workflow.start(workflowType, {
      workflowId,
      taskQueue,
      args: [input],
      // Distinguishes a repeat from a first start, so that the two inputs can be compared.
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      priority,
      // Payloads like any other, and so encrypted; nothing personal all the same.
      staticSummary,
      staticDetails,
    });
    return { kind: 'started' };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { kind: 'found', paths: options.differences(await startedInput(client, workflowId)) };
  }
}

/**
 * Where a run's input differs from this one; forms that mean the same do not. Masked by a codec server it is known only
 * in part: all but its member `personal` is compared.
 *
 * @param parse throws InvalidInputError for what is no such input
 */
export function inputDifferences<Input extends object>(
  started: unknown,
  input: Input,
  { parse, personal }: { parse(started: unknown): Input; personal: keyof Input },
): string[] {
  if (redactedPointer(started) !== null) {
    const known = (one: object) => ({ ...one, [personal]: undefined });
    return differingPaths(known(started as object), known(input));
  }
  try {
    return differingPaths(parse(started), input);
  } catch (error) {
    // A run with an invalid input is about to fail.
    if (error instanceof InvalidInputError) return [''];
    throw error;
  }
}

/** The input of the newest run, as far as this client may see it. */
export async function startedInput({ connection, options }: Client, workflowId: string): Promise<unknown> {
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
