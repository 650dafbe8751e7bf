/** What `config.ts` makes of the environment. Types only, so that anything may name them. */

import type { GatewayProfile } from '../gateway/profile.ts';
import type { WebhookSettings } from '../messages/webhooks/delivery.ts';
import type { Environment } from '../model/products.ts';
import type { ProtocolSettings } from '../model/settings.ts';
import type { DeploymentVersion } from '../temporal/worker-deployment.ts';
import type { LogLevel } from './log-level.ts';
import type { TemporalOptions } from './temporal-connection.ts';

/** Where the ledger is and which one it must be. */
export interface LedgerSettings {
  /** `file:<path>` or `postgres://…` */
  url: string;
  /** `LEDGER_ID`: required outside the sandbox. */
  expectedId?: string;
}

/** All that it takes to open the ledger. */
export interface LedgerAccess {
  environment: Environment;
  ledger: LedgerSettings;
  keyRingFile: string;
  /** Whether a key ring is made where none is found: the sandbox with no file named. */
  keyRingMayBeMade: boolean;
}

/** How to reach the codec server: for whoever holds no key (docs/codec-server.md). */
export interface CodecServerAccess {
  /** May hold the unguessable path, which is a secret: never shown. */
  url: string;
  /** The bearer token, asked for at each call, so that it can be renewed. Absent where the path authenticates. */
  readToken?: () => Promise<string>;
  /** PEM of a certificate authority beside the system's. */
  caCertificate?: string;
}

/** How a client's payloads are encoded. */
export type PayloadAccess =
  | { kind: 'clear' }
  /** In the clear where the file is missing and may be. */
  | { kind: 'keyRing'; file: string; mayBeMissing: boolean }
  | { kind: 'codecServer' };

/** Where a client reads reports. */
export type ReportAccess =
  | { kind: 'ledger'; access: LedgerAccess }
  | { kind: 'codecServer'; server: CodecServerAccess; namespace: string };

/** All that a caller needs who only talks to Temporal: no secret of the gateway, no ledger. */
export interface ClientSettings {
  payloads: PayloadAccess;
  /** Always there where `payloads` says `codecServer`. */
  codecServer?: CodecServerAccess;
  environment: Environment;
  temporal: TemporalOptions;
  taskQueue: string;
  /** As configured for the workers' default profile; the worker has the last word. */
  maxApplicants: number;
  /** Whether calls are traced, by whatever provider the program has registered. */
  traces: boolean;
}

/** What it takes to say which version of the workers gets the work. */
export interface DeploymentAccess extends Partial<DeploymentVersion> {
  temporal: TemporalOptions;
}

export interface WorkerSettings {
  maxConcurrentWorkflowTasks: number;
  maxCachedWorkflows: number;
  maxConcurrentActivities: number;
  /** Slots of one profile's gateway queue on this worker; never more than its connections. */
  maxConcurrentInquiries: number;
  /** Across all workers of a gateway queue; the provider's limits are not shown (interface 8). */
  maxInquiriesPerSecond?: number;
  /** How often the newest attempt of the ledger is looked for. */
  ledgerWatchMs: number;
  /** Outlives the HTTP time-out, so that SIGTERM never cuts off an attempt in flight. */
  shutdownGraceMs: number;
  /** Path of the prebuilt workflow bundle; absent in development. */
  workflowBundlePath?: string;
  /** Absent: the worker is unversioned. */
  deployment?: DeploymentVersion;
}

export interface ListenAddress {
  /** An IP address; IPv6 without brackets. */
  host: string;
  port: number;
}

/** What a worker tells of itself, each where it is asked for (docs/metrics.md). */
export interface TelemetrySettings {
  metricsAddress?: ListenAddress;
  /** How often what is open is counted. */
  metricsRefreshMs: number;
  healthAddress?: ListenAddress;
  /** An OTLP/HTTP collector, without `/v1/traces`. */
  traceEndpoint?: string;
}

export interface Config extends LedgerAccess {
  /** Whether payloads are encrypted; only the sandbox may do without. */
  payloadsAreEncrypted: boolean;
  temporal: TemporalOptions;
  taskQueue: string;
  /** By name; always holds `default`. */
  profiles: ReadonlyMap<string, GatewayProfile>;
  protocol: ProtocolSettings;
  /** Of the delivery of events; the endpoints are their profiles'. */
  webhooks: WebhookSettings;
  worker: WorkerSettings;
  logLevel: LogLevel;
  telemetry: TelemetrySettings;
  /** JWKS file that proofs of consents are checked with; without one none is accepted. */
  consentKeysFile?: string;
  /** The same for proofs of decisions. */
  decisionKeysFile?: string;
  /** Where portfolio files are, and their results. */
  portfolioDirectory?: string;
}
