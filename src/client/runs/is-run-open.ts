import type { Client } from '@temporalio/client';
import { runKeyFromWorkflowId } from '../../model/run-key.ts';
import { describeRun } from '../connection/describe-run.ts';
import { translatedError } from '../connection/errors.ts';

/**
 * Whether any run of this workflow is open: that run reads the ledger's row itself.
 *
 * @internal
 */
export async function isRunOpen(client: Client, workflowId: string): Promise<boolean> {
  if (workflowId === '') return false;
  try {
    const status = (await describeRun(client, workflowId))?.status.name;
    return status === 'RUNNING' || status === 'PAUSED';
  } catch (error) {
    throw translatedError(error, runKeyFromWorkflowId(workflowId) ?? workflowId);
  }
}
