/** Starts a run of any kind by its caller's own id, once: a start that is repeated finds the first. */
import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { findDifferingPaths } from '../../base/differing-paths.ts';
import { isRecord } from '../../base/is-record.ts';
import { chooseWorkflow, INPUTS, type StartInput } from '../../messages/inputs/all-inputs.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { findRunKind, ID_NAMES, type RunKind, toRunKey, toWorkflowId } from '../../model/run-key.ts';
import { describeSecondaryUser } from '../../model/stage-end-user.ts';
import { toPriority, type WorkClass } from '../../model/work-class.ts';
import { readRedactedPointer } from '../../protection/redaction/redaction.ts';
import { readStartInput } from '../../temporal/histories.ts';
import { CallError } from '../connection/errors.ts';
import { askRun } from '../connection/run-messages.ts';

type CheckedStart = ReturnType<typeof checkStart>;

/**
 * Checks the input, and tells the kind of the run by the id in it.
 *
 * @throws InvalidInputError
 */
export function checkStart(given: unknown, workClass?: WorkClass) {
  const kind = (isRecord(given) && findRunKind(given)) || 'journey';
  const input = parseInput(kind, given);
  const id = (input as unknown as Record<string, string>)[ID_NAMES[kind]] as string;
  const usual: WorkClass = kind === 'portfolio' ? 'batch' : 'interactive';
  return { kind, id, runKey: toRunKey(kind, id), input, workClass: workClass ?? usual };
}

/** Normalizes two equivalent forms to one. */
function parseInput(kind: RunKind, input: unknown): StartInput {
  return parseMessage(INPUTS[chooseWorkflow(kind, input)], input);
}

/**
 * Starts the run. One that failed, was terminated or timed out is run again.
 *
 * @returns whether it is new: otherwise a run with the same input has this id
 * @throws CallError `differs` where a run with another input has it, and the SDK's errors
 */
export async function startRun({ client, taskQueue }: { client: Client; taskQueue: string }, start: CheckedStart) {
  const { kind, id, runKey, input, workClass } = start;
  const what = 'productCode' in input ? `${input.productCode} pull` : kind;
  const user = describeSecondaryUser(input);
  try {
    await client.workflow.start(chooseWorkflow(kind, input), {
      workflowId: toWorkflowId(runKey),
      taskQueue,
      args: [input],
      // Distinguishes a repeat from a first start, so that the two inputs can be compared.
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      priority: toPriority(workClass, input.endUserCode),
      // Payloads like any other, and so encrypted; nothing personal all the same.
      staticSummary: user === '' ? `${what} ${id}` : `${what} ${id} · ${user}`,
      staticDetails: 'The current details show its state and how to resolve a hold; they need a running worker.',
    });
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const paths = await findDifferences(client, start);
    if (paths.length === 0) return false;
    const rule = 'must be as it was started: choose another id for another input';
    const list = paths.map((path) => path || '/').join(', ');
    const reason = `${list} ${paths.length > 1 ? 'differ' : 'differs'}`;
    throw new CallError('differs', { runKey, reason, problems: paths.map((path) => ({ path, rule })) });
  }
}

/** Finds where the input of the run with this id differs; forms that mean the same do not differ. */
async function findDifferences(client: Client, { kind, runKey, input }: CheckedStart): Promise<string[]> {
  const workflowId = toWorkflowId(runKey);
  const started = await readStartInput(client, workflowId);
  // A codec server has masked it for this client. The run itself has all of it, and says which members differ.
  if (readRedactedPointer(started) !== null) {
    return askRun(client.workflow.getHandle(workflowId), 'inputDifferences', undefined, input);
  }
  try {
    return findDifferingPaths(parseInput(kind, started), input);
  } catch (error) {
    // A run with an invalid input is about to fail.
    if (error instanceof InvalidInputError) return [''];
    throw error;
  }
}
