/** What the handlers work with, for all of the API's life. */
import type { Client } from '@temporalio/client';
import type { Ledger } from '../ledger/port.ts';
import type { LedgerJourneys } from '../operator/ledger-journeys.ts';
import type { RunScopes } from './run-scope.ts';
import type { StatusFeeds } from './status-feeds.ts';

export interface ApiServices {
  journeys: LedgerJourneys;
  /** The SDK's own, for calls that the project's client does not make. */
  client: Client;
  openLedger: () => Promise<Ledger>;
  runScope: RunScopes;
  feeds: StatusFeeds;
  /** The most that a message may carry; the worker has the last word. */
  maxApplicants: number;
}
