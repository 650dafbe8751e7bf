/** Short workflows end on the worker version that they began on, and need no patches. */
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';

/** The server refuses what an unversioned worker says of versions. */
export function pinnedWhereVersioned(workflow: Parameters<typeof setWorkflowOptions>[1]): void {
  setWorkflowOptions(
    () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
    workflow,
  );
}
