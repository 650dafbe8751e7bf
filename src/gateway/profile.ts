/** One environment's pair of addresses with everything the gateway client needs to know about it. */

import type { WebhookEndpoint } from '../messages/webhooks/endpoint.ts';
import type { ChangeOptions } from '../model/change-options.ts';
import type { Environment, ProductCode } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import type { SsnsWithNine } from './made-up-applicants.ts';

export interface Credentials {
  clientId: string;
  clientSecret: string;
}

/** Reads the secret anew at each call, so that a rotated file is seen after a refusal. */
export interface CredentialsSource {
  /** Names the credentials in messages; nothing secret. */
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
  /** As received, before decompression. */
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
  /** PEM of a certificate authority beside the system's. */
  caCertificate?: string;
  limits: GatewayLimits;
  /** Statuses that by a standing decision mean "not processed". */
  notProcessedStatuses: readonly number[];
  /** Per product, on top of the built-in table; the codes are compared as they stand. */
  returnCodes: Partial<Record<ProductCode, Record<string, ReportOutcome>>>;
  /** What an answered SSN that equals no applicant's does. */
  ssnMismatch: 'hold' | 'flag';
  /** Outside the sandbox: which SSNs that start with 9 may be sent. */
  ssnsWithNine: SsnsWithNine;
  /** Interface 2.6 and rule 3 against 2.4: which moment `originalInquiryDate` names. */
  originalInquiryDateSource: 'secondaryUse' | 'originalRequest';
  /** Whom a grant is believed: whoever may write to the namespace, or a key of the consent system's alone. */
  consentTrust: 'namespace' | 'proof';
  /** Whose decisions are taken: those of all who may write to the namespace, or those that a key for decisions has signed. */
  decisionTrust: 'namespace' | 'proof';
  /** When a figure counts as moved, and which status codes are those of a closed tradeline; what is left out as by default. */
  changes?: Partial<ChangeOptions>;
  /** Per product, the end users and purpose codes that may be asked for; all where absent. */
  allowed: Partial<
    Record<ProductCode, { endUserCodes?: readonly string[]; permissiblePurposeCodes?: readonly string[] }>
  >;
  /** Who is told of what happens in its journeys; nothing that the gateway is asked depends on it. */
  webhooks?: readonly WebhookEndpoint[];
}
