/** Worker Deployments: reads which version of the workers gets the work. docs/versioning.md */
import { isGrpcServiceError, type WorkflowService } from '@temporalio/client';
import type { Logger } from 'pino';

/** The deployment name and the build id of one version of the workers. */
export interface DeploymentVersion {
  deploymentName: string;
  buildId: string;
}

/**
 * - `current`: gets new runs, and those of older versions that upgrade.
 * - `ramping`: gets a part of them.
 * - `draining`: gets the remaining runs that are pinned to it.
 * - `drained`: gets nothing more; its workers may be stopped.
 * - `inactive`: has never been made current.
 * - `unknown`: the server does not know the version. No worker of it has polled yet, or it was removed long ago.
 */
export const VERSION_STATES = ['current', 'ramping', 'draining', 'drained', 'inactive', 'unknown'] as const;
export type VersionState = (typeof VERSION_STATES)[number];

/** `temporal.api.enums.v1.WorkerDeploymentVersionStatus`, by number. The last, `CREATED`, has no worker yet. */
const STATES: readonly VersionState[] = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained', 'unknown'];

/** `temporal.api.enums.v1.TaskQueueType` */
export const TASK_QUEUE_TYPES = { workflow: 1, activity: 2 } as const;

/** gRPC's `NOT_FOUND`. */
const NOT_FOUND = 5;

type Service = Pick<WorkflowService, 'describeWorkerDeployment'>;

/** `null` where the namespace has no such deployment. */
export async function describeDeployment(service: Service, namespace: string, deploymentName: string) {
  try {
    const { workerDeploymentInfo: info } = await service.describeWorkerDeployment({ namespace, deploymentName });
    return {
      /** Absent where unversioned workers get the work. */
      currentBuildId: info?.routingConfig?.currentDeploymentVersion?.buildId || undefined,
      /** The only identity that may promote, such as Temporal's Worker Controller. Absent if all may. */
      manager: info?.managerIdentity || undefined,
      /** Newest first. */
      versions: (info?.versionSummaries ?? []).map(({ deploymentVersion, status }) => ({
        buildId: deploymentVersion?.buildId ?? '',
        state: STATES[status ?? 0] ?? 'unknown',
      })),
    };
  } catch (error) {
    // The server gives the same code if the namespace does not exist.
    if (isGrpcServiceError(error) && error.code === NOT_FOUND && !/^namespace\b/i.test(error.details)) return null;
    throw error;
  }
}

type DeploymentView = Awaited<ReturnType<typeof describeDeployment>>;

export function findVersionState(deployment: DeploymentView, buildId: string): VersionState {
  return deployment?.versions.find((version) => version.buildId === buildId)?.state ?? 'unknown';
}

/** The command by which an operator makes a version current. */
export function formatPromotionCommand({ deploymentName, buildId }: DeploymentVersion): string {
  return `temporal worker deployment set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`;
}

// Watches whether this worker's version gets the work, and logs each change.

/** A promotion is noticed within this time. Each question costs the server a query. */
const ASK_EVERY_MS = 15_000;

export interface WatchedDeployment {
  service: Pick<WorkflowService, 'describeWorkerDeployment' | 'describeTaskQueue'>;
  namespace: string;
  taskQueue: string;
  /** Absent where workers are unversioned: they get nothing while a version is current on their task queue. */
  version: DeploymentVersion | undefined;
  logger: Pick<Logger, 'info' | 'warn'>;
  askEveryMs?: number;
  /** Called with each answer; `hasCurrent`: some version of the deployment gets the work. */
  onAnswer?: (answer: { state: VersionState; hasCurrent: boolean }) => void;
}

const GETS_WORK = 'this version of the workers gets the work';

/** Polls the deployment at once and then regularly. Logs nothing while the server does not answer. */
export function watchDeployment(watched: WatchedDeployment): { close(): void } {
  const { version, logger, askEveryMs = ASK_EVERY_MS, onAnswer } = watched;
  // Unversioned workers are assumed to get the work, which needs no line.
  let said = version ? undefined : GETS_WORK;
  const ask = async () => {
    const found = await (version ? askVersion(watched, version) : askUnversioned(watched)).catch(() => undefined);
    if (found === undefined) return;
    const { state, hasCurrent, idle } = found;
    onAnswer?.({ state, hasCurrent });
    const receivesWork = state === 'current' || state === 'ramping';
    const text = receivesWork ? GETS_WORK : idle;
    if (text === said) return;
    said = text;
    logger[receivesWork ? 'info' : 'warn']({ ...version, state }, text);
  };
  void ask();
  const timer = setInterval(ask, askEveryMs).unref();
  return { close: () => clearInterval(timer) };
}

async function askVersion({ service, namespace }: WatchedDeployment, version: DeploymentVersion) {
  const view = await describeDeployment(service, namespace, version.deploymentName);
  const state = findVersionState(view, version.buildId);
  return { state, hasCurrent: view?.currentBuildId !== undefined, idle: describeIdle(state, version) };
}

async function askUnversioned({ service, namespace, taskQueue }: WatchedDeployment) {
  const { versioningInfo } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPES.workflow,
  });
  const { deploymentName, buildId } = versioningInfo?.currentDeploymentVersion ?? {};
  const state: VersionState = deploymentName ? 'inactive' : 'current';
  const idle = `unversioned workers get no work while a version is current, which is ${deploymentName} ${buildId}`;
  return { state, hasCurrent: true, idle };
}

/** A version that no worker has polled for yet counts as never promoted: this worker is about to poll. */
function describeIdle(state: VersionState, version: DeploymentVersion): string {
  return state === 'draining' || state === 'drained'
    ? 'another version of the workers gets the work: this one only finishes what is pinned to it'
    : `this version of the workers gets no work until it is made current: \`${formatPromotionCommand(version)}\``;
}

// Whether other workers of the same version poll already, so that this one joins a fleet and starts none.

/**
 * The server remembers a poller for five minutes: one that was just moved to another machine still counts. `version` is
 * absent where workers are unversioned.
 */
export async function isFleetPolling(
  service: Pick<WorkflowService, 'describeTaskQueue'>,
  { namespace, taskQueue, version }: { namespace: string; taskQueue: string; version: DeploymentVersion | undefined },
): Promise<boolean> {
  const { pollers } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPES.workflow,
  });
  return (pollers ?? []).some(({ deploymentOptions }) => {
    const { deploymentName, buildId } = deploymentOptions ?? {};
    return version === undefined
      ? !deploymentName
      : deploymentName === version.deploymentName && buildId === version.buildId;
  });
}
