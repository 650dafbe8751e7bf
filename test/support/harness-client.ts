/** The typed client of a harness's worker. */
import { type ConnectOptions, CreditJourneys } from '../../src/client.ts';
import type { Harness } from './journey-harness.ts';

export function connectTo(
  { config: { temporal, taskQueue } }: Pick<Harness, 'config'>,
  options: ConnectOptions = {},
): Promise<CreditJourneys> {
  const { address, namespace } = temporal;
  // A short time-out is for the few tests that are about it: the machine may be busy.
  return CreditJourneys.connect({ address, namespace, taskQueue, queryTimeoutMs: 120_000, ...options });
}
