/** Options of the API. */
import type { HttpServiceOptions } from '../http/service.ts';
import type { TokenSettings } from '../http/token-verifier.ts';
import type { Environment } from '../model/products.ts';
import type { LedgerJourneys } from '../operator/ledger-journeys.ts';
import type { DecisionSigner } from '../protection/proofs/decision-signer.ts';
import type { ApiLimits } from './limits.ts';
import type { FeedLimits } from './status/status-feeds.ts';

export interface ApiOptions extends HttpServiceOptions {
  environment: Environment;
  tokens: TokenSettings;
  /** The claim that says who acts. Default `sub`. */
  byClaim?: string;
  /** Client and ledger; stays the caller's to close. */
  journeys: LedgerJourneys;
  maxApplicants: number;
  /** Names of the gateway profiles. Where they are given, a start that names another one is refused. */
  profiles?: readonly string[];
  /** Signs the decisions of people whom a token names. */
  signer?: DecisionSigner;
  /** An absolute path: results of portfolio reviews are given out from it. */
  portfolioDirectory?: string;
  /** In small letters: the header in which a trusted proxy hands over the token of the person whom it knows. */
  tokenHeader?: string;
  /** `token`: a browser on this machine may trade a token for a cookie. Refused beyond loopback. */
  signIn?: 'token';
  /** Where a person signs in and out, where a proxy does that: paths of that proxy. */
  signInPath?: string;
  signOutPath?: string;
  /** Where the built page is. Default: beside the compiled program. */
  pageDirectory?: string;
  /** The Temporal UI's address without a slash at its end, for links. */
  temporalUi?: string;
  /** Where the pages of `docs/runbook` are served, without a slash at its end, for links. */
  runbookUrl?: string;
  limits?: Partial<ApiLimits>;
  feedLimits?: Partial<FeedLimits>;
}
