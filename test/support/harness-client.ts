/** The typed client of a harness's worker. */
import { type LedgerConnectOptions, LedgerJourneys } from '../../src/operator/ledger-journeys.ts';
import type { Harness } from './journey-harness.ts';

export function connectTo(
  { config: { temporal, taskQueue } }: Pick<Harness, 'config'>,
  options: LedgerConnectOptions = {},
): Promise<LedgerJourneys> {
  const { address, namespace } = temporal;
  // A short time-out is for the few tests that are about it: the machine may be busy.
  return LedgerJourneys.connect({ address, namespace, taskQueue, queryTimeoutMs: 120_000, ...options });
}
