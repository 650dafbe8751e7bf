/** The work that one worker does at a time, each figure with its reason. */
import { existsSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { defined } from '../base/defined.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { ProtocolSettings } from '../model/settings.ts';
import type { WorkerSettings } from './config-shape.ts';
import { readDeployment } from './deployment.ts';
import type { EnvironmentReader } from './environment-reader.ts';

/** Added to the activity's own time-out: time to record the answer and to report it to Temporal. */
const SHUTDOWN_MARGIN_MS = 5_000;

const MEBIBYTE = 1024 * 1024;
/** The part of V8's limit that is used before any run is cached: some 200 for young objects, and the workflow code. */
const HEAP_BESIDE_CACHE_MIB = 300;
/** A run that waits at its first gate takes some 0.4 in the heap of the SDK's workflow thread (docs/reliability.md). */
const HEAP_OF_A_RUN_MIB = 0.6;

const LEAST_BY_HEAP = 10;

/**
 * The number of runs that V8's heap limit has room for, and never fewer than 10. With more, a full cache would exhaust
 * the memory of the SDK's workflow thread and end the worker. Each thread of a process has a heap with the process's
 * limit.
 */
export function cachedWorkflowsThatFit(heapLimitBytes = getHeapStatistics().heap_size_limit): number {
  const runs = Math.floor((heapLimitBytes / MEBIBYTE - HEAP_BESIDE_CACHE_MIB) / HEAP_OF_A_RUN_MIB);
  return Math.max(runs, LEAST_BY_HEAP);
}

export function readWorkerSettings(
  reader: EnvironmentReader,
  profiles: Iterable<GatewayProfile>,
  protocol: ProtocolSettings,
): WorkerSettings {
  const rate = readRate(reader);
  const workflowBundlePath = readBundlePath(reader);
  const deployment = readDeployment(reader);
  return {
    // A workflow task takes a few milliseconds of CPU. More tasks at once only wait for each other on a core.
    maxConcurrentWorkflowTasks: 40,
    // Too small a cache doubles CPU by replays; 1,000 waiting journeys take some 500 MB of memory.
    maxCachedWorkflows: reader.integer('WORKER_MAX_CACHED_WORKFLOWS', {
      default: Math.min(1_000, cachedWorkflowsThatFit()),
      // Without a cache each workflow task is a replay: slow, and right all the same.
      min: 0,
      max: 100_000,
    }),
    // Ledger and token activities: mostly waiting, each holding at most one database connection.
    maxConcurrentActivities: 50,
    maxConcurrentInquiries: readInquirySlots(reader, profiles),
    ...defined({ maxInquiriesPerSecond: rate }),
    // A restored ledger may lack attempts since the last look without notice.
    ledgerWatchMs: reader.integer('LEDGER_WATCH_EVERY_MS', { default: 60_000, min: 200, max: 86_400_000 }),
    // A limit and not a wait: an idle worker stops at once.
    shutdownGraceMs: protocol.submitTimeoutMs + SHUTDOWN_MARGIN_MS,
    ...defined({ workflowBundlePath, deployment }),
  };
}

/** A slot above the connections would claim an attempt and then queue for a connection, past its `sendBy`. */
function readInquirySlots(reader: EnvironmentReader, profiles: Iterable<GatewayProfile>): number {
  const connections = Math.min(...[...profiles].map(({ limits }) => limits.connections));
  const variable = 'WORKER_MAX_CONCURRENT_INQUIRIES';
  const slots = reader.integer(variable, { default: connections, min: 1, max: 256 });
  if (slots > connections) reader.report(variable, 'must be at most GATEWAY_CONNECTIONS, in every profile');
  return slots;
}

/**
 * No default: the interface does not show the provider's rate limits (8), and a guess would slow providers without one.
 */
function readRate(reader: EnvironmentReader): number | undefined {
  const variable = 'GATEWAY_MAX_INQUIRIES_PER_SECOND';
  const value = reader.optional(variable);
  if (value === undefined) return undefined;
  const rate = /^\d{1,5}(\.\d{1,6})?$/.test(value) ? Number(value) : 0;
  if (rate > 0) return rate;
  reader.report(variable, 'must be a number above 0, such as 0.5 or 20');
  return undefined;
}

function readBundlePath(reader: EnvironmentReader): string | undefined {
  const variable = 'WORKFLOW_BUNDLE_FILE';
  const path = reader.optional(variable);
  if (path !== undefined && !existsSync(path)) reader.report(variable, 'must name a file that exists');
  return path;
}
