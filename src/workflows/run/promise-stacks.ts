/**
 * Bounds the stack that the SDK notes with each promise of workflow code, for the UI's *Call Stack*.
 *
 * Each waiting promise has a stack there; its line and its caller's tell where the run waits. More frames cost the
 * workflow thread half as much again. A task of very many messages notes none. The SDK makes some eight promises for a
 * signal: 10,000 signals that came while no worker ran would take longer than the 5 s that a task may take.
 *
 * Each workflow bundle has this module as interceptors, and preloads it: the SDK freezes `Error` before the first run.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';

/** This many messages take a fraction of a second, stacks included. */
const MOST_WITH_STACKS = 100;

const LIMIT = 'stackTraceLimit';
/** The first frame is the SDK's. */
const FRAMES = Math.min(Error.stackTraceLimit, 3);

/** V8 reads the limit from `Error` or its prototype, and only `Error` is frozen. */
const mayChange = Reflect.deleteProperty(Error, LIMIT);

function limitStacksTo(frames: number): void {
  if (!mayChange) return;
  const property = { value: frames, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(Function.prototype, LIMIT, property);
}

limitStacksTo(FRAMES);

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: (input, next) => {
        limitStacksTo((input.activation.jobs?.length ?? 0) > MOST_WITH_STACKS ? 0 : FRAMES);
        next(input);
      },
      concludeActivation: (input, next) => {
        limitStacksTo(FRAMES);
        return next(input);
      },
    },
  ],
});
