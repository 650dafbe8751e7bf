/** Keeps an eye on whether this worker's version is the one that gets the work, and says where it is not. */
import type { Logger } from 'pino';
import { type DeploymentVersion, type VersionState, versionState } from './worker-deployment.ts';

/** A promotion is noticed after this; asking costs the server a query. */
const ASK_EVERY_MS = 15_000;

export interface DeploymentWatch {
  /** As last heard; `unknown` until the server has said. */
  state(): VersionState;
  close(): void;
}

export interface WatchedDeployment {
  service: Parameters<typeof versionState>[0];
  namespace: string;
  version: DeploymentVersion;
  logger: Pick<Logger, 'warn'> & Partial<Pick<Logger, 'info'>>;
  askEveryMs?: number;
}

/** Asks at once, then regularly. While the server does not answer, what it said last holds. */
export function watchDeployment(watched: WatchedDeployment): DeploymentWatch {
  const { service, namespace, version, askEveryMs = ASK_EVERY_MS } = watched;
  let state: VersionState = 'unknown';
  let said: string | undefined;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const ask = async () => {
    const answer = await versionState(service, namespace, version).catch(() => null);
    if (isClosed) return;
    if (answer !== null) {
      state = answer;
      const text = textOf(state);
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

/** Whether new runs come to workers of this version. */
export function getsWork(state: VersionState): boolean {
  return state === 'current' || state === 'ramping';
}

/** A version that no worker has told the server of is as good as one that was never promoted: it is being told. */
function textOf(state: VersionState): string {
  if (getsWork(state)) return 'this version of the workers gets the work';
  return state === 'draining' || state === 'drained'
    ? 'another version of the workers gets the work: this one only finishes what is pinned to it'
    : 'this version of the workers gets no work until it is made current: `credit-journey deploy promote`';
}
