/** A workflow that waits, and lets a test look at what the SDK notes of its promises. */
import { condition, defineQuery, setHandler } from '@temporalio/workflow';

interface NotedStack {
  formatted?: string;
  isMarked?: true;
}

/** Marks the stack of each promise that is noted now; returns how many there are. */
const markStacks = defineQuery<number>('markStacks');
/** How many of the noted stacks are marked: those that this run and the marked one have in common. */
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
