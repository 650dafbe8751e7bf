/**
 * A gateway profile: one environment's pair of addresses, with everything that the gateway client needs to know about
 * it.
 */

import { createHash } from 'node:crypto';
import type { Accents } from '../fields/accents.ts';
import type { ChangeOptions } from '../fields/change-options.ts';
import type { WebhookEndpoint } from '../messages/webhooks/delivery.ts';
import type { Environment, ProductCode } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import type { SsnsWithNine } from './made-up-applicants.ts';

export interface Credentials {
  clientId: string;
  clientSecret: string;
}

/** Reads the secret again at each call, so that a rotated file is seen after a refusal. */
export interface CredentialsSource {
  /** Names the credentials in messages; not secret. */
  readonly name: string;
  read(): Promise<Credentials>;
}

/** Every limit of one profile's connection pool. Times in milliseconds, sizes in bytes. */
export interface GatewayLimits {
  connections: number;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
  keepAliveTimeoutMs: number;
  /** Counted as received, before decompression. */
  maxResponseBytes: number;
  maxDecodedBytes: number;
  maxApplicants: number;
}

export interface GatewayProfile {
  name: string;
  environment: Environment;
  /** `{auth_url}`: the client appends `/oauth/token` (interface 4.1). */
  authUrl: string;
  /** `{base_url}`: the client appends `/ServiceGateway/orest/<apiVersion>/request` (interface 4.2). */
  baseUrl: string;
  /** Part of the request path (interface 9). */
  apiVersion: string;
  audience: string;
  customerId: string;
  softwareProviderId: string;
  /** IANA name; `originalInquiryDate` is written in it. */
  timeZone: string;
  credentials: CredentialsSource;
  /** A certificate authority in PEM, used in addition to the system's. */
  caCertificate?: string;
  limits: GatewayLimits;
  /** Statuses that the configuration declares to mean "not processed". */
  notProcessedStatuses: readonly number[];
  /** Per product, in addition to the built-in table. Codes are compared literally. */
  returnCodes: Partial<Record<ProductCode, Record<string, ReportOutcome>>>;
  /** Decides the outcome if an SSN of the answer matches no applicant. */
  ssnMismatch: 'hold' | 'flag';
  /** Outside the sandbox: which SSNs that start with 9 may be sent. */
  ssnsWithNine: SsnsWithNine;
  /** The gateway is a sandbox of the deployer, which gets only made-up applicants. Never in production. */
  rehearsal?: boolean;
  /** How names and addresses with accents are sent: the interface does not say which characters AN has (2.3). */
  accents: Accents;
  /**
   * The trace number of an attempt that an operator's `resend` permits. `same`: the provider may recognise the repeat
   * by it, although nothing shows that it does. `new`: "unique" (interface 2.3, 2.6) applies to each request.
   */
  resendTraceNumber: 'same' | 'new';
  /** The moment that `originalInquiryDate` names: interface 2.6 and rule 3 contradict 2.4. */
  originalInquiryDateSource: 'secondaryUse' | 'originalRequest';
  /**
   * Accepted senders of grants: any with write access to the namespace, or only holders of the consent system's key.
   */
  consentTrust: 'namespace' | 'proof';
  /**
   * Accepted decisions: from any sender with write access to the namespace, or only those signed by a key for
   * decisions.
   */
  decisionTrust: 'namespace' | 'proof';
  /** Defines when a figure has changed, and which status codes mean a closed tradeline. */
  changes: ChangeOptions;
  /** Per product, the permitted end users and purpose codes; all where absent. */
  allowed: Partial<
    Record<ProductCode, { endUserCodes?: readonly string[]; permissiblePurposeCodes?: readonly string[] }>
  >;
  /** Former addresses. Runs that began there continue, but nothing is sent there any more. */
  formerly?: readonly Pick<GatewayProfile, 'authUrl' | 'baseUrl' | 'audience' | 'apiVersion'>[];
  /** The receivers of events of its journeys. No request to the gateway depends on them. */
  webhooks?: readonly WebhookEndpoint[];
}

// The two addresses of a gateway profile.

/** `{auth_url}/oauth/token` (interface 4.1). */
export function toTokenUrl(profile: Pick<GatewayProfile, 'authUrl'>): URL {
  return append(profile.authUrl, '/oauth/token');
}

/** `{base_url}/ServiceGateway/orest/<version>/request` (interface 4.2, 9). */
export function toRequestUrl(profile: Pick<GatewayProfile, 'baseUrl' | 'apiVersion'>): URL {
  return append(profile.baseUrl, `/ServiceGateway/orest/${encodeURIComponent(profile.apiVersion)}/request`);
}

function append(base: string, path: string): URL {
  return new URL(base.replace(/\/+$/, '') + path);
}

/** Returns the rule that an answer breaks if it is from another kind of gateway than the profile's, else `null`. */
export function checkGatewayKind(
  { environment, rehearsal = false }: GatewayProfile,
  isSandbox: boolean,
): string | null {
  if (environment === 'sandbox' || isSandbox === rehearsal) return null;
  return rehearsal
    ? '/ must be the answer of a sandbox: the profile is a rehearsal'
    : '/ is an answer of the sandbox, and the profile is not for the sandbox';
}

// The digest that binds a run to the customer and the way to the gateway. The profile may name former ways, under which
// runs continue. The customer never changes under a run.

/**
 * The SHA-256 of environment, customer, software provider, both addresses, API version and audience, in hex. It contains
 * nothing secret, so that operators may rotate credentials while a journey runs.
 */
export function computeProfileFingerprint(profile: GatewayProfile): string {
  const customer = [profile.environment, profile.customerId, profile.softwareProviderId];
  const way = [toTokenUrl(profile).href, toRequestUrl(profile).href, profile.apiVersion, profile.audience];
  return createHash('sha256')
    .update(JSON.stringify([customer, way]))
    .digest('hex');
}

/** Returns true if a run that began with the fingerprint may continue under the profile or one of its former ways. */
export function hasFingerprint(profile: GatewayProfile, fingerprint: string): boolean {
  if (computeProfileFingerprint(profile) === fingerprint) return true;
  return (profile.formerly ?? []).some((way) => computeProfileFingerprint({ ...profile, ...way }) === fingerprint);
}
