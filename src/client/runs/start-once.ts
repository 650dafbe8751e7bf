/** Starts a run of a caller's own id, once: a start that is repeated finds the first. */
import type { Client } from '@temporalio/client';
import { type Payload, type Priority, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { differingPaths } from '../../base/differing-paths.ts';
import { ownerOf, workflowIdOf } from '../../model/owner-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { redactedPointer } from '../../protection/redaction/redaction.ts';
import { InputDiffersError } from '../connection/errors.ts';
import { askRun } from './ask-run.ts';

interface StartOnce {
  client: Client;
  taskQueue: string;
  workflowType: string;
  ownerId: string;
  input: object;
  priority: Priority;
  staticSummary: string;
  staticDetails: string;
  /** Brings two forms that mean the same to one. Throws InvalidInputError for what is no such input. */
  parse(started: unknown): object;
}

/**
 * Starts the run. One that failed, was terminated or timed out is run again.
 *
 * @returns whether it is new: otherwise a run with the same input has this id
 * @throws InputDiffersError where a run with another input has it, and the SDK's errors
 */
export async function startOnce(options: StartOnce): Promise<boolean> {
  const { client, taskQueue, workflowType, ownerId, input, priority, staticSummary, staticDetails } = options;
  try {
    await client.workflow.start(workflowType, {
      workflowId: workflowIdOf(ownerId),
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
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const paths = await findDifferences(options);
    const { kind, id } = ownerOf(ownerId);
    if (paths.length > 0) throw new InputDiffersError(kind, id, paths);
    return false;
  }
}

/** Where the input of the run that has this id differs; forms that mean the same do not. */
async function findDifferences({ client, ownerId, input, parse }: StartOnce): Promise<string[]> {
  const workflowId = workflowIdOf(ownerId);
  const started = await startedInput(client, workflowId);
  // A codec server has masked it for this client. The run itself has all of it, and says which members differ.
  if (redactedPointer(started) !== null) {
    return askRun(client.workflow.getHandle(workflowId), 'inputDifferences', undefined, input);
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
