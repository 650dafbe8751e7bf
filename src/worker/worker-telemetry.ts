/** A worker's metrics and traces. Metrics are always on: they cost nothing while no program reads them. */

import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import {
  type ActivityInterceptorsFactory,
  type InjectedSinks,
  type NativeConnection,
  Runtime,
} from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import { inParallel } from '../base/in-parallel.ts';
import { isRunOpen } from '../client/runs/is-run-open.ts';
import type { Config } from '../config/config.ts';
import type { ExchangeBegun, ExchangeEnded, ExchangeObserver } from '../gateway/observer.ts';
import type { WorkCount, WorkRow } from '../ledger/holds/work.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { observedLedger } from '../ledger/observed-ledger.ts';
import { MAY_BE_POSTED } from '../model/failure-types.ts';
import { PRODUCTS } from '../model/products.ts';
import { toWorkflowId } from '../model/run-key.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import { toGatewayQueue, toWebhookQueue } from '../model/work-class.ts';
import { type KeyRing, keyAges, MAX_ENCRYPTING_DAYS } from '../protection/keys/key-ring.ts';
import { activityMetrics } from '../telemetry/activity-metrics.ts';
import {
  ATTENTION_REASONS,
  type AttentionWord,
  Metrics,
  type QueueKind,
  watchEventLoop,
} from '../telemetry/metrics.ts';
import type { WorkerTracing } from '../telemetry/worker-tracing.ts';
import { countFailingRuns } from '../temporal/failing-runs.ts';

// Figures that every worker reads alike, at intervals. The ledger gives the work for operators, and whether it is an
// older copy. Temporal gives the runs and the backlogs of the queues. The key ring gives how long its keys may still
// encrypt.

interface Watched {
  client: Client;
  taskQueue: string;
  metrics: Metrics;
  everyMs: number;
  signal: AbortSignal;
  /** Returns true if runs can be searched by the attribute. */
  knows(name: SearchAttributeName): Promise<boolean>;
}

interface FleetFigures extends Watched {
  ledger: Pick<Ledger, 'work' | 'restoreState'>;
  keys: { readonly ring: Pick<KeyRing, 'keys'> };
  profiles: readonly string[];
}

/**
 * Reads at once and then every `everyMs`, until the signal. Never rejects: a figure that cannot be read keeps its
 * value.
 */
