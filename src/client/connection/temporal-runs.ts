/** Runs as Temporal has them: whether one is open, and what a ledger's watch has seen. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { type HighWaterMark, toLedgerWatchId } from '../../model/ledger-watch.ts';
import { toWorkflowId } from '../../model/run-key.ts';
import { translateCallError } from './errors.ts';

/** Describes a run; by default the latest of its workflow id. `undefined` if the server knows none. */
export async function describeRun(client: Client, workflowId: string, runId?: string) {
  try {
    return await client.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Whether the run has not closed. An operator may have paused it. */
export function isOpen({ status }: Pick<WorkflowExecutionDescription, 'status'>): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}

/**
 * Whether a run under this key is open: that run reads the ledger's row itself.
 *
 * @internal
 */
export async function isRunOpen(client: Client, runKey: string): Promise<boolean> {
  try {
    const run = await describeRun(client, toWorkflowId(runKey));
    return run !== undefined && isOpen(run);
  } catch (error) {
    throw translateCallError(error, runKey);
  }
}

/**
 * The newest attempt that the ledger's watch has seen; `undefined` where there is no watch yet, or nothing was claimed.
 * Temporal keeps it, so an older copy of the ledger cannot lose it.
 *
 * @throws what the server does where it does not answer, and what decoding does where a key is gone
 */
export async function readWatchedAttempt(
  client: Client,
  { ledgerId, taskQueue }: { ledgerId: string; taskQueue: string },
): Promise<HighWaterMark | undefined> {
  const watch = await describeRun(client, toLedgerWatchId(ledgerId, taskQueue));
  const { position, claimedAt } = (watch?.memo?.highWaterMark ?? {}) as Partial<HighWaterMark>;
  return typeof position === 'number' && typeof claimedAt === 'string' ? { position, claimedAt } : undefined;
}
