/** Worker Deployments: reads and changes which version of the workers gets the work. docs/versioning.md */
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
  /** Permits it although a queue of the current version has no worker of this one. Default false. */
  ignoreMissingTaskQueues?: boolean;
}

/** Thrown when the server refused to make the version current. */
export class PromotionRefusedError extends Error {
  override readonly name = 'PromotionRefusedError';
}

/** Thrown where no answer came to the request that makes the version current: it may have been carried out, or be yet. */
export class PromotionUnansweredError extends Error {
  override readonly name = 'PromotionUnansweredError';
  /** Which version was current before. */
  readonly previousBuildId: string | undefined;

  constructor(previousBuildId: string | undefined, options: { cause: unknown }) {
    super('no answer came to the promotion', options);
    this.previousBuildId = previousBuildId;
  }
}

/** Thrown where somebody else alone promotes the versions of this deployment. Waiting changes nothing about that. */
export class ManagedElsewhereError extends Error {
  override readonly name = 'ManagedElsewhereError';

  constructor({ deploymentName, manager }: { deploymentName: string; manager: string }) {
    super(
      `the versions of ${deploymentName} are promoted by ${manager} alone: change its resource, or take the deployment ` +
        'from it with `temporal worker deployment manager-identity set --self`',
    );
  }
}

/** `temporal.api.enums.v1.WorkerDeploymentVersionStatus`; a version that was only created has no worker either. */
const STATES: readonly VersionState[] = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained', 'unknown'];

// gRPC status codes.
const NOT_FOUND = 5;
const FAILED_PRECONDITION = 9;
/** Said before anything is done: INVALID_ARGUMENT, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, UNAUTHENTICATED. */
const NOT_CARRIED_OUT: readonly number[] = [3, 7, 8, 12, 16];

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
 * Makes a version current: from then on it gets all new runs, and every older one that upgrades. Returns the build id
 * of the former current version. The same version may be promoted again.
 *
 * @throws PromotionRefusedError where no worker of it polls, or one of its queues has none; PromotionUnansweredError;
 *   ManagedElsewhereError where a controller manages the deployment; what `describeDeployment` throws, before anything
 *   was asked
 */
export async function promote(
  service: Service,
  namespace: string,
  version: DeploymentVersion,
  options: PromoteOptions = {},
): Promise<{ previousBuildId?: string }> {
  const before = await describeDeployment(service, namespace, version.deploymentName);
  const { deploymentName } = version;
  if (before?.manager && before.manager !== IDENTITY) {
    throw new ManagedElsewhereError({ deploymentName, manager: before.manager });
  }
  try {
    await service.setWorkerDeploymentCurrentVersion({
      namespace,
      ...version,
      identity: IDENTITY,
      allowNoPollers: options.allowNoPollers ?? false,
      ignoreMissingTaskQueues: options.ignoreMissingTaskQueues ?? false,
    });
  } catch (error) {
    if (!isGrpcServiceError(error) || NOT_CARRIED_OUT.includes(error.code)) throw error;
    if (error.code !== NOT_FOUND && error.code !== FAILED_PRECONDITION) {
      throw new PromotionUnansweredError(before?.currentBuildId, { cause: error });
    }
    throw new PromotionRefusedError(`the server does not make ${version.buildId} current: ${error.details}`);
  }
  return before?.currentBuildId === undefined ? {} : { previousBuildId: before.currentBuildId };
}
