/** A workflow that ends as runs do: once it has taken the updates of its last task. */
import { condition, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { waitUntilUpdatesTaken } from '../../src/workflows/run/as-replayed.ts';

/** @param rounds how many rounds of the task pass before the run waits for the task's updates */
export async function endAtRest(rounds: number): Promise<number> {
  let isOver = false;
  let updates = 0;
  setHandler(defineUpdate('note'), () => {
    updates++;
  });
  setHandler(defineSignal('end'), () => {
    isOver = true;
  });
  await condition(() => isOver);
  for (let round = 0; round < rounds; round++) {
    let isNext = false;
    await condition(() => {
      const wasNext = isNext;
      isNext = true;
      return wasNext;
    });
  }
  await waitUntilUpdatesTaken();
  return updates;
}
