/** "A deploy loses no run": each run continues on an existing worker. A pinned run keeps its version until it is moved. */
import type { RunEvidence } from '../evidence.ts';
import type { Invariant } from './invariant.ts';

/** `temporal.api.enums.v1.VersioningBehavior` */
const PINNED = 1;

export const runsOnVersions: Invariant = {
  name: 'every run goes on across deploys: on a version that has workers, and a pinned one where it began',
  judge({ runs, versions }) {
    if (!versions) return { count: 0, failures: [], remark: 'unversioned workers' };
    const [live, moved] = [new Set(versions.live), new Set(versions.moved)];
    const failures = runs.flatMap((run) => {
      const name = `${run.workflowId} run ${run.runId}`;
      const builds = buildsOf(run);
      const isLeftBehind = run.status === 'RUNNING' && run.pinnedTo !== undefined && !live.has(run.pinnedTo);
      // A run after a reset has the tasks of the run before it.
      const hasStrayed =
        tasksOf(run).every(({ versioningBehavior }) => versioningBehavior === PINNED) &&
        builds.length > 1 &&
        !moved.has(run.workflowId) &&
        !wasReset(run);
      return [
        ...(isLeftBehind ? [`${name}: is pinned to build ${run.pinnedTo}, which has no workers`] : []),
        ...(hasStrayed ? [`${name}: pinned, and went on from build ${builds.join(' to ')}`] : []),
        ...(builds.includes('') ? [`${name}: a workflow task of no version`] : []),
      ];
    });
    const crossed = runs.filter((run) => buildsOf(run).length > 1).length;
    const pinned = runs.filter((run) => tasksOf(run).some(({ versioningBehavior }) => versioningBehavior === PINNED));
    const remark = `${crossed} went on from one build to another; ${pinned.length} pinned, ${moved.size} moved`;
    return { count: runs.length, failures, remark };
  },
};

function tasksOf({ history }: RunEvidence) {
  return (history.events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task }) => task ?? []);
}

/** In the order in which they first completed a workflow task of it; empty where a worker named none. */
function buildsOf(run: RunEvidence): string[] {
  return [...new Set(tasksOf(run).map(({ deploymentVersion }) => deploymentVersion?.buildId ?? ''))];
}

function wasReset({ runId, history }: RunEvidence): boolean {
  const first = history.events?.[0]?.workflowExecutionStartedEventAttributes?.originalExecutionRunId;
  return first !== undefined && first !== runId;
}
