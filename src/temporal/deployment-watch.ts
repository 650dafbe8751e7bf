/** Watches whether this worker's version gets the work, and logs where it does not. */
import type { Logger } from 'pino';
import {
  type DeploymentVersion,
  describeDeployment,
  promotionCommand,
  stateIn,
  type VersionState,
} from './worker-deployment.ts';

/** How soon a promotion is noticed; asking costs the server a query. */
const ASK_EVERY_MS = 15_000;

export interface DeploymentWatch {
  /** The last known state; `unknown` until the server has answered. */
  state(): VersionState;
  close(): void;
}

interface WatchedDeployment {
  service: Parameters<typeof describeDeployment>[0];
  namespace: string;
  version: DeploymentVersion;
  logger: Pick<Logger, 'warn'> & Partial<Pick<Logger, 'info'>>;
  askEveryMs?: number;
  /** With each answer; `hasCurrent`: some version of the deployment gets the work. */
  onAnswer?: (answer: { state: VersionState; hasCurrent: boolean }) => void;
}

/** Asks at once, then regularly. While the server does not answer, its last answer holds. */
export function watchDeployment(watched: WatchedDeployment): DeploymentWatch {
  const { service, namespace, version, askEveryMs = ASK_EVERY_MS, onAnswer } = watched;
  let state: VersionState = 'unknown';
  let said: string | undefined;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const ask = async () => {
    const view = await describeDeployment(service, namespace, version.deploymentName).catch(() => undefined);
    if (isClosed) return;
    if (view !== undefined) {
      state = stateIn(view, version.buildId);
      onAnswer?.({ state, hasCurrent: view?.currentBuildId !== undefined });
      const text = describeState(state, version);
      if (text !== said) say(watched, state, text);
      said = text;
    }
    timer = setTimeout(ask, askEveryMs);
    timer.unref();
  };
  void ask();
  return {
    state: () => state,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function say({ version, logger }: WatchedDeployment, state: VersionState, text: string): void {
  const fields = { ...version, state };
  if (getsWork(state)) logger.info?.(fields, text);
  else logger.warn(fields, text);
}

/** Whether workers of this version get new runs. */
export function getsWork(state: VersionState): boolean {
  return state === 'current' || state === 'ramping';
}

/**
 * Describes a state in words. A version that no worker has polled for yet counts as never promoted: this worker is
 * about to poll.
 */
function describeState(state: VersionState, version: DeploymentVersion): string {
  if (getsWork(state)) return 'this version of the workers gets the work';
  return state === 'draining' || state === 'drained'
    ? 'another version of the workers gets the work: this one only finishes what is pinned to it'
    : `this version of the workers gets no work until it is made current: \`${promotionCommand(version)}\``;
}
