/** The workers of a world as programs: their settings, and what differs from build to build. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ON_GATEWAY_QUEUE } from '../support/short-timeouts.ts';
import { bundleWorkflows } from '../support/workflow-bundle.ts';
import type { WorldPlan } from './plan.ts';
import type { ProfileFiles } from './profile-files.ts';
import type { ProgramOptions } from './supervised.ts';
import type { WriteRefused } from './worker-conditions.ts';
import { WorkerFleet } from './worker-fleet.ts';

export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const CONDITIONS = new URL('./worker-conditions.ts', import.meta.url).href;
/** A change under `patched()`. */
const CHANGED_WORKFLOWS = fileURLToPath(new URL('../support/changed-workflows/interceptors.ts', import.meta.url));
const FIRST_BUILD = '1';

/**
 * What takes a minute with a real gateway takes seconds: HTTP gives up after 2 s, an attempt whose worker is gone is a
 * hold after 6 s. Heartbeats outlast a pause of a loaded machine.
 */
const SHORT_TIMEOUTS = {
  GATEWAY_CONNECT_TIMEOUT_MS: '1500',
  GATEWAY_HEADERS_TIMEOUT_MS: '2000',
  GATEWAY_BODY_TIMEOUT_MS: '1000',
  SEND_BY_MS: '1500',
  SUBMIT_TIMEOUT_MS: '6000',
  HEARTBEAT_TIMEOUT_MS: '3000',
  BACKOFF_INITIAL_MS: '200',
  BACKOFF_MAX_MS: '1500',
  RETRY_AFTER_MAX_MS: '2000',
};

/** The workflow bundles of the first build, and of all later builds. */
export interface Bundles {
  firstFile: string;
  laterFile: string;
  /** The workflow code of the newest build, which replays the histories of all builds. */
  code: string;
}

/** @param code the bundled workflows; bundled again if absent */
export async function writeBundles(directory: string, plan: WorldPlan, code?: string): Promise<Bundles> {
  const [firstFile, laterFile] = [join(directory, 'bundle.js'), join(directory, 'changed-bundle.js')];
  const first = code ?? (await bundleWorkflows());
  await writeFile(firstFile, first);
  if (!plan.isVersioned) return { firstFile, laterFile: firstFile, code: first };
  const later = await bundleWorkflows([CHANGED_WORKFLOWS]);
  await writeFile(laterFile, later);
  return { firstFile, laterFile, code: later };
}

function cacheOf(runs: number | null | undefined): NodeJS.ProcessEnv {
  return typeof runs === 'number' ? { WORKER_MAX_CACHED_WORKFLOWS: String(runs) } : {};
}

export interface WorkersPlace {
  taskQueue: string;
  logDir: string;
  bundles: Bundles;
  profiles: ProfileFiles;
  /** The program of a worker, from 0; asked at each start of it. */
  cliOf(worker: number): string;
  /** The variables that all workers share: the places of Temporal, gateway and ledger. */
  env: NodeJS.ProcessEnv;
  /** Receives the log file of each program. */
  onLog(file: string): void;
  onWriteRefused(): void;
}

/** Not started yet. */
export function fleetOf(
  plan: WorldPlan,
  { taskQueue, logDir, bundles, profiles, cliOf, env, ...on }: WorkersPlace,
): WorkerFleet {
  const { isVersioned, workersAheadMs, handOverAfterEvents, isOnGatewayQueue, cachedRuns = [] } = plan;
  return new WorkerFleet({
    size: workersAheadMs.length,
    ...(isVersioned ? { deploymentName: taskQueue } : {}),
    programOf(worker, buildId): ProgramOptions {
      const isFirst = buildId === FIRST_BUILD;
      const name = `worker ${worker + 1}${isFirst ? '' : ` build ${buildId}`}`;
      const logFile = join(logDir, `${name.replaceAll(' ', '-')}.log`);
      on.onLog(logFile);
      return {
        ...{ name, logFile },
        get args() {
          return ['--import', CONDITIONS, cliOf(worker), 'worker', '--json'];
        },
        env: {
          ...SHORT_TIMEOUTS,
          ...env,
          ...(isVersioned ? { DEPLOYMENT_NAME: taskQueue, BUILD_ID: buildId } : {}),
          ...(isOnGatewayQueue ? ON_GATEWAY_QUEUE : {}),
          ...cacheOf(cachedRuns[worker]),
          HAND_OVER_AFTER_EVENTS: String(handOverAfterEvents),
          TASK_QUEUE: taskQueue,
          GATEWAY_PROFILES_FILE: profiles.fileOf(worker),
          WORKFLOW_BUNDLE_FILE: isFirst ? bundles.firstFile : bundles.laterFile,
          CHAOS_CLOCK_AHEAD_MS: String(workersAheadMs[worker] ?? 0),
        },
        onMessage: (message) => {
          if ((message as Partial<WriteRefused>).writeRefused) on.onWriteRefused();
        },
      };
    },
  });
}
