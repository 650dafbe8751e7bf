/** Options of the API. */
import type { AuditDestination } from '../http/audit.ts';
import type { TokenSettings } from '../http/token-verifier.ts';
import type { Ledger } from '../ledger/port.ts';
import type { Environment } from '../model/products.ts';
import type { LedgerJourneys } from '../operator/ledger-journeys.ts';
import type { ApiLimits } from './limits.ts';
import type { FeedLimits } from './status-feeds.ts';

export interface ApiOptions {
  environment: Environment;
  tokens: TokenSettings;
  /** The claim that says who acts. Default `sub`. */
  byClaim?: string;
  /** Stays the caller's to close. */
  journeys: LedgerJourneys;
  /** The same that `journeys` has. */
  openLedger: () => Promise<Ledger>;
  maxApplicants: number;
  /** Default: lines on standard error. */
  audit?: AuditDestination;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default: a free one. */
  port?: number;
  /** PEM. */
  tls?: { cert: string; key: string };
  /** Addresses or CIDR blocks; where there are any, only they may connect, and `X-Forwarded-For` is believed. */
  trustedProxies?: readonly string[];
  limits?: Partial<ApiLimits>;
  feedLimits?: Partial<FeedLimits>;
  /** A bug, or an audit log that cannot be written; the caller got 500 or 503 without a reason. */
  onUnexpected?: (error: unknown) => void;
}
