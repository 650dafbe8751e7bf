/** The pauses in force, for commands that only mention them. */
import { loadClientLedgerAccess } from '../config/config.ts';
import type { Pause } from '../ledger/pauses.ts';

/**
 * Reads them from the ledger that the environment names. It takes no key, and reads nothing about any inquiry. Empty
 * where no ledger is configured or readable: no command fails for that.
 */
export async function pausesInForce(env: NodeJS.ProcessEnv): Promise<Pause[]> {
  try {
    const { ledger } = loadClientLedgerAccess(env, { besideLedger: true });
    const { inspect, readPausesInForce } = await import('../ledger/inspect-ledger.ts');
    return await inspect(ledger.url, readPausesInForce);
  } catch {
    return [];
  }
}
