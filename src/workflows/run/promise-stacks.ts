/**
 * Bounds the stack that the SDK notes with each promise of workflow code, for the UI's *Call Stack*. Runs that wait in
 * the same place share one.
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
/** The first is the SDK's own. */
const FRAMES = Math.min(Error.stackTraceLimit, 3);

/** V8 reads the limit from `Error` or from what it inherits, and only `Error` itself is frozen. */
const mayChange = Reflect.deleteProperty(Error, LIMIT);

function limitStacksTo(frames: number): void {
  if (!mayChange) return;
  const property = { value: frames, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(Function.prototype, LIMIT, property);
}

limitStacksTo(FRAMES);

interface NotedStack {
  formatted?: string;
}

/** The SDK's own record (1.24): without it nothing is shared, and a test fails. */
interface Sandbox {
  __TEMPORAL_ACTIVATOR__?: { promiseStackStore?: { promiseToStack?: Map<unknown, NotedStack> } };
}

/** Stacks of all runs of the thread, by their text. */
const shared = new Map<string, NotedStack>();
/** Far more than there are places where a run may wait. */
const MOST_SHARED = 2_000;

/** Shares the stacks of runs that wait in the same places. Each would have its own text and frames otherwise. */
function shareStacks(): void {
  const noted = (globalThis as Sandbox).__TEMPORAL_ACTIVATOR__?.promiseStackStore?.promiseToStack;
  for (const [promise, stack] of noted ?? []) {
    if (stack.formatted === undefined) continue;
    const known = shared.get(stack.formatted);
    if (known === undefined && shared.size < MOST_SHARED) shared.set(stack.formatted, stack);
    if (known !== undefined && known !== stack) noted?.set(promise, known);
  }
}

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: (input, next) => {
        limitStacksTo((input.activation.jobs?.length ?? 0) > MOST_WITH_STACKS ? 0 : FRAMES);
        next(input);
      },
      concludeActivation: (input, next) => {
        limitStacksTo(FRAMES);
        const concluded = next(input);
        shareStacks();
        return concluded;
      },
    },
  ],
});
