/** The ledger that the environment names, for the time of one command. */
import type { Ledger } from '../../ledger/ledger.ts';

/** @throws what `openConfiguredLedger` throws, and what `act` throws */
export async function withLedger<T>(act: (ledger: Ledger) => Promise<T>): Promise<T> {
  // Loaded when needed: a command that is refused for its options opens nothing.
  const { openConfiguredLedger } = await import('../../operator/configured-ledger.ts');
  const ledger = await openConfiguredLedger(process.env, { besideLedger: true });
  try {
    return await act(ledger);
  } finally {
    await ledger.close();
  }
}
