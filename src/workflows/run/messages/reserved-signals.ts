/**
 * Renames each signal whose name the SDK reserves, so that a run refuses it as any other signal that it does not know.
 *
 * The SDK (1.24) throws for such a name where a default signal handler is set (`handleUnknownSignals`). The signal is in the
 * history, so every later workflow task of the run fails as well. This module changes the job before the SDK sees it, by
 * nothing but its name: each replay does the same. The SDK rejects an update or a query of such a name by itself.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';

/** `TEMPORAL_RESERVED_PREFIX` of the SDK, which exports it to none but its own packages. */
const RESERVED_PREFIX = '__temporal_';

/** A name that no run has a handler for. */
const UNKNOWN_NAME = 'unknown';

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: (input, next) => {
        for (const { signalWorkflow } of input.activation.jobs ?? []) {
          if (signalWorkflow?.signalName?.startsWith(RESERVED_PREFIX)) signalWorkflow.signalName = UNKNOWN_NAME;
        }
        next(input);
      },
    },
  ],
});
