import { inWorkflowContext } from '@temporalio/workflow';

/**
 * Begins work that nothing waits for. A bug in it fails the workflow task, as elsewhere.
 *
 * A task that takes too long is broken off, and the SDK lets what is left of its promises run while it evicts the run.
 * There every call of the SDK throws. Left alone, that error belongs to no run and ends the whole worker.
 */
export function inBackground(work: () => Promise<unknown>): void {
  work().catch((error: unknown) => {
    if (inWorkflowContext()) throw error;
  });
}
