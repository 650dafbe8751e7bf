/** Services that handlers of operations share, for the lifetime of the program. */
import type { Client } from '@temporalio/client';
import { getSdkClient } from '../client/credit-journeys.ts';
import { type SlotLimits, Slots } from '../http/limits.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Environment } from '../model/products.ts';
import type { LedgerJourneys } from '../operator/ledger-journeys.ts';
import type { DecisionSigner } from '../protection/keys/signing-keys.ts';
import { type ApiOptions, DEFAULT_LIMITS } from './options.ts';
import { type RunScopes, runScopes } from './run-scope.ts';
import { SharedReads, StatusFeeds } from './status/status-feeds.ts';

export interface ApiServices {
  journeys: LedgerJourneys;
  /** The SDK's own, for calls that the project's client does not make. */
  client: Client;
  openLedger: () => Promise<Ledger>;
  environment: Environment;
  /** Absent where decisions are sent unsigned. */
  signer: DecisionSigner | undefined;
  /** The directory of the workers’ results of portfolio reviews, as far as the API may read them. */
  portfolioDirectory: string | undefined;
  /** The Temporal UI's address without a slash at its end. */
  temporalUi: string | undefined;
  /** The address of the runbook's pages. */
  runbookUrl: string | undefined;
  /** A path of the proxy that signs people in. */
  signOutPath: string | undefined;
  runScope: RunScopes;
  feeds: StatusFeeds;
  statusReads: SharedReads;
  /** Slots for callers whom only a worker can answer, perhaps in vain. */
  querySlots: Slots;
  /** The most that a message may carry; the worker has the last word. */
  maxApplicants: number;
  /** Names of the gateway profiles, where the API is configured with them. */
  profiles: readonly string[] | undefined;
}

type ServiceOptions = Pick<ApiOptions, 'environment' | 'journeys' | 'maxApplicants'> & {
  [Name in 'feedLimits' | 'portfolioDirectory' | 'profiles' | 'runbookUrl' | 'signer' | 'signOutPath' | 'temporalUi']?:
    | ApiOptions[Name]
    | undefined;
} & { work?: SlotLimits };

export function createServices(options: ServiceOptions): ApiServices {
  const { journeys, maxApplicants, environment, profiles, signer, portfolioDirectory } = options;
  const { temporalUi, runbookUrl, signOutPath, feedLimits, work = DEFAULT_LIMITS.work } = options;
  const client = getSdkClient(journeys);
  const openLedger = () => journeys.openedLedger();
  return {
    ...{ journeys, client, openLedger, maxApplicants, environment, profiles, signer, portfolioDirectory },
    ...{ temporalUi, runbookUrl, signOutPath },
    runScope: runScopes({ client, openLedger }),
    feeds: new StatusFeeds(feedLimits),
    statusReads: new SharedReads(),
    querySlots: new Slots(work),
  };
}
