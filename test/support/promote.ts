/** Promotes versions like `temporal worker deployment set-current-version` (docs/versioning.md). */
import type { WorkflowService } from '@temporalio/client';
import {
  type DeploymentVersion,
  describeDeployment,
  findVersionState,
  type VersionState,
} from '../../src/temporal/worker-deployment.ts';

const IDENTITY = 'credit-journey-tests';

type Service = Pick<WorkflowService, 'describeWorkerDeployment' | 'setWorkerDeploymentCurrentVersion'>;

/** @throws the server's error where no worker of the version polls */
export async function promote(service: Service, namespace: string, version: DeploymentVersion): Promise<void> {
  await service.setWorkerDeploymentCurrentVersion({ namespace, ...version, identity: IDENTITY });
}

export async function versionState(
  service: Service,
  namespace: string,
  { deploymentName, buildId }: DeploymentVersion,
): Promise<VersionState> {
  return findVersionState(await describeDeployment(service, namespace, deploymentName), buildId);
}
