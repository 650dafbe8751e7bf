/** The run that an activity belongs to, as the ledger keeps it beside what was done for it. */
import { activityInfo } from '@temporalio/activity';

export function callingRun(): { workflowId: string; runId: string } {
  const { workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error('an activity that belongs to no workflow');
  return { workflowId: workflowExecution.workflowId, runId: workflowExecution.runId };
}
