/** Refuses a ledger in production whose confirmed commits can be lost when another server takes over. */
import type { Config } from '../config/config-shape.ts';
import { judgeDurability } from '../ledger/database/durability.ts';
import { LedgerNotFoundError, LedgerUnavailableError } from '../ledger/errors.ts';
import { inspectDurability } from '../ledger/sql/inspect-ledger.ts';

/** Thrown where a claim that was confirmed can be lost, and the inquiry then sent twice. */
export class LedgerNotDurableError extends Error {
  override readonly name = 'LedgerNotDurableError';
}

/**
 * Looks once, at the start: PostgreSQL's settings can be changed under a running worker, and `doctor` shows that. What a
 * person has accepted is logged at each start, with the name that was given.
 *
 * @throws LedgerNotDurableError in production
 */
export async function requireDurableLedger(
  { environment, ledger }: Pick<Config, 'environment' | 'ledger'>,
  logger: { warn(fields: object, message: string): void } | undefined,
): Promise<void> {
  if (environment === 'sandbox' || ledger.url.startsWith('file:')) return;
  const found = await inspectDurability(ledger.url).catch((error: unknown) => {
    // `LEDGER_URL` reports it.
    if (error instanceof LedgerUnavailableError || error instanceof LedgerNotFoundError) return null;
    throw error;
  });
  if (found === null) return;
  const { kind, detail, toDo } = judgeDurability(found, ledger.durability);
  if (kind === 'loses' && environment === 'production') throw new LedgerNotDurableError(`${detail}: ${toDo}`);
  const { kind: durability } = ledger.durability;
  if (kind === 'sound' && durability === 'replication') return;
  logger?.warn({ durability, finding: detail }, 'whether the ledger keeps what it has confirmed');
}
