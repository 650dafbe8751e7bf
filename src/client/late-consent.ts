/** A consent, denial or revocation that comes after its journey's end still has to reach the ledger (docs/journeys.md). */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { ConsentMessage } from '../model/shapes.ts';
import { lateConsentWorkflowId } from './business-keys.ts';

export interface LateConsentResult {
  /** Posted shares that the message concerns, now flagged for a person. */
  postedSharesFlagged: number;
}

/** Starts `recordLateConsent`, or finds the one that recorded this very message before. */
export async function startLateConsent(
  client: Client,
  taskQueue: string,
  consent: ConsentMessage,
): Promise<Pick<WorkflowHandle, 'result'>> {
  const workflowId = lateConsentWorkflowId(consent);
  try {
    return await client.workflow.start('recordLateConsent', {
      workflowId,
      taskQueue,
      args: [{ consent }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `late consent · ${consent.decision}`,
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return client.workflow.getHandle(workflowId);
    throw error;
  }
}
