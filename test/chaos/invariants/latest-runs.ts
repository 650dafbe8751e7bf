/** A run's executions: the latest is the one that counts. A reset, a hand-over or a new start replaced those before it. */
import { parseWorkflowId } from '../../../src/model/run-key.ts';
import type { Evidence, RunEvidence } from '../evidence.ts';

/** By run key. */
export function latestRuns({ runs }: Pick<Evidence, 'runs'>): Map<string, RunEvidence> {
  const latest = new Map<string, RunEvidence>();
  for (const run of runs) {
    const runKey = parseWorkflowId(run.workflowId);
    const known = latest.get(runKey ?? '');
    if (runKey !== null && (!known || isLater(run, known))) latest.set(runKey, run);
  }
  return latest;
}

/** One workflow id has one open run at the most, so that they close in their order; a reset keeps the start's time. */
function isLater(run: RunEvidence, known: RunEvidence): boolean {
  return (run.closedAtMs ?? Number.POSITIVE_INFINITY) > (known.closedAtMs ?? Number.POSITIVE_INFINITY);
}
