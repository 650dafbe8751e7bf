/** Starts a pull, once: a start that is repeated finds the first, and one that differs is refused. */
import type { Client } from '@temporalio/client';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { type PullInput, pullInputOf } from '../../messages/inputs/pull.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { priorityOf, type WorkClass } from '../../model/work-class.ts';
import { startOnce } from './start-once.ts';

const STATIC_DETAILS =
  'One credit report. The current details say where it stands and what resolves a hold; they need a running worker.';

interface StartPullContext {
  client: Client;
  taskQueue: string;
  maxApplicants: number;
}

/** As `startOnce`. */
export function startPull(
  { client, taskQueue, maxApplicants }: StartPullContext,
  pull: PullInput,
  { workClass = 'interactive' }: { workClass?: WorkClass } = {},
): Promise<boolean> {
  const { pullId, productCode, endUserCode } = pull;
  return startOnce({
    client,
    taskQueue,
    workflowType: productCode === 'FAILSAFE' ? 'failsafeCheck' : 'creditReport',
    ownerId: ownerIdOf('pull', pullId),
    input: pull,
    priority: priorityOf(workClass, endUserCode),
    staticSummary: [`${productCode} pull ${pullId}`, ...(endUserCode === undefined ? [] : [endUserCode])].join(' · '),
    staticDetails: STATIC_DETAILS,
    parse: (started) => parseMessage(pullInputOf(started), started, { maxApplicants }),
  });
}
