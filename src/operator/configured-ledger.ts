import { type LedgerAccess, loadLedgerAccess } from '../config/ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OpenLedgerOptions } from '../ledger/open-ledger.ts';

/**
 * Opens the ledger that the environment names. Only programs that may hold the ledger's secrets call this: in production a
 * client refuses `LEDGER_URL` (config/client.ts). The ledger watches the key ring's file, so that an operator can rotate
 * keys without a restart; closing the ledger ends that watch.
 *
 * @param making for `setup` alone: nothing else makes or migrates a ledger here
 * @throws ConfigError, KeyRingError, and what `openLedger` throws
 */
export async function openConfiguredLedger(
  { ledger, environment, keyRingFile }: LedgerAccess = loadLedgerAccess(process.env),
  making: Pick<OpenLedgerOptions, 'create' | 'migrate' | 'onProgress'> = {},
): Promise<Ledger> {
  // Loaded when needed: most callers never read a report, and need neither a database nor a key.
  const { openLedger } = await import('../ledger/open-ledger.ts');
  const { WatchedKeyRing } = await import('../protection/keys/key-ring.ts');
  const keyRing = await WatchedKeyRing.open(keyRingFile);
  try {
    const opened = await openLedger({ ...ledger, environment, keyRing, ...making });
    const close = opened.close.bind(opened);
    opened.close = async () => {
      keyRing.close();
      await close();
    };
    return opened;
  } catch (error) {
    keyRing.close();
    throw error;
  }
}
