/**
 * A ledger whose confirmed commits can be lost when another server takes over: production does not start on it, and is
 * not ready once it has become one.
 */
import type { Config } from '../config/config.ts';
import { judgeDurability } from '../ledger/database/durability.ts';
import { LedgerNotFoundError, LedgerUnavailableError } from '../ledger/errors.ts';
import { inspectDurability } from '../ledger/inspect-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Thrown where a claim that was confirmed can be lost, and the inquiry then sent twice. */
export class LedgerNotDurableError extends Error {
  override readonly name = 'LedgerNotDurableError';
}

type JudgedConfig = Pick<Config, 'environment' | 'ledger'>;

function isJudged({ environment, ledger }: JudgedConfig): boolean {
  return environment !== 'sandbox' && !ledger.url.startsWith('file:');
}

/**
 * Looks before the worker claims anything. What a person has accepted is logged at each
 * start, with the name that was given.
 *
 * @throws LedgerNotDurableError in production
 */
export async function requireDurableLedger(
  config: JudgedConfig,
  logger: { warn(fields: object, message: string): void } | undefined,
): Promise<void> {
  const { environment, ledger } = config;
  if (!isJudged(config)) return;
  const found = await inspectDurability(ledger.url).catch((error: unknown) => {
    // `LEDGER_URL` reports it.
    if (error instanceof LedgerUnavailableError || error instanceof LedgerNotFoundError) return null;
    throw error;
  });
  if (found === null) return;
  const { kind, detail, toDo } = judgeDurability(found, ledger.durability);
  if (kind === 'loses' && environment === 'production') throw new LedgerNotDurableError(`${detail}: ${toDo}`);
  const { kind: durability } = ledger.durability;
  if (kind !== 'sound' || durability !== 'replication') {
    logger?.warn({ durability, finding: detail }, 'whether the ledger keeps what it has confirmed');
  }
}

/**
 * Whether confirmed commits can be lost by now. The ledger of the sandbox, and one in a file, is not judged.
 *
 * @throws LedgerUnavailableError
 */
export async function losesCommits(ledger: Pick<Ledger, 'durability'>, config: JudgedConfig): Promise<boolean> {
  return isJudged(config) && judgeDurability(await ledger.durability(), config.ledger.durability).kind === 'loses';
}
