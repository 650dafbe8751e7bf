/** A workflow that waits, and shows a test the stacks that the SDK records of its promises. */
import { condition, defineQuery, setHandler } from '@temporalio/workflow';

interface NotedStack {
  formatted?: string;
  isMarked?: true;
}

/** Marks the stack of each recorded promise, and returns their number. */
const markStacks = defineQuery<number>('markStacks');
/** Counts the recorded stacks that are marked: those that this run shares with the marked run. */
const markedStacks = defineQuery<number>('markedStacks');

export async function waitForEver(): Promise<void> {
  setHandler(markStacks, () => {
    for (const stack of noted()) stack.isMarked = true;
    return noted().length;
  });
  setHandler(markedStacks, () => noted().filter(({ isMarked }) => isMarked).length);
  await waits();
}

async function waits(): Promise<void> {
  await condition(() => false);
}

interface Sandbox {
  __TEMPORAL_ACTIVATOR__: { promiseStackStore: { promiseToStack: Map<unknown, NotedStack> } };
}

function noted(): NotedStack[] {
  const { promiseToStack } = (globalThis as unknown as Sandbox).__TEMPORAL_ACTIVATOR__.promiseStackStore;
  return [...promiseToStack.values()].filter(({ formatted }) => formatted?.includes('waiting-workflow'));
}
