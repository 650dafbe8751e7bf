/**
 * Checks a worker's ledger before the worker polls. Asks the watch for the newest attempt it has seen, and stops all
 * claims where the ledger lacks it. Starts the watch where none runs.
 */
import { Client, type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Logger } from 'pino';
import { seenByWatch } from '../client/seen-by-watch.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type LedgerWatchInput, ledgerWatchId, type SeenAttempt, WATCH_LEDGER } from '../messages/ledger-watch.ts';

interface WatchedLedger {
  connection: ConnectionLike;
  namespace: string;
  taskQueue: string;
  dataConverter: DataConverter;
  ledger: Pick<Ledger, 'identity' | 'watch'>;
  everyMs: number;
  logger: Pick<Logger, 'warn' | 'error'> | undefined;
}

/** @throws the server's error where it does not answer: the worker claims nothing before this check */
export async function watchOwnLedger(watched: WatchedLedger): Promise<void> {
  const { connection, namespace, taskQueue, dataConverter, ledger, everyMs, logger } = watched;
  const client = new Client({ connection, namespace, dataConverter });
  const { ledgerId } = ledger.identity;
  const workflowId = ledgerWatchId(ledgerId, taskQueue);
  const { lost } = await ledger.watch(ledgerId, await seenBefore(client, { ledgerId, taskQueue }, logger));
  if (lost)
    logger?.error({}, 'the ledger is an older copy: nothing is sent until `credit-journey ledger accept-restore`');
  const input: LedgerWatchInput = { ledgerId, everyMs };
  await client.workflow.start(WATCH_LEDGER, {
    ...{ workflowId, taskQueue, args: [input], workflowIdConflictPolicy: 'USE_EXISTING' },
    staticSummary: 'watches whether the ledger is an older copy',
  });
}

async function seenBefore(
  client: Client,
  watched: { ledgerId: string; taskQueue: string },
  logger: WatchedLedger['logger'],
): Promise<SeenAttempt | undefined> {
  try {
    return await seenByWatch(client, watched);
  } catch (error) {
    if (isGrpcServiceError(error)) throw error;
    // Encrypted under a key that is gone. The watch itself finds an older copy within a minute.
    logger?.warn({}, 'what was seen of the ledger cannot be read: the watch over it goes on');
    return undefined;
  }
}
