/** A worker's metrics and traces. Metrics are always on: they cost nothing while no program reads them. */

import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { type NativeConnection, Runtime } from '@temporalio/worker';
import type { Config } from '../config/config.ts';
import type { ExchangeObserver } from '../gateway/observer.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createObservedLedger } from '../ledger/observed-ledger.ts';
import { WEBHOOK_ATTENTION } from '../messages/webhooks/delivery.ts';
import { PRODUCTS } from '../model/products.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import { toGatewayQueue, toWebhookQueue } from '../model/work-class.ts';
import { computeKeyAges, type KeyRing, MAX_ENCRYPTING_DAYS } from '../protection/keys/key-ring.ts';
import { createActivityMetrics } from '../telemetry/activity-metrics.ts';
import { Metrics, type QueueKind, watchEventLoop } from '../telemetry/metrics.ts';
import { countFailingRuns, countRunning } from '../temporal/failing-runs.ts';
import { TASK_QUEUE_TYPES } from '../temporal/worker-deployment.ts';

// Figures that every worker reads alike, at intervals. The ledger gives the work for operators, and whether it is an
// older copy. Temporal gives the runs and the backlogs of the queues. The key ring gives how long its keys may still
// encrypt.

interface FleetFigures {
  client: Client;
  taskQueue: string;
  metrics: Metrics;
  everyMs: number;
  signal: AbortSignal;
  /** Runs can be searched by these alone. */
  registeredSearchAttributes(): Promise<readonly SearchAttributeName[]>;
  ledger: Pick<Ledger, 'tasks' | 'restoreState' | 'consents' | 'pauses'>;
  /** Milliseconds since the epoch; tests let time pass by it. */
  now?: () => number;
  keys: Pick<KeyRing, 'keys'>;
  profiles: readonly string[];
}

