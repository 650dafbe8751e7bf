/** Starts a pull, once: a start that is repeated finds the first, and one that differs is refused. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import { type Payload, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { redactedPointer } from '../codec-server/redaction.ts';
import { ownerIdOf, workflowIdOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { PullInput } from '../model/pull-shapes.ts';
import { priorityOf, type WorkClass } from '../model/work-class.ts';
import { parsePullInput } from '../validation/messages.ts';
import { translated } from './error-translation.ts';
import { PullDiffersError } from './errors.ts';

const STATIC_DETAILS =
  'One credit report. The current details say where it stands and what resolves a hold; they need a running worker.';

export interface StartPullContext {
  client: Client;
  taskQueue: string;
  maxApplicants: number;
}

/** @throws PullDiffersError, and what `translated` makes of the SDK's errors */
export async function startPull(
  context: StartPullContext,
  pull: PullInput,
  { workClass = 'interactive' }: { workClass?: WorkClass } = {},
): Promise<void> {
  const { pullId, productCode, endUserCode } = pull;
  const ownerId = ownerIdOf('pull', pullId);
  const workflowId = workflowIdOf(ownerId);
  try {
    await context.client.workflow.start(productCode === 'FAILSAFE' ? 'failsafeCheck' : 'creditReport', {
      workflowId,
      taskQueue: context.taskQueue,
      args: [pull],
      // Told apart from a first start, so that the two inputs can be compared.
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      priority: priorityOf(workClass, endUserCode),
      // Payloads like any other, and so encrypted; nothing personal all the same.
      staticSummary: [`${productCode} pull ${pullId}`, ...(endUserCode === undefined ? [] : [endUserCode])].join(' · '),
      staticDetails: STATIC_DETAILS,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translated(error, ownerId);
    const started = await startedInput(context.client, workflowId).catch((failed) => {
      throw translated(failed, ownerId);
    });
    if (!isSame(started, pull, context)) throw new PullDiffersError(pullId);
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

/** Started by others, it may be in another form that means the same; masked by a codec server, only in part known. */
function isSame(started: unknown, pull: PullInput, { maxApplicants }: StartPullContext): boolean {
  if (redactedPointer(started) !== null) return isDeepStrictEqual(withoutApplicants(started), withoutApplicants(pull));
  try {
    return isDeepStrictEqual(parsePullInput(started, { maxApplicants }), pull);
  } catch (error) {
    // A run with an invalid input is about to fail.
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
}

function withoutApplicants(input: unknown): object {
  const { applicants: _personal, ...rest } = { ...(input as object) } as { applicants?: unknown };
  return rest;
}