async function repeat({ everyMs, signal }: Watched, read: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await read().catch(() => {});
    await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW = 1;
const ACTIVITY = 2;

export function watchFleetFigures(figures: FleetFigures): Promise<void> {
  return repeat(figures, async () => {
    readKeys(figures);
    await Promise.allSettled([
      ...[readWork(figures), readCopy(figures)],
      ...[readRuns(figures), readFailingRuns(figures), readBacklogs(figures)],
    ]);
  });
}

async function readWork({ ledger, metrics }: FleetFigures): Promise<void> {
  const counts = await ledger.work.counts();
  metrics.setEach('needsPerson', ({ kind, reason }) => {
    return counts.find((found) => found.kind === kind && found.reason === reason)?.count ?? 0;
  });
}

async function readCopy({ ledger, metrics }: FleetFigures): Promise<void> {
  const { lost } = await ledger.restoreState();
  metrics.put('ledgerOlderCopy', lost !== undefined, {});
}

async function readRuns({ client, taskQueue, metrics, knows }: FleetFigures): Promise<void> {
  if (!(await knows('JourneyStage'))) return;
  const queue = taskQueue.replaceAll("'", "''");
  const counts = await Promise.all(
    PRODUCTS.map(async (stage) => {
      const query = `JourneyStage = '${stage}' AND ExecutionStatus = 'Running' AND TaskQueue = '${queue}'`;
      return { stage, count: (await client.workflow.count(query)).count };
    }),
  );
  for (const { stage, count } of counts) metrics.put('runningRuns', count, { stage });
}

async function readFailingRuns({ client, taskQueue, metrics }: FleetFigures): Promise<void> {
  const count = await countFailingRuns(client, taskQueue);
  if (count !== null) metrics.put('failingRuns', count, {});
}

/**
 * Shows whether the server answers. The SDK's own count of pollers does not change while it is away, since polls are
 * retried.
 */
async function readBacklogs(figures: FleetFigures): Promise<void> {
  await countBacklogs(figures).then(
    () => figures.metrics.put('temporalUp', true, {}),
    () => figures.metrics.put('temporalUp', false, {}),
  );
}

async function countBacklogs({ client, taskQueue, profiles, metrics }: FleetFigures): Promise<void> {
  const gateways = profiles.map((profile) => toGatewayQueue(taskQueue, profile));
  const queues: [QueueKind, string[], number[]][] = [
    ['journeys', [taskQueue], [WORKFLOW, ACTIVITY]],
    ['gateway', gateways, [ACTIVITY]],
    ['webhooks', [toWebhookQueue(taskQueue)], [ACTIVITY]],
  ];
  await Promise.all(
    queues.map(async ([kind, names, types]) => {
      const asked = names.flatMap((name) => types.map((type) => readBacklog(client, name, type)));
      const tasks = await Promise.all(asked);
      const total = tasks.reduce((sum, count) => sum + count, 0);
      metrics.put('taskBacklog', total, { queue: kind });
    }),
  );
}

async function readBacklog(client: FleetFigures['client'], name: string, taskQueueType: number): Promise<number> {
  const { namespace } = client.options;
  const asked = { namespace, taskQueue: { name }, taskQueueType, reportStats: true };
  const { stats } = await client.workflowService.describeTaskQueue(asked);
  return Number(stats?.approximateBacklogCount ?? 0);
}

function readKeys({ keys, metrics }: FleetFigures): void {
  for (const { use, ageDays, status } of keyAges(keys.ring)) {
    if (status === 'current') metrics.put('keyDaysLeft', MAX_ENCRYPTING_DAYS - ageDays, { use });
  }
}

// Counts the work for operators at intervals, from the ledger and from the search attribute of journeys. Every worker
// of a ledger counts the same, so that alerts take the greatest.

interface OpenWorkOptions extends Watched {
  ledger: Pick<Ledger, 'work' | 'ping' | 'kept' | 'pauses'>;
  /** Milliseconds since the epoch; tests let time pass by it. */
  now?: () => number;
}

/** More than operators can handle in a day. Above it the counts stop growing; the oldest stays exact. */
const MAX_ROWS = 1_000;
const MAX_JOURNEYS = 1_000;
/** Limits the look-ups of runs in one interval, since some servers bill each call. */
const MAX_ASKED = 50;
const AT_ONCE = 8;
/** How long a look-up is valid. An open run may end, and a journey whose run has ended may be started again. */
const KNOWN_FOR_MS = 5 * 60_000;
/** Younger rows do not count: a run may have begun before it was listed. */
const LEFT_AFTER_MS = 5 * 60_000;

export function watchOpenWork(options: OpenWorkOptions): Promise<void> {
  const runs = new KnownRuns(options.client);
  return repeat(options, () => count(options, runs));
}

async function count(options: OpenWorkOptions, runs: KnownRuns): Promise<void> {
  const { metrics, now = Date.now } = options;
  const [work, journeys] = await Promise.all([readLedger(options), readJourneys(options).catch(() => undefined)]);
  if (!work) return;
  await countConsents(options).catch(() => {});
  const pauses = await options.ledger.pauses.list().catch(() => undefined);
  if (pauses)
    metrics.put(
      'paused',
      pauses.some(({ ended }) => !ended),
      {},
    );
  const listCounts = (reason: unknown) => work.counts.filter((found) => found.reason === reason);
  metrics.setEach('openHolds', ({ reason }) => listCounts(reason).reduce((sum, found) => sum + found.count, 0));
  metrics.setEach('oldestHoldAge', ({ reason }) => {
    return Math.max(0, ...listCounts(reason).map(({ oldest }) => now() - Date.parse(oldest))) / 1_000;
  });
  if (journeys) {
    const attention = [...journeys.values()];
    metrics.setEach('journeysNeedingAttention', ({ reason }) => attention.filter((found) => found === reason).length);
  }
  const left = work.posted.filter(({ since }) => now() - Date.parse(since) >= LEFT_AFTER_MS);
  const workflowIds = left.map(({ runKey }) => toWorkflowId(runKey)).filter((id) => !journeys?.has(id));
  await runs.learn(workflowIds);
  metrics.put('inquiriesWithoutRun', workflowIds.filter((id) => runs.isGone(id)).length, {});
}

/** Counts the consents that match nothing. */
async function countConsents({ ledger, metrics, now = Date.now }: OpenWorkOptions): Promise<void> {
  const found = await ledger.kept.unmatched({ limit: MAX_ROWS });
  const oldestMs = Math.max(0, ...found.slice(0, 1).map(({ since }) => now() - Date.parse(since)));
  metrics.setEach(
    'unmatchedConsents',
    (labels) => found.filter(({ unmatched }) => unmatched === labels.unmatched).length,
  );
  metrics.put('oldestUnmatchedConsentAge', oldestMs / 1_000, {});
}

/** `undefined` where the ledger does not answer, for which there is another metric. */
async function readLedger({
  ledger,
  metrics,
}: OpenWorkOptions): Promise<{ counts: WorkCount[]; posted: WorkRow[] } | undefined> {
  try {
    await ledger.ping();
    metrics.put('ledgerUp', true, {});
    const counts = await ledger.work.counts();
    const pages = MAY_BE_POSTED.map((reason) => ledger.work.open({ kind: 'held', reason, limit: MAX_ROWS }));
    return { counts, posted: (await Promise.all(pages)).flatMap(({ rows }) => rows) };
  } catch {
    metrics.put('ledgerUp', false, {});
    return undefined;
  }
}

/** Returns each journey's reason by workflow id; `undefined` if the attribute is not registered. */
async function readJourneys(options: OpenWorkOptions): Promise<Map<string, AttentionWord> | undefined> {
  const { client, taskQueue } = options;
  if (!(await options.knows('NeedsAttention'))) return undefined;
  const queue = taskQueue.replaceAll("'", "''");
  const query = `NeedsAttention IS NOT NULL AND ExecutionStatus = 'Running' AND TaskQueue = '${queue}'`;
  const journeys = new Map<string, AttentionWord>();
  for await (const { workflowId, searchAttributes } of client.workflow.list({ query, pageSize: MAX_JOURNEYS })) {
    const reason = ATTENTION_REASONS.find((candidate) => candidate === searchAttributes?.NeedsAttention?.[0]);
    if (reason) journeys.set(workflowId, reason);
    if (journeys.size >= MAX_JOURNEYS) break;
  }
  return journeys;
}

/** Remembers which runs have ended, and looks up a few at a time. A run that was not looked up yet counts as open. */
class KnownRuns {
  readonly #client: Client;
  #known = new Map<string, { isOpen: boolean; askedAtMs: number }>();

  constructor(client: Client) {
    this.#client = client;
  }

  isGone(workflowId: string): boolean {
    return this.#known.get(workflowId)?.isOpen === false;
  }

  async learn(workflowIds: readonly string[]): Promise<void> {
    const wanted = new Set(workflowIds);
    const askedAtMs = performance.now();
    const fresh = [...this.#known].filter(
      ([id, known]) => wanted.has(id) && askedAtMs - known.askedAtMs < KNOWN_FOR_MS,
    );
    this.#known = new Map(fresh);
    const unknown = [...wanted].filter((id) => !this.#known.has(id)).slice(0, MAX_ASKED);
    await inParallel(unknown, AT_ONCE, async (id) => {
      // A run whose look-up fails counts as open.
      const isOpen = await isRunOpen(this.#client, id).catch(() => true);
      this.#known.set(id, { isOpen, askedAtMs });
    });
  }
}

export interface WorkerTelemetry {
  metrics: Metrics;
  /** Outermost first. */
  activityInterceptors: ActivityInterceptorsFactory[];
  /** Exports the workflows' spans; only with traces. */
  sinks?: InjectedSinks<Sinks>;
  observeGateway: ExchangeObserver;
  observeTokens: ExchangeObserver;
  observeLedger(ledger: Ledger): Ledger;
  /** Counts open work until `close`. Does nothing if metrics are off. */
  watch(parts: WatchedParts): void;
  close(): Promise<void>;
}

interface WatchedParts {
  ledger: Ledger;
  connection: NativeConnection;
  keys: { readonly ring: KeyRing };
  registeredSearchAttributes(): Promise<readonly SearchAttributeName[]>;
}

/** Short enough to show a pause in the minute when it happened, and longer than any pause. */
const EVENT_LOOP_EVERY_MS = 5_000;

/** Call it after the SDK's runtime was made: it uses that runtime's meter. */
export async function startWorkerTelemetry(config: Config): Promise<WorkerTelemetry> {
  const { telemetry, environment, profiles, taskQueue, temporal } = config;
  const metrics = new Metrics(Runtime.instance().metricMeter);
  metrics.begin(profiles.keys(), config.worker.deployment?.buildId);
  const tracing = await loadTracing(telemetry.traceEndpoint, environment);
  const end = new AbortController();
  let watching: Promise<unknown> | undefined;
  const eventLoop = telemetry.metricsAddress ? watchEventLoop(metrics, EVENT_LOOP_EVERY_MS) : undefined;
  return {
    metrics,
    activityInterceptors: [...(tracing?.activityInterceptors ?? []), activityMetrics(metrics)],
    ...(tracing ? { sinks: tracing.sinks } : {}),
    observeGateway: both(exchangeMetrics(metrics), tracing?.observeExchange),
    observeTokens: both(tokenMetrics(metrics), tracing?.observeExchange),
    observeLedger: (ledger) =>
      observedLedger(ledger, ({ durationMs, ...labels }) => metrics.put('ledgerLatency', durationMs / 1_000, labels)),
    watch({ ledger, connection, keys, registeredSearchAttributes }) {
      if (!telemetry.metricsAddress) return;
      const watched = {
        ledger,
        client: new Client({ connection, namespace: temporal.namespace }),
        taskQueue,
        metrics,
        everyMs: telemetry.metricsRefreshMs,
        signal: end.signal,
        knows: async (name: SearchAttributeName) => (await registeredSearchAttributes()).includes(name),
      };
      watching = Promise.all([
        watchOpenWork(watched),
        watchFleetFigures({ ...watched, keys, profiles: [...profiles.keys()] }),
      ]);
    },
    async close() {
      end.abort();
      eventLoop?.close();
      await watching;
      await tracing?.close();
    },
  };
}

async function loadTracing(
  endpoint: string | undefined,
  environment: Config['environment'],
): Promise<WorkerTracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { startWorkerTracing } = await import('../telemetry/worker-tracing.ts');
  return startWorkerTracing(endpoint, environment);
}

function exchangeMetrics(metrics: Metrics): ExchangeObserver {
  return ({ profile, productCode }) =>
    ({ httpStatus, durationMs, markersBroken }) => {
      if (httpStatus !== undefined && productCode)
        metrics.put('timeToAnswer', durationMs / 1_000, { product: productCode });
      metrics.put('markersBroken', markersBroken === true, { profile: profile.name });
    };
}

function tokenMetrics(metrics: Metrics): ExchangeObserver {
  return ({ profile }) =>
    ({ failure }) =>
      metrics.put('tokenFetches', 1, { profile: profile.name, result: failure ?? 'fetched' });
}

function both(a: ExchangeObserver, b: ExchangeObserver | undefined): ExchangeObserver {
  if (!b) return a;
  return (begun: ExchangeBegun) => {
    const ends = [a(begun), b(begun)];
    return (ended: ExchangeEnded) => {
      for (const end of ends) end(ended);
    };
  };
}
