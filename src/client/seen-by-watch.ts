/**
 * The newest attempt that the ledger's watch has seen. Temporal keeps it, so an older copy of the ledger cannot lose
 * it.
 */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { ledgerWatchId, type SeenAttempt } from '../messages/ledger-watch.ts';

/**
 * The newest attempt that the watch has seen; `undefined` where there is no watch yet, or nothing was claimed.
 *
 * @throws what the server does where it does not answer, and what decoding does where a key is gone
 */
export async function seenByWatch(
  client: Client,
  { ledgerId, taskQueue }: { ledgerId: string; taskQueue: string },
): Promise<SeenAttempt | undefined> {
  try {
    const { memo } = await client.workflow.getHandle(ledgerWatchId(ledgerId, taskQueue)).describe();
    const { position, claimedAt } = (memo?.seen ?? {}) as Partial<SeenAttempt>;
    return typeof position === 'number' && typeof claimedAt === 'string' ? { position, claimedAt } : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
