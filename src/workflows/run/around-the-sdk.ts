/** Wrappers of SDK functions that every workflow uses. */
import {
  CancellationScope,
  inWorkflowContext,
  setCurrentDetails,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';

/**
 * Begins work that nothing waits for. A bug in it fails the workflow task, as elsewhere.
 *
 * A task that takes too long is broken off. The SDK lets its remaining promises run while it evicts the run, and every
 * call of the SDK throws there. If uncaught, that error belongs to no run and ends the whole worker.
 */
export function runInBackground(work: () => Promise<unknown>): void {
  work().catch((error: unknown) => {
    if (inWorkflowContext()) throw error;
  });
}

/**
 * Makes a function that begins work in the background, unless it is under way or there is none. No cancellation stops it.
 *
 * @param work does one piece; it is called until `hasWork` is false
 */
export function createBackgroundWork(hasWork: () => boolean, work: () => Promise<void>): () => void {
  let isUnderWay = false;
  const workThrough = async () => {
    // Lets the other messages of the workflow task come first.
    await undefined;
    while (hasWork()) await work();
    isUnderWay = false;
  };
  return () => {
    if (isUnderWay || !hasWork()) return;
    isUnderWay = true;
    runInBackground(async () => CancellationScope.nonCancellable(workThrough));
  };
}

/**
 * Keeps a short workflow on the worker version that it began on, so that it needs no patches. The server refuses
 * versioning options of an unversioned worker.
 */
export function pinIfVersioned(workflow: Parameters<typeof setWorkflowOptions>[1]): void {
  setWorkflowOptions(
    () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
    workflow,
  );
}

/**
 * Sets current details that are built when the UI asks for them. The SDK keeps the object and serializes it on request,
 * so its `toJSON` builds the text from the state at that time. No history has it.
 */
export function showDetails(build: () => string): void {
  const details: { toJSON(): string } = { toJSON: build };
  setCurrentDetails(details as unknown as string);
}
