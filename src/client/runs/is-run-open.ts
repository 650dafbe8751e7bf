import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { runKeyFromWorkflowId } from '../../model/run-key.ts';
import { translatedError } from '../connection/errors.ts';

/**
 * Whether any run of this workflow is open: that run reads the ledger's row itself.
 *
 * @internal
 */
export async function isRunOpen(client: Client, workflowId: string): Promise<boolean> {
  if (workflowId === '') return false;
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw translatedError(error, runKeyFromWorkflowId(workflowId) ?? workflowId);
  }
}
