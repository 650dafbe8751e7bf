/** Floods of messages, and the hand-overs to new runs that they lead to. */
import type { WorkflowHandle } from '@temporalio/client';

/** As low as configuration takes it: a hundred messages and a run hands over. */
export const HANDS_OVER_SOON = { HAND_OVER_AFTER_EVENTS: '100' };

const AT_ONCE = 100;

/** Sends `count` signals that the run refuses: what is refused is counted in `status`. */
export async function floodWithNonsense(handle: WorkflowHandle, count: number): Promise<void> {
  await inBatches(count, () => handle.signal('requestWithdrawal', {}));
}

export async function inBatches(count: number, send: (index: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => first + index);
    await Promise.all(indexes.map(send));
  }
}

/** Brings the open run to hand over, once; returns the run ids before and after. */
export async function handsOver(handle: WorkflowHandle): Promise<{ before: string; after: string }> {
  const { runId: before } = await handle.describe();
  await floodWithNonsense(handle, 110);
  return { before, after: await untilNextRun(handle, before) };
}

/** Resolves with the run id once another run than `before` is the latest. */
export async function untilNextRun(handle: WorkflowHandle, before: string): Promise<string> {
  for (;;) {
    const { runId, status } = await handle.describe();
    if (runId !== before) return runId;
    if (status.name !== 'RUNNING') throw new Error(`the run ended as ${status.name} without handing over`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
