/**
 * Keeps the SDK from noting a stack with each promise while a run takes very many messages in one workflow task.
 *
 * The SDK makes some eight promises for a signal, and notes the source-mapped stack of each for the UI's *Call Stack*:
 * 10,000 signals that came while no worker ran would take longer than the 5 s that a task may take. Smaller tasks keep
 * their stacks. Each workflow bundle has this module as interceptors, and preloads it: the SDK freezes `Error` before
 * the first run.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';

/** So many messages take a fraction of a second, stacks and all. */
const MOST_WITH_STACKS = 100;

const LIMIT = 'stackTraceLimit';
const usual = Error.stackTraceLimit;

/** V8 reads the limit from `Error` or from what it inherits, and only `Error` itself is frozen. */
const mayChange = Reflect.deleteProperty(Error, LIMIT);

function limitStacksTo(frames: number): void {
  if (!mayChange) return;
  const property = { value: frames, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(Function.prototype, LIMIT, property);
}

limitStacksTo(usual);

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: (input, next) => {
        limitStacksTo((input.activation.jobs?.length ?? 0) > MOST_WITH_STACKS ? 0 : usual);
        next(input);
      },
      concludeActivation: (input, next) => {
        limitStacksTo(usual);
        return next(input);
      },
    },
  ],
});
