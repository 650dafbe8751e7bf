/**
 * Tells a run that an operator has reset it (`temporal workflow reset`). The run has forgotten what came after that point,
 * and the ledger has not. Core gives a run a new random seed after each reset, at the same place in every replay.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { workflowInfo } from '@temporalio/workflow';

/** By run id: the workflow bundle preloads this module for all runs of a thread. */
const listeners = new Map<string, () => void>();

/** @param listener called in the first task after each reset, and again in each replay of it */
export function onReset(listener: () => void): void {
  listeners.set(workflowInfo().runId, listener);
}

export const interceptors = (): WorkflowInterceptors => {
  let runId: string | undefined;
  let isReset = false;
  return {
    internals: [
      {
        activate: (input, next) => {
          isReset ||= input.activation.jobs?.some(({ updateRandomSeed }) => updateRandomSeed) === true;
          next(input);
          runId ??= workflowInfo().runId;
          // A run that is reset to its first task listens from now on.
          if (!isReset || !listeners.has(runId)) return;
          isReset = false;
          listeners.get(runId)?.();
        },
        dispose: (input, next) => {
          if (runId !== undefined) listeners.delete(runId);
          next(input);
        },
      },
    ],
  };
};
