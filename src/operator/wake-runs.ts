/** Wakes the runs that wait although their pause is over. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { runInParallel } from '../base/in-parallel.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Thousands of runs may wait: a few at once wake them fast enough, and leave the server room for its other work. */
const AT_ONCE = 16;

/**
 * Wakes each run that waits although no pause covers it any more. May be stopped and called again: runs that the signal
 * did not reach continue by themselves within the hour, or get it the next time.
 */
export async function wakeRuns(client: Client, ledger: Pick<Ledger, 'pauses' | 'identity'>) {
  const { ledgerId } = ledger.identity;
  const runs = Map.groupBy(await ledger.pauses.waiting(), ({ workflowId }) => workflowId);
  const counts = { woken: 0, closed: 0, unreached: 0 };
  await runInParallel([...runs], AT_ONCE, async ([workflowId, inquiries]) => {
    const handle = client.workflow.getHandle(workflowId);
    const outcome = await handle.signal('inquiriesResumed').then(
      () => 'woken' as const,
      // Closed: the run has ended, or was never on this server.
      (error: unknown) => (error instanceof WorkflowNotFoundError ? 'closed' : 'unreached'),
    );
    counts[outcome]++;
    if (outcome !== 'unreached') await ledger.pauses.forget(ledgerId, inquiries);
  });
  return counts;
}
