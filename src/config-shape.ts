/** What `config.ts` makes of the environment. Types only, so that anything may name them. */
import type { GatewayProfile } from './gateway/profile.ts';
import type { Environment } from './model/products.ts';
import type { ProtocolSettings } from './model/settings.ts';
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

/** All that a caller needs who only talks to Temporal: no secret of the gateway, no ledger. */
export interface ClientSettings {
  payloadsAreEncrypted: boolean;
  /** Where the key ring would be; a client without one talks in the clear, or through a codec of its own. */
  keyRingFile: string | undefined;
  environment: Environment;
  temporal: TemporalOptions;
  taskQueue: string;
  /** As configured for the workers' default profile; the worker has the last word. */
  maxApplicants: number;
}

export interface WorkerSettings {
  maxConcurrentWorkflowTasks: number;
  maxCachedWorkflows: number;
  maxConcurrentActivities: number;
  /** Slots of one profile's gateway queue on this worker; never more than its connections. */
  maxConcurrentInquiries: number;
  /** Across all workers of a gateway queue; the provider's limits are not shown (interface 8). */
  maxInquiriesPerSecond?: number;
  /** Outlives the HTTP time-out, so that SIGTERM never cuts off an attempt in flight. */
  shutdownGraceMs: number;
  /** Path of the prebuilt workflow bundle; absent in development. */
  workflowBundlePath?: string;
}

export interface Config extends LedgerAccess {
  /** Whether payloads are encrypted; only the sandbox may do without. */
  payloadsAreEncrypted: boolean;
  temporal: TemporalOptions;
  taskQueue: string;
  /** By name; always holds `default`. */
  profiles: ReadonlyMap<string, GatewayProfile>;
  protocol: ProtocolSettings;
  worker: WorkerSettings;
}