/** Reads at once and then every `everyMs`, until the signal. A figure that cannot be read keeps its value. */
export async function watchFleetFigures(figures: FleetFigures): Promise<void> {
  const { everyMs, signal } = figures;
  while (!signal.aborted) {
    const readings = [readKeys, readTasks, readCopy, readRuns, readFailingRuns, readBacklogs];
    await Promise.allSettled(readings.map((read) => read(figures)));
    await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

interface Work {
  kind: string;
  reason: string | undefined;
  count: number;
  oldest?: string | undefined;
}

/** Counts the work for operators: rows of the ledger, consents that match nothing, and runs that have no row. */
async function readTasks(figures: FleetFigures): Promise<void> {
  const { metrics, now = Date.now } = figures;
  const [rows, runs] = await Promise.all([
    readLedger(figures).catch(() => undefined),
    countRuns(figures).catch(() => undefined),
  ]);
  metrics.put('ledgerUp', rows !== undefined, {});
  const show = (metric: 'needsPerson' | 'oldestAge', toValue: (work: Partial<Work>) => number) =>
    metrics.setEach(metric, ({ kind, reason }) => {
      const found = kind === 'runs' ? runs : rows;
      return found && toValue(found.find((work) => work.kind === kind && work.reason === reason) ?? {});
    });
  show('needsPerson', ({ count = 0 }) => count);
  show('oldestAge', ({ oldest }) => (oldest ? Math.max(0, now() - Date.parse(oldest)) / 1_000 : 0));
}

async function readLedger({ ledger, metrics }: FleetFigures): Promise<Work[]> {
  const [counts, pauses, unmatched] = await Promise.all([
    ledger.tasks.counts(),
    ledger.pauses.list(),
    ledger.consents.unmatchedCounts(),
  ]);
  const isPaused = pauses.some(({ ended }) => !ended);
  metrics.put('paused', isPaused, {});
  const consents = unmatched.map(({ since: oldest, ...counted }) => ({ kind: 'unmatched', ...counted, oldest }));
  return [...counts, ...consents];
}

/** Reasons that no row of this ledger can have: the run began with another ledger, or has given events up. */
const REASONS_OF_RUNS = ['LedgerChanged', WEBHOOK_ATTENTION] as const;

async function countRuns(figures: FleetFigures): Promise<Work[]> {
  const counts = await countByAttribute(figures, 'NeedsAttention', REASONS_OF_RUNS);
  return counts.map(({ value: reason, count }) => ({ kind: 'runs', reason, count }));
}

/** Counts the running workflows with each value of a search attribute; none where the attribute is not registered. */
async function countByAttribute(
  { client, taskQueue, registeredSearchAttributes }: FleetFigures,
  attribute: SearchAttributeName,
  values: readonly string[],
): Promise<{ value: string; count: number }[]> {
  if (!(await registeredSearchAttributes()).includes(attribute)) return [];
  const count = (value: string) => countRunning(client, taskQueue, `${attribute} = '${value}'`);
  return Promise.all(values.map(async (value) => ({ value, count: await count(value) })));
}

async function readCopy({ ledger, metrics }: FleetFigures): Promise<void> {
  const { lost } = await ledger.restoreState();
  metrics.put('ledgerOlderCopy', lost !== undefined, {});
}

async function readRuns(figures: FleetFigures): Promise<void> {
  const counts = await countByAttribute(figures, 'JourneyStage', PRODUCTS);
  for (const { value: stage, count } of counts) figures.metrics.put('runningRuns', count, { stage });
}

async function readFailingRuns({ client, taskQueue, metrics }: FleetFigures): Promise<void> {
  const count = await countFailingRuns(client, taskQueue);
  if (count !== null) metrics.put('failingRuns', count, {});
}

/**
 * Counts the tasks that wait, and shows whether the server answers. The SDK's own count of pollers does not change while
 * it is away, since polls are retried.
 */
async function readBacklogs({ client, taskQueue, profiles, metrics }: FleetFigures): Promise<void> {
  const gateways = profiles.map((profile) => toGatewayQueue(taskQueue, profile));
  const queues: [QueueKind, string[], number[]][] = [
    ['journeys', [taskQueue], [TASK_QUEUE_TYPES.workflow, TASK_QUEUE_TYPES.activity]],
    ['gateway', gateways, [TASK_QUEUE_TYPES.activity]],
    ['webhooks', [toWebhookQueue(taskQueue)], [TASK_QUEUE_TYPES.activity]],
  ];
  const counts = queues.map(async ([queue, names, types]) => {
    const asked = names.flatMap((name) => types.map((type) => readBacklog(client, name, type)));
    const tasks = (await Promise.all(asked)).reduce((sum, count) => sum + count, 0);
    metrics.put('taskBacklog', tasks, { queue });
  });
  const answers = await Promise.allSettled(counts);
  const isUp = answers.every(({ status }) => status === 'fulfilled');
  metrics.put('temporalUp', isUp, {});
}

async function readBacklog(client: FleetFigures['client'], name: string, taskQueueType: number): Promise<number> {
  const { namespace } = client.options;
  const asked = { namespace, taskQueue: { name }, taskQueueType, reportStats: true };
  const { stats } = await client.workflowService.describeTaskQueue(asked);
  return Number(stats?.approximateBacklogCount ?? 0);
}

async function readKeys({ keys, metrics }: FleetFigures): Promise<void> {
  for (const { use, ageDays, status } of computeKeyAges(keys)) {
    if (status === 'current') metrics.put('keyDaysLeft', MAX_ENCRYPTING_DAYS - ageDays, { use });
  }
}

export type WorkerTelemetry = Awaited<ReturnType<typeof startWorkerTelemetry>>;

interface WatchedParts extends Pick<FleetFigures, 'ledger' | 'keys' | 'registeredSearchAttributes'> {
  connection: NativeConnection;
}

/** Short enough to show a pause in the minute when it happened, and longer than any pause. */
const EVENT_LOOP_EVERY_MS = 5_000;

/** Call it after the SDK's runtime was made: it uses that runtime's meter. */
export async function startWorkerTelemetry(config: Config) {
  const { telemetry, environment, profiles, taskQueue, temporal } = config;
  const metrics = new Metrics(Runtime.instance().metricMeter);
  metrics.begin(profiles.keys(), config.worker.deployment?.buildId);
  const { traceEndpoint } = telemetry;
  const tracing =
    traceEndpoint === undefined
      ? undefined
      : (await import('../telemetry/worker-tracing.ts')).startWorkerTracing(traceEndpoint, environment);
  const end = new AbortController();
  let watching: Promise<unknown> | undefined;
  const eventLoop = telemetry.metricsAddress ? watchEventLoop(metrics, EVENT_LOOP_EVERY_MS) : undefined;
  return {
    metrics,
    /** Outermost first. */
    activityInterceptors: [...(tracing ? [tracing.traceActivity] : []), createActivityMetrics(metrics)],
    observeExchange: observeExchanges(metrics, tracing?.observeExchange),
    observeLedger: (ledger: Ledger) =>
      createObservedLedger(ledger, ({ durationMs, ...labels }) =>
        metrics.put('ledgerLatency', durationMs / 1_000, labels),
      ),
    /** Counts open work until `close`. Does nothing if metrics are off. */
    watch({ connection, ...parts }: WatchedParts) {
      if (!telemetry.metricsAddress) return;
      watching = watchFleetFigures({
        ...parts,
        client: new Client({ connection, namespace: temporal.namespace }),
        taskQueue,
        metrics,
        everyMs: telemetry.metricsRefreshMs,
        signal: end.signal,
        profiles: [...profiles.keys()],
      });
    },
    async close() {
      end.abort();
      eventLoop?.close();
      await watching;
      await tracing?.close();
    },
  };
}

/** Counts exchanges with the gateway, and with its token service, which have no product. */
function observeExchanges(metrics: Metrics, trace: ExchangeObserver | undefined): ExchangeObserver {
  return (begun) => {
    const { profile, productCode: product } = begun;
    const endSpan = trace?.(begun);
    return (ended) => {
      const { httpStatus, durationMs, startsAreUnreported = false, failure = 'fetched' } = ended;
      if (product && httpStatus !== undefined) metrics.put('timeToAnswer', durationMs / 1_000, { product });
      if (product) metrics.put('startsAreUnreported', startsAreUnreported, { profile: profile.name });
      else metrics.put('tokenFetches', 1, { profile: profile.name, result: failure });
      endSpan?.(ended);
    };
  };
}
