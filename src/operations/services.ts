/** The API's options, and the services that its handlers share for the lifetime of the program. */
import { type HttpLimits, Slots } from '../http/limits.ts';
import type { HttpServiceOptions } from '../http/service.ts';
import type { TokenSettings } from '../http/token-verifier.ts';
import type { Environment } from '../model/products.ts';
import type { LedgerJourneys } from '../operator/ledger-journeys.ts';
import type { DecisionSigner } from '../protection/keys/signing-keys.ts';
import { createReachFinder } from './reach.ts';

/** Options that the handlers of operations see. */
export interface ServiceOptions {
  environment: Environment;
  /** Client and ledger; stays the caller's to close. */
  journeys: LedgerJourneys;
  /** Names of the workers' gateway profiles. Where they are given, a start that names another one is refused. */
  profiles?: readonly string[];
  /** Signs the decisions of people whom a token names. Absent where decisions are sent unsigned. */
  signer?: DecisionSigner;
  /** An absolute path: results of portfolio reviews are given out from it. */
  portfolioDirectory?: string;
  /** A path of the proxy where a person signs out, if a proxy does that. */
  signOutPath?: string;
  /** The Temporal UI's address without a slash at its end, for links. */
  temporalUi?: string;
  /** The address of the pages of `docs/runbook`, without a slash at its end, for links. */
  runbookUrl?: string;
}

export interface ApiOptions extends HttpServiceOptions, ServiceOptions {
  tokens: TokenSettings;
  /** The claim that says who acts. Default `sub`. */
  byClaim?: string;
  /** In small letters: the header in which a trusted proxy hands over the token of the person whom it knows. */
  tokenHeader?: string;
  /** `token`: a browser on this machine may trade a token for a cookie. Refused beyond loopback. */
  signIn?: 'token';
  /** A path of the proxy where a person signs in. */
  signInPath?: string;
  /** The directory of the built page. Default: beside the compiled program. */
  pageDirectory?: string;
  limits?: Partial<ApiLimits>;
}

// Figures that bound the API.

interface ApiLimits extends HttpLimits {
  /** Requests that wait for a change of a status. They take no slot of `work`. */
  waiters: HttpLimits['work'];
  /** Before open connections are ended although their requests are still worked on. */
  drainMs: number;
}

export const DEFAULT_LIMITS: ApiLimits = {
  // The longest message, a journey with all its applicants and shares, has some 60 kB.
  bodyBytes: 256 * 1024,
  // The 5,000 that may wait for a change have one each.
  connections: 8_000,
  work: { running: 128, runningPerCaller: 64, waiting: 2_000, waitingPerCaller: 1_000, waitMs: 10_000 },
  // 128 MB of the longest bodies. It takes eight callers that drip to keep the others waiting, each for 5 s.
  bodies: { running: 512, runningPerCaller: 64, waiting: 2_000, waitingPerCaller: 1_000, waitMs: 10_000 },
  waiters: { running: 5_000, runningPerCaller: 2_500, waiting: 0, waitingPerCaller: 0, waitMs: 0 },
  bodyTimeoutMs: 5_000,
  burst: 200,
  perSecond: 100,
  requestTimeoutMs: 15_000,
  drainMs: 10_000,
};

export type ApiServices = ReturnType<typeof createServices>;

export function createServices(options: ServiceOptions & Pick<ApiOptions, 'limits'>) {
  const client = options.journeys.getSdkClient();
  const openLedger = () => options.journeys.getLedger();
  return {
    ...options,
    /** The SDK's own, for calls that the project's client does not make. */
    client,
    openLedger,
    ...createReachFinder(client, openLedger),
    /** Places of requests that wait for a change of a status. */
    waiters: new Slots(options.limits?.waiters ?? DEFAULT_LIMITS.waiters),
  };
}
