/** Every history of the storm replays: also those of runs that were reset, cancelled or terminated. */
import { Worker } from '@temporalio/worker';
import type { RunEvidence } from '../evidence.ts';
import type { Invariant } from './invariant.ts';

const MOST_SAID = 400;

export const historiesReplay: Invariant = {
  name: 'every history replays',
  async judge({ runs, workflowBundle, dataConverter }) {
    if (!workflowBundle) return { count: 0, failures: [], remark: 'no workflow bundle was given' };
    const failures: string[] = [];
    let count = 0;
    const options = { workflowBundle, ...(dataConverter ? { dataConverter } : {}) };
    for (const batch of batchesOf(runs)) {
      const histories = batch.map(({ workflowId, history }) => ({ workflowId, history }));
      for await (const { workflowId, runId, error } of Worker.runReplayHistories(options, histories)) {
        count++;
        // The SDK's message names events, activities and timers, and none of their content.
        if (error) failures.push(`${workflowId} run ${runId}: ${error.name}: ${error.message.slice(0, MOST_SAID)}`);
      }
    }
    if (count < runs.length) failures.push(`${runs.length - count} histories were not replayed`);
    return { count, failures };
  },
};

/** A run after a reset has the run id with which its history began. One worker replays each id only once. */
function batchesOf(runs: readonly RunEvidence[]): RunEvidence[][] {
  const batches: RunEvidence[][] = [];
  for (const runsOfOne of Map.groupBy(runs, firstRunId).values()) {
    runsOfOne.forEach((run, nth) => {
      batches[nth] = [...(batches[nth] ?? []), run];
    });
  }
  return batches;
}

function firstRunId({ runId, history }: RunEvidence): string {
  return history.events?.[0]?.workflowExecutionStartedEventAttributes?.originalExecutionRunId ?? runId;
}
