/**
 * Tells a run that an operator has reset it (`temporal workflow reset`). The run has forgotten what came after that point,
 * and the ledger has not.
 *
 * Core gives a run a new random seed after each reset, at the same place in every replay. The SDK (1.24) has that seed in an
 * object of its own, and shows it nowhere else: `test/hazards/work-rows-slow.test.ts` holds that on a real server.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { workflowInfo } from '@temporalio/workflow';

/** By run id: the workflow bundle preloads this module for all runs of a thread. */
const listeners = new Map<string, () => void>();

/** @param listener called in the first task after each reset, and again in each replay of it */
export function onReset(listener: () => void): void {
  listeners.set(workflowInfo().runId, listener);
}

/** Another array after each reset. */
function seedNow(): unknown {
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as { __TEMPORAL_ACTIVATOR__?: { randomnessSeed?: unknown } };
  return activator?.randomnessSeed;
}

export const interceptors = (): WorkflowInterceptors => {
  let seed = seedNow();
  let runId: string | undefined;
  return {
    internals: [
      {
        activate: (input, next) => {
          next(input);
          const seedByNow = seedNow();
          if (seedByNow === seed) return;
          runId = workflowInfo().runId;
          const listener = listeners.get(runId);
          // A run that is reset to its first task listens from now on.
          if (!listener) return;
          seed = seedByNow;
          listener();
        },
        dispose: (input, next) => {
          listeners.delete(runId ?? workflowInfo().runId);
          next(input);
        },
      },
    ],
  };
};
