/**
 * The newest attempt that the ledger's watch has seen. Temporal keeps it, so an older copy of the ledger cannot lose
 * it.
 */
import type { Client } from '@temporalio/client';
import { ledgerWatchId, type SeenAttempt } from '../messages/ledger-watch.ts';
import { describeRun } from './connection/describe-run.ts';

/**
 * The newest attempt that the watch has seen; `undefined` where there is no watch yet, or nothing was claimed.
 *
 * @throws what the server does where it does not answer, and what decoding does where a key is gone
 */
export async function seenByWatch(
  client: Client,
  { ledgerId, taskQueue }: { ledgerId: string; taskQueue: string },
): Promise<SeenAttempt | undefined> {
  const watch = await describeRun(client, ledgerWatchId(ledgerId, taskQueue));
  const { position, claimedAt } = (watch?.memo?.seen ?? {}) as Partial<SeenAttempt>;
  return typeof position === 'number' && typeof claimedAt === 'string' ? { position, claimedAt } : undefined;
}
