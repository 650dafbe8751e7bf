/** Whether other workers of the same version poll already, so that this one joins a fleet and starts none. */
import type { WorkflowService } from '@temporalio/client';
import type { DeploymentVersion } from './worker-deployment.ts';

/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW = 1;

interface Fleet {
  namespace: string;
  taskQueue: string;
  /** Absent where workers are unversioned. */
  version: DeploymentVersion | undefined;
}

/** The server remembers a poller for five minutes: one that was just moved to another machine still counts. */
export async function fleetIsRunning(
  service: Pick<WorkflowService, 'describeTaskQueue'>,
  { namespace, taskQueue, version }: Fleet,
): Promise<boolean> {
  const { pollers } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOW,
  });
  return (pollers ?? []).some(({ deploymentOptions }) => {
    const { deploymentName, buildId } = deploymentOptions ?? {};
    return version === undefined
      ? !deploymentName
      : deploymentName === version.deploymentName && buildId === version.buildId;
  });
}
