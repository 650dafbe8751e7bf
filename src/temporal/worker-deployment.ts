/** Worker Deployments: reads which version of the workers gets the work, and promotes the first one. docs/versioning.md */
import { isGrpcServiceError, type WorkflowService } from '@temporalio/client';

/** The name that one build of the workers gives itself. */
export interface DeploymentVersion {
  deploymentName: string;
  buildId: string;
}

/**
 * - `current`: gets new runs, and those of older versions that upgrade.
 * - `ramping`: gets a share of them.
 * - `draining`: gets the remaining runs that are pinned to it.
 * - `drained`: gets nothing more; its workers may be stopped.
 * - `inactive`: has never been made current.
 * - `unknown`: the server does not know the version. No worker of it has polled yet, or it was removed long ago.
 */
export type VersionState = 'current' | 'ramping' | 'draining' | 'drained' | 'inactive' | 'unknown';

export interface DeploymentView {
  /** Absent where unversioned workers get the work. */
  currentBuildId?: string;
  /** Who alone may promote, such as Temporal's Worker Controller; absent where everybody may. */
  manager?: string;
  /** The newest first. */
  versions: { buildId: string; state: VersionState }[];
}

export interface PromoteOptions {
  /** Permits it before a worker of this version has polled. Default false. */
  allowNoPollers?: boolean;
}

/** Thrown when the server refused to make the version current. */
export class PromotionRefusedError extends Error {
  override readonly name = 'PromotionRefusedError';
}

/** `temporal.api.enums.v1.WorkerDeploymentVersionStatus`; a version that was only created has no worker either. */
const STATES: readonly VersionState[] = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained', 'unknown'];

// gRPC status codes.
const NOT_FOUND = 5;
const FAILED_PRECONDITION = 9;

const IDENTITY = 'credit-journey';

type Service = Pick<WorkflowService, 'describeWorkerDeployment' | 'setWorkerDeploymentCurrentVersion'>;

/** `null` where the namespace has no such deployment. */
export async function describeDeployment(
  service: Service,
  namespace: string,
  deploymentName: string,
): Promise<DeploymentView | null> {
  try {
    const { workerDeploymentInfo: info } = await service.describeWorkerDeployment({ namespace, deploymentName });
    const currentBuildId = info?.routingConfig?.currentDeploymentVersion?.buildId;
    const versions = (info?.versionSummaries ?? []).map(({ deploymentVersion, status }) => ({
      buildId: deploymentVersion?.buildId ?? '',
      state: STATES[status ?? 0] ?? 'unknown',
    }));
    const manager = info?.managerIdentity;
    return { ...(currentBuildId ? { currentBuildId } : {}), ...(manager ? { manager } : {}), versions };
  } catch (error) {
    // Of a namespace that is not there the server says the same.
    if (isGrpcServiceError(error) && error.code === NOT_FOUND && !/^namespace\b/i.test(error.details)) return null;
    throw error;
  }
}

export async function versionState(
  service: Service,
  namespace: string,
  { deploymentName, buildId }: DeploymentVersion,
): Promise<VersionState> {
  return stateIn(await describeDeployment(service, namespace, deploymentName), buildId);
}

export function stateIn(deployment: DeploymentView | null, buildId: string): VersionState {
  return deployment?.versions.find((version) => version.buildId === buildId)?.state ?? 'unknown';
}

/**
 * Makes a version current: from then on it gets all new runs, and every older one that upgrades. The same version may
 * be promoted again.
 *
 * @throws PromotionRefusedError where no worker of it polls, or one of its queues has none; the SDK's errors
 */
export async function promote(
  service: Service,
  namespace: string,
  version: DeploymentVersion,
  { allowNoPollers = false }: PromoteOptions = {},
): Promise<void> {
  try {
    await service.setWorkerDeploymentCurrentVersion({ namespace, ...version, identity: IDENTITY, allowNoPollers });
  } catch (error) {
    if (!isGrpcServiceError(error) || (error.code !== NOT_FOUND && error.code !== FAILED_PRECONDITION)) throw error;
    throw new PromotionRefusedError(`the server does not make ${version.buildId} current: ${error.details}`);
  }
}

/** The command by which an operator makes a version current. */
export function promotionCommand({ deploymentName, buildId }: DeploymentVersion): string {
  return `temporal worker deployment set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`;
}
