/** Services that handlers of operations share, for the lifetime of the program. */
import type { Client } from '@temporalio/client';
import { getSdkClient } from '../client/credit-journeys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ApiOptions, ServiceOptions } from './options.ts';
import { createReachFinder, type FindRequiredReach } from './required-reach.ts';
import { StatusFeeds } from './status/status-feeds.ts';

export interface ApiServices extends ServiceOptions {
  /** The SDK's own, for calls that the project's client does not make. */
  client: Client;
  openLedger: () => Promise<Ledger>;
  findRequiredReach: FindRequiredReach;
  feeds: StatusFeeds;
}

export function createServices(options: ServiceOptions & Pick<ApiOptions, 'feedLimits'>): ApiServices {
  const client = getSdkClient(options.journeys);
  const openLedger = () => options.journeys.openedLedger();
  return {
    ...options,
    client,
    openLedger,
    findRequiredReach: createReachFinder({ client, openLedger }),
    feeds: new StatusFeeds(options.feedLimits),
  };
}
