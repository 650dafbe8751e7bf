/** Starts a pull, once: a start that is repeated finds the first, and one that differs is refused. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import { redactedPointer } from '../codec-server/redaction.ts';
import { ownerIdOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { PullInput } from '../model/pull-shapes.ts';
import { priorityOf, type WorkClass } from '../model/work-class.ts';
import { parsePullInput } from '../validation/messages.ts';
import { PullDiffersError } from './errors.ts';
import { startOnce } from './start-once.ts';

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
  const isThis = await startOnce({
    client: context.client,
    taskQueue: context.taskQueue,
    workflowType: productCode === 'FAILSAFE' ? 'failsafeCheck' : 'creditReport',
    ownerId: ownerIdOf('pull', pullId),
    input: pull,
    priority: priorityOf(workClass, endUserCode),
    staticSummary: [`${productCode} pull ${pullId}`, ...(endUserCode === undefined ? [] : [endUserCode])].join(' · '),
    staticDetails: STATIC_DETAILS,
    isSame: (started) => isSame(started, pull, context),
  });
  if (!isThis) throw new PullDiffersError(pullId);
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
