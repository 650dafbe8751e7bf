/** Checks a worker's parts, keys and ledger before it polls. */

import { Client, type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Logger } from 'pino';
import { readWatchedAttempt } from '../client/connection/temporal-runs.ts';
import type { Config } from '../config/config.ts';
import { judgeDurability, readDurability } from '../ledger/database/durability.ts';
import { inspect } from '../ledger/inspect-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type LedgerWatchInput, toLedgerWatchId, WATCH_LEDGER } from '../model/ledger-watch.ts';
import type { Environment } from '../model/products.ts';
import { KeyRingError } from '../protection/errors.ts';
import { type KeyAge, MAX_ENCRYPTING_DAYS } from '../protection/keys/key-ring.ts';

/**
 * Refuses keys that have been encrypting for too long in production, and warns of them elsewhere. If a fleet runs with
 * them already, a worker may still join it. Otherwise, after a key's last day, each machine that is replaced would take
 * its worker with it, and none would come back. The alert `KeysNearLastDay` warns operators long before.
 *
 * @param isFleetRunning asked only where it decides; what it throws counts as no
 * @throws KeyRingError
 */
export async function requireFreshKeys(
  ages: readonly KeyAge[],
  environment: Environment,
  { warn, isFleetRunning }: { warn: (key: KeyAge) => void; isFleetRunning: () => Promise<boolean> },
): Promise<void> {
  const overdue = ages.filter(({ verdict }) => verdict === 'overdue');
  if (environment === 'production' && overdue.length > 0 && !(await isFleetRunning().catch(() => false))) {
    const ids = overdue.map(({ id }) => id).join(', ');
    throw new KeyRingError(
      `production does not encrypt under a key for more than ${MAX_ENCRYPTING_DAYS} days: ${ids}. ` +
        'Run `credit-journey keys rotate`; nothing that they encrypted is lost',
    );
  }
  for (const key of ages) if (key.verdict === 'overdue' || key.verdict === 'due') warn(key);
}

// Checks that another server can take over the ledger without losing confirmed commits. Production does not start on a
// ledger that can lose them, and is not ready once it has become one.

/** Thrown when a confirmed claim can be lost, and the inquiry then sent twice. */
class LedgerNotDurableError extends Error {
  override readonly name = 'LedgerNotDurableError';
}

type JudgedConfig = Pick<Config, 'environment'> & { ledger: Pick<Config['ledger'], 'url' | 'durability'> };

function isJudged({ environment, ledger }: JudgedConfig): boolean {
  return environment !== 'sandbox' && !ledger.url.startsWith('file:');
}

/**
 * Checks the ledger before the worker claims anything. Logs at each start what an operator has accepted, with the given
 * name.
 *
 * @throws LedgerNotDurableError in production; LedgerUnavailableError
 */
export async function requireDurableLedger(
  config: JudgedConfig,
  logger: { warn(fields: object, message: string): void },
): Promise<void> {
  const { environment, ledger } = config;
  if (!isJudged(config)) return;
  const { kind, detail, toDo } = judgeDurability(await inspect(ledger.url, readDurability), ledger.durability);
  if (kind === 'loses' && environment === 'production') throw new LedgerNotDurableError(`${detail}: ${toDo}`);
  const { kind: durability } = ledger.durability;
  if (kind !== 'sound' || durability !== 'replication') {
    logger.warn({ durability, finding: detail }, 'durability of the ledger');
  }
}

/**
 * Returns true if confirmed commits can be lost by now. The ledger of the sandbox, and one in a file, is not judged.
 *
 * @throws LedgerUnavailableError
 */
export async function losesCommits(ledger: Pick<Ledger, 'durability'>, config: JudgedConfig): Promise<boolean> {
  return isJudged(config) && judgeDurability(await ledger.durability(), config.ledger.durability).kind === 'loses';
}

// Checks a worker's ledger before the worker polls. Asks the watch for the newest attempt it has seen, and stops all
// claims if the ledger lacks it. Starts the watch if none runs.

interface WatchedLedger {
  connection: ConnectionLike;
  namespace: string;
  taskQueue: string;
  dataConverter: DataConverter;
  ledger: Pick<Ledger, 'identity' | 'watch'>;
  everyMs: number;
  logger: Pick<Logger, 'warn' | 'error'>;
}

/** @throws the server's error where it does not answer: the worker claims nothing before this check */
export async function watchOwnLedger(watched: WatchedLedger): Promise<void> {
  const { connection, namespace, taskQueue, dataConverter, ledger, everyMs, logger } = watched;
  const client = new Client({ connection, namespace, dataConverter });
  const { ledgerId } = ledger.identity;
  const workflowId = toLedgerWatchId(ledgerId, taskQueue);
  const lastSeen = await readWatchedAttempt(client, { ledgerId, taskQueue }).catch((error: unknown) => {
    if (isGrpcServiceError(error)) throw error;
    // The value is encrypted under a deleted key. The watch detects an older copy of the ledger within a minute.
    logger.warn({}, 'the newest attempt that workers have seen cannot be read: the watch over the ledger continues');
    return undefined;
  });
  const { lost } = await ledger.watch(ledgerId, lastSeen);
  if (lost)
    logger.error({}, 'the ledger is an older copy: nothing is sent until `credit-journey ledger accept-restore`');
  const input: LedgerWatchInput = { ledgerId, everyMs };
  await client.workflow.start(WATCH_LEDGER, {
    workflowId,
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: 'watches whether the ledger is an older copy',
  });
}
