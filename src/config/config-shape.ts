/** The configuration that `config.ts` reads from the environment. Types only, so that any file may name them. */

import type { GatewayProfile } from '../gateway/profile.ts';
import type { WebhookSettings } from '../messages/webhooks/delivery.ts';
import type { Environment } from '../model/products.ts';
import type { ProtocolSettings } from '../model/settings.ts';
import type { DeploymentVersion } from '../temporal/worker-deployment.ts';
import type { CodecServerAccess } from './codec-server-access.ts';
import type { LogLevel } from './log-level.ts';
import type { TemporalOptions } from './temporal-connection.ts';

export type { CodecServerAccess } from './codec-server-access.ts';

/** The ledger's address, and the id that it must have. */
export interface LedgerSettings {
  /** `file:<path>` or `postgres://…` */
  url: string;
  /** `LEDGER_ID`: required outside the sandbox. */
  expectedId?: string;
  /** `LEDGER_DURABILITY`: what keeps commits when a server fails, and who decided so. */
  durability: { kind: 'replication' | 'storage' | 'accepted'; by?: string };
}

/** Everything that is needed to open the ledger. */
export interface LedgerAccess {
  environment: Environment;
  ledger: LedgerSettings;
  keyRingFile: string;
  /** Whether a missing key ring is made: in the sandbox, when no file is named. */
  keyRingMayBeMade: boolean;
}

/** How a client's payloads are encoded. */
export type PayloadAccess =
  /** Only where `PAYLOAD_ENCRYPTION` is off. */
  { kind: 'clear' } | { kind: 'keyRing'; file: string } | { kind: 'codecServer' };

/** The settings of a program that only talks to Temporal: no secret of the gateway, no ledger. */
export interface ClientSettings {
  payloads: PayloadAccess;
  /** Always present where `payloads` says `codecServer`. */
  codecServer?: CodecServerAccess;
  environment: Environment;
  temporal: TemporalOptions;
  taskQueue: string;
  /** As configured for the workers' default profile; the worker decides. */
  maxApplicants: number;
  /** Whether calls are traced, by the provider that the program has registered. */
  traces: boolean;
}

export interface WorkerSettings {
  maxConcurrentWorkflowTasks: number;
  maxCachedWorkflows: number;
  maxConcurrentActivities: number;
  /** Slots of one profile's gateway queue on this worker; never more than its connections. */
  maxConcurrentInquiries: number;
  /** Across all workers of a gateway queue; the interface does not show the provider's limits (8). */
  maxInquiriesPerSecond?: number;
  /** How often the watch looks for the newest attempt of the ledger. */
  ledgerWatchMs: number;
  /** Longer than the HTTP time-out, so that SIGTERM never interrupts an attempt in flight. */
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

/** The telemetry of a worker, each part only where it is configured (docs/metrics.md). */
export interface TelemetrySettings {
  metricsAddress?: ListenAddress;
  /** How often the worker counts open work. */
  metricsRefreshMs: number;
  healthAddress?: ListenAddress;
  /** An OTLP/HTTP collector, without `/v1/traces`. */
  traceEndpoint?: string;
}

export interface Config extends LedgerAccess {
  /** Whether payloads are encrypted; only the sandbox may run without. */
  payloadsAreEncrypted: boolean;
  temporal: TemporalOptions;
  taskQueue: string;
  /** By name; always contains `default`. */
  profiles: ReadonlyMap<string, GatewayProfile>;
  protocol: ProtocolSettings;
  /** For the delivery of events; the endpoints belong to their profiles. */
  webhooks: WebhookSettings;
  worker: WorkerSettings;
  logLevel: LogLevel;
  telemetry: TelemetrySettings;
  /** JWKS file to check proofs of consents with; without it no proof is accepted. */
  consentKeysFile?: string;
  /** The same for proofs of decisions. */
  decisionKeysFile?: string;
  /** The directory of portfolio files and their results. */
  portfolioDirectory?: string;
  /** Where the pages of docs/runbook are served, without a slash at its end. */
  runbookUrl?: string;
}
