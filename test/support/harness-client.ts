/** The typed client for a harness's worker. */
import type { HoldStatus } from '../../src/client.ts';
import { type LedgerConnectOptions, LedgerJourneys } from '../../src/operator/ledger-journeys.ts';
import type { Harness } from './journey-harness.ts';

export function connectTo(
  { config: { temporal, taskQueue } }: Pick<Harness, 'config'>,
  options: LedgerConnectOptions = {},
): Promise<LedgerJourneys> {
  const { address, namespace } = temporal;
  // A short time-out would fail on a busy machine, and only few tests are about it.
  return LedgerJourneys.connect({ address, namespace, taskQueue, queryTimeoutMs: 120_000, ...options });
}

/** Waits, as a caller does, until a run of any kind is on hold. */
export async function firstHoldOf(run: { watch(): AsyncIterable<{ holds: HoldStatus[] }> }): Promise<HoldStatus> {
  for await (const { holds } of run.watch()) if (holds[0]) return holds[0];
  throw new Error('it was never held');
}
