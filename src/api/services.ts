/** Services that handlers of operations share, for the lifetime of the program. */
import type { Client } from '@temporalio/client';
import { getSdkClient } from '../client/credit-journeys.ts';
import { Slots } from '../http/limits.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type ApiOptions, DEFAULT_LIMITS, type ServiceOptions } from './options.ts';
import { createReachFinder, type FindRequiredReach } from './reach.ts';

export interface ApiServices extends ServiceOptions {
  /** The SDK's own, for calls that the project's client does not make. */
  client: Client;
  openLedger: () => Promise<Ledger>;
  findRequiredReach: FindRequiredReach;
  /** Places of requests that wait for a change of a status. */
  waiters: Slots;
}

export function createServices(options: ServiceOptions & Pick<ApiOptions, 'limits'>): ApiServices {
  const client = getSdkClient(options.journeys);
  const openLedger = () => options.journeys.getLedger();
  return {
    ...options,
    client,
    openLedger,
    findRequiredReach: createReachFinder({ client, openLedger }),
    waiters: new Slots(options.limits?.waiters ?? DEFAULT_LIMITS.waiters),
  };
}
