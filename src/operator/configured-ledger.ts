import { type LedgerAccess, loadLedgerAccess } from '../config/ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { OpenLedgerOptions } from '../ledger/open-ledger.ts';

/**
 * Opens the ledger that the environment names, for a program that may: a client in production that runs elsewhere does not
 * connect where a variable names a ledger (config/client.ts). The ledger follows its key ring's file, so that keys are
 * rotated under a program that runs, and closes it at its end.
 *
 * @param making for `setup` alone: nothing else makes or migrates a ledger here
 * @throws ConfigError, KeyRingError, and what `openLedger` throws
 */
export async function openConfiguredLedger(
  { ledger, environment, keyRingFile }: LedgerAccess = loadLedgerAccess(process.env),
  making: Pick<OpenLedgerOptions, 'create' | 'migrate' | 'onProgress'> = {},
): Promise<Ledger> {
  // Loaded when needed: most callers never read a report, and need neither a database nor a key.
  const [{ openLedger }, { WatchedKeyRing }] = await Promise.all([
    import('../ledger/open-ledger.ts'),
    import('../protection/keys/key-ring.ts'),
  ]);
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
