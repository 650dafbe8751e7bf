/** Scenarios that need a worker, a gateway and a ledger of their own. */
import { type Harness, type JourneyHandle, startHarness } from './journey-harness.ts';
import type { Scenario } from './scenarios.ts';

/** Makes a scenario that `play` runs beside a worker with these variables. `play` returns the run to record. */
export function besideOwnWorker(
  name: string,
  env: Record<string, string>,
  play: (own: Harness) => Promise<{ workflowId: string; runId?: string }>,
): Scenario {
  return {
    name,
    async play({ client }) {
      const own = await startHarness({ env });
      try {
        const { workflowId, runId } = await play(own);
        return client.workflow.getHandle(workflowId, runId) as JourneyHandle;
      } finally {
        await own.close();
      }
    },
  };
}
