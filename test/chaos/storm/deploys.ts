/** Deploys of new worker versions as in docs/versioning.md. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { describeDeployment } from '../../../src/temporal/worker-deployment.ts';
import { promote, versionState } from '../../support/promote.ts';
import { pinnedBuild } from '../evidence-runs.ts';
import type { World } from '../world.ts';
import type { Strike } from './strike.ts';

/** The deployer tries again while a server is away. */
const PROMOTE_FOR_MS = 90_000;
const LOOK_AGAIN_MS = 500;

/** Figures of what deploys came to. */
const DRAINED = 'old versions stopped once drained';
const NOT_DRAINED = 'old versions stopped before';
const MOVED = 'pinned runs moved to the new version';

/** New workers beside the old ones, promote, let the old ones drain for a while, move what is pinned, stop them. */
export const deployVersion: Strike = async ({ forMs = 0 }, { world }) => {
  const { fleet } = world;
  if (fleet.deploymentName === undefined) return false;
  const old = fleet.buildIds;
  const buildId = fleet.begin();
  // Both builds stay, and the next deploy, or the rest, ends one of them.
  if (!(await promoted(world, buildId))) return false;
  const isDrained = await drained(world, old, forMs);
  world.count(isDrained ? DRAINED : NOT_DRAINED, old.length);
  if (!isDrained) await movePinned(world, old).catch(() => {});
  await fleet.endOthers(buildId);
  return true;
};

/** Promotes a build. Resolves with whether it is current, even if the answer was lost. */
export async function promoted(world: World, buildId: string): Promise<boolean> {
  const { client, fleet, temporal } = world;
  const version = { deploymentName: fleet.deploymentName ?? '', buildId };
  const endsAt = performance.now() + PROMOTE_FOR_MS;
  while (performance.now() < endsAt) {
    const isDone = await promote(client.workflowService, temporal.namespace, version).then(
      () => true,
      () => false,
    );
    if (isDone) return true;
    await delay(LOOK_AGAIN_MS);
  }
  return (await currentBuild(world)) === buildId;
}

async function currentBuild({ client, fleet, temporal }: World): Promise<string | undefined> {
  const view = await describeDeployment(client.workflowService, temporal.namespace, fleet.deploymentName ?? '');
  return view?.currentBuildId;
}

async function drained({ client, fleet, temporal }: World, buildIds: readonly string[], forMs: number) {
  const { deploymentName = '' } = fleet;
  const endsAt = performance.now() + forMs;
  const stateOf = (buildId: string) =>
    versionState(client.workflowService, temporal.namespace, { deploymentName, buildId }).catch(() => 'unknown');
  for (;;) {
    const states = await Promise.all(buildIds.map(stateOf));
    if (states.every((state) => state === 'drained' || state === 'inactive')) return true;
    if (performance.now() > endsAt) return false;
    await delay(LOOK_AGAIN_MS);
  }
}

/** Moves runs that are pinned to these builds to the current build: docs/versioning.md, "A rolling deploy". */
async function movePinned(world: World, buildIds: readonly string[]): Promise<void> {
  const { client, fleet } = world;
  for (const buildId of buildIds) {
    const version = `TemporalWorkerDeploymentVersion = '${fleet.deploymentName}:${buildId}'`;
    const query = `${version} AND TemporalWorkflowVersioningBehavior = 'Pinned' AND ExecutionStatus = 'Running'`;
    for await (const run of client.workflow.list({ query })) await move(world, run);
  }
}

async function move(world: World, { workflowId, runId }: { workflowId: string; runId: string }): Promise<void> {
  await world.client.workflowService.updateWorkflowExecutionOptions({
    namespace: world.temporal.namespace,
    workflowExecution: { workflowId, runId },
    workflowExecutionOptions: { versioningOverride: { autoUpgrade: true } },
    updateMask: { paths: ['versioning_override'] },
  });
  world.moved.add(workflowId);
  world.count(MOVED, 1);
}

/** A run that was reset is pinned where the one before it was, whether or not a worker is left there. */
export async function moveIfLeftBehind(world: World, described: WorkflowExecutionDescription): Promise<void> {
  const pinnedTo = pinnedBuild(described.raw.workflowExecutionInfo?.versioningInfo);
  if (pinnedTo !== undefined && !world.fleet.buildIds.includes(pinnedTo)) await move(world, described);
}

/**
 * Ends all builds but the current one. Looks for pinned runs again afterwards: one may have begun just before its build
 * stopped.
 */
export async function finishDeploys(world: World): Promise<void> {
  const { fleet } = world;
  if (fleet.deploymentName === undefined) return;
  const current = await currentBuild(world);
  if (current === undefined || !fleet.buildIds.includes(current)) throw new Error('no build of ours is current');
  const newest = Number(fleet.buildIds.at(-1));
  const gone = Array.from({ length: newest }, (_, nth) => String(nth + 1)).filter((buildId) => buildId !== current);
  await movePinned(world, gone);
  await fleet.endOthers(current);
  await movePinned(world, gone);
}
