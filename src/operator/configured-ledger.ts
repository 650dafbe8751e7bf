/** Opens the ledger that the environment names, as a client may. */
import { type ClientUse, loadClientLedgerAccess } from '../config/config.ts';
import type { LedgerAccess } from '../config/config-shape.ts';
import type { Ledger } from '../ledger/port.ts';

/**
 * Opens the ledger that the environment names, as a client may: neither a ledger nor a key ring is ever made here.
 *
 * @throws ConfigError, KeyRingError, and what `openLedger` throws
 */
export async function openConfiguredLedger(env: NodeJS.ProcessEnv, use: ClientUse = {}): Promise<Ledger> {
  return openLedgerAccess(loadClientLedgerAccess(env, use));
}

/** @throws KeyRingError, and what `openLedger` throws */
export async function openLedgerAccess(access: LedgerAccess): Promise<Ledger> {
  // Loaded when needed: most callers never read a report, and need neither a database nor a key.
  const [{ openLedger }, { openKeyRing }] = await Promise.all([
    import('../ledger/sql/open-ledger.ts'),
    import('../protection/keys/open-key-ring.ts'),
  ]);
  return openLedger({
    url: access.ledger.url,
    environment: access.environment,
    keyRing: await openKeyRing({ ...access, keyRingMayBeMade: false }),
    create: false,
    ...(access.ledger.expectedId === undefined ? {} : { expectedId: access.ledger.expectedId }),
  });
}
