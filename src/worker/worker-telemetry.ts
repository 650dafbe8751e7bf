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
import { observedLedger } from '../ledger/observed-ledger.ts';
import type { Ledger } from '../ledger/port.ts';
import type { OpenWork } from '../ledger/records.ts';
import { MAY_BE_POSTED } from '../model/failure-types.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import { gatewayQueueOf, webhookQueueOf } from '../model/task-queues.ts';
import { keyAges, MAX_ENCRYPTING_DAYS } from '../protection/keys/key-age.ts';
import type { KeyRing } from '../protection/keys/key-ring.ts';
import { activityMetrics } from '../telemetry/activity-metrics.ts';
import { watchEventLoop } from '../telemetry/event-loop.ts';
import {
  ATTENTION_REASONS,
  type AttentionWord,
  Metrics,
  type QueueKind,
  RUN_STAGES,
  type RunStage,
} from '../telemetry/metrics.ts';
import type { WorkerTracing } from '../telemetry/worker-tracing.ts';
import { countFailingRuns } from '../temporal/failing-runs.ts';

// Figures that every worker reads alike, at intervals: of the ledger what needs a person and whether it is an older
// copy, of Temporal which runs there are and what waits on the queues, of the key ring how long its keys may still
// encrypt.

interface FleetFigures {
  ledger: Pick<Ledger, 'work' | 'restoreState'>;
  client: Pick<Client, 'workflow' | 'workflowService' | 'options'>;
  keys: { readonly ring: Pick<KeyRing, 'keys'> };
  taskQueue: string;
  profiles: readonly string[];
  metrics: Metrics;
  everyMs: number;
  /** Ends it. */
  signal: AbortSignal;
  /** Whether the search attribute JourneyStage can be asked for. */
  knowsStages(): Promise<boolean>;
}

/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW = 1;
const ACTIVITY = 2;

/** Reads at once and then every `everyMs`, until the signal. Never rejects: what cannot be read stands as it was. */
export async function watchFleetFigures(figures: FleetFigures): Promise<void> {
  const { everyMs, signal } = figures;
  while (!signal.aborted) {
    await Promise.allSettled([
      ...[readWork(figures), readCopy(figures)],
      ...[readRuns(figures), readFailingRuns(figures), readBacklogs(figures)],
    ]);
    readKeys(figures);
    await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

async function readWork({ ledger, metrics }: FleetFigures): Promise<void> {
  metrics.needsPerson(await ledger.work.counts());
}

async function readCopy({ ledger, metrics }: FleetFigures): Promise<void> {
  const { lost } = await ledger.restoreState();
  metrics.ledgerOlderCopy(lost !== undefined);
}

async function readRuns({ client, taskQueue, metrics, knowsStages }: FleetFigures): Promise<void> {
  if (!(await knowsStages())) return;
  const queue = taskQueue.replaceAll("'", "''");
  const counts = await Promise.all(
    RUN_STAGES.map(async (stage): Promise<[RunStage, number]> => {
      const query = `JourneyStage = '${stage}' AND ExecutionStatus = 'Running' AND TaskQueue = '${queue}'`;
      return [stage, (await client.workflow.count(query)).count];
    }),
  );
  metrics.runningRuns(new Map(counts));
}

async function readFailingRuns({ client, taskQueue, metrics }: FleetFigures): Promise<void> {
  const count = await countFailingRuns(client, taskQueue);
  if (count !== null) metrics.failingRuns(count);
}

/** The SDK's own count of pollers stays as it was while the server is away: its polls are tried again and again. */
async function readBacklogs(figures: FleetFigures): Promise<void> {
  await countBacklogs(figures).then(
    () => figures.metrics.temporalUp(true),
    () => figures.metrics.temporalUp(false),
  );
}

async function countBacklogs({ client, taskQueue, profiles, metrics }: FleetFigures): Promise<void> {
  const gateways = profiles.map((profile) => gatewayQueueOf(taskQueue, profile));
  const queues: [QueueKind, string[], number[]][] = [
    ['journeys', [taskQueue], [WORKFLOW, ACTIVITY]],
    ['gateway', gateways, [ACTIVITY]],
    ['webhooks', [webhookQueueOf(taskQueue)], [ACTIVITY]],
  ];
  await Promise.all(
    queues.map(async ([kind, names, types]) => {
      const asked = names.flatMap((name) => types.map((type) => backlogOf(client, name, type)));
      const tasks = await Promise.all(asked);
      metrics.taskBacklog(
        kind,
        tasks.reduce((sum, one) => sum + one, 0),
      );
    }),
  );
}

async function backlogOf(client: FleetFigures['client'], name: string, taskQueueType: number): Promise<number> {
  const { namespace } = client.options;
  const asked = { namespace, taskQueue: { name }, taskQueueType, reportStats: true };
  const { stats } = await client.workflowService.describeTaskQueue(asked);
  return Number(stats?.approximateBacklogCount ?? 0);
}

function readKeys({ keys, metrics }: FleetFigures): void {
  for (const { use, ageDays, status } of keyAges(keys.ring)) {
    if (status === 'current') metrics.keyDaysLeft(use, MAX_ENCRYPTING_DAYS - ageDays);
  }
}

// Counts what needs a person, at intervals: from the ledger, and from the search attribute of journeys. Every worker
// of a ledger counts the same, so that alerts take the greatest.

interface OpenWorkOptions {
  ledger: Pick<Ledger, 'oldestOpen' | 'ping' | 'kept' | 'pauses'>;
  client: Client;
  taskQueue: string;
  metrics: Metrics;
  everyMs: number;
  /** Ends it. */
  signal: AbortSignal;
  /** Whether the search attribute NeedsAttention can be asked for. */
  knowsAttention(): Promise<boolean>;
  /** Milliseconds since the epoch; tests let time pass by it. */
  now?: () => number;
}

/** More than operators can handle in a day. Above it the counts stop growing; the oldest stays exact. */
const MAX_ROWS = 1_000;
const MAX_JOURNEYS = 1_000;
/** So many runs are asked for at a time whether they are open: a server that bills calls is not billed for a flood. */
const MAX_ASKED = 50;
const AT_ONCE = 8;
/** Asked for again this late: an open run may have ended, and a journey whose run has ended been started anew. */
const KNOWN_FOR_MS = 5 * 60_000;
/** Younger than this, the run may have taken its row up before it was listed. */
const LEFT_AFTER_MS = 5 * 60_000;

/** Nothing waits for these: their run may have closed. */
const LATE_NEWS: ReadonlySet<AttentionWord> = new Set(['lateAnswer', 'lateConsent']);

/** Counts at once and then every `everyMs`, until the signal. Never rejects: what cannot be read stands as it was. */
export async function watchOpenWork(options: OpenWorkOptions): Promise<void> {
  const runs = new KnownRuns(options.client);
  while (!options.signal.aborted) {
    await count(options, runs).catch(() => {});
    await delay(options.everyMs, undefined, { signal: options.signal, ref: false }).catch(() => {});
  }
}

async function count(options: OpenWorkOptions, runs: KnownRuns): Promise<void> {
  const { metrics } = options;
  const [rows, journeys] = await Promise.all([readLedger(options), readJourneys(options).catch(() => undefined)]);
  if (!rows) return;
  await countConsents(options).catch(() => {});
  const pauses = await options.ledger.pauses.list().catch(() => undefined);
  if (pauses) metrics.paused(pauses.some(({ ended }) => !ended));
  const attention = journeys && tally([...journeys.values()].map((reason) => ({ reason })));
  const waiting = rows.filter(({ reason }) => !LATE_NEWS.has(reason));
  await runs.learn(waiting.flatMap(({ workflowId }) => (workflowId && !journeys?.has(workflowId) ? [workflowId] : [])));
  const isGone = ({ workflowId = '' }: OpenWork) => !journeys?.has(workflowId) && runs.isGone(workflowId);
  const nowMs = (options.now ?? Date.now)();
  const counted = rows.filter((row) => LATE_NEWS.has(row.reason) || mayBePosted(row) || !isGone(row));
  const holds = tally(counted.map(({ reason, since }) => ({ reason, ageMs: Math.max(0, nowMs - Date.parse(since)) })));
  const left = waiting.filter(
    (row) => mayBePosted(row) && isGone(row) && nowMs - Date.parse(row.since) >= LEFT_AFTER_MS,
  );
  metrics.openWork({
    holds,
    attention: attention && new Map([...attention].map(([reason, { count: many }]) => [reason, many])),
    withoutRun: left.length,
  });
}

function mayBePosted({ reason }: OpenWork): boolean {
  return (MAY_BE_POSTED as readonly string[]).includes(reason);
}

/** Counts the consents that match nothing. */
async function countConsents({ ledger, metrics, now = Date.now }: OpenWorkOptions): Promise<void> {
  const found = await ledger.kept.unmatched({ limit: MAX_ROWS });
  const counts = new Map([...Map.groupBy(found, ({ unmatched }) => unmatched)].map(([word, of]) => [word, of.length]));
  const oldestMs = Math.max(0, ...found.slice(0, 1).map(({ since }) => now() - Date.parse(since)));
  metrics.unmatchedConsents({ counts, oldestMs });
}

/** `undefined` where the ledger does not answer, for which there is another metric. */
async function readLedger({ ledger, metrics }: OpenWorkOptions): Promise<OpenWork[] | undefined> {
  try {
    await ledger.ping();
    metrics.ledgerUp(true);
    return await ledger.oldestOpen(MAX_ROWS);
  } catch {
    metrics.ledgerUp(false);
    return undefined;
  }
}

/** By workflow id, why each needs a person; `undefined` where the attribute is not registered. */
async function readJourneys(options: OpenWorkOptions): Promise<Map<string, AttentionWord> | undefined> {
  const { client, taskQueue } = options;
  if (!(await options.knowsAttention())) return undefined;
  const queue = taskQueue.replaceAll("'", "''");
  const query = `NeedsAttention IS NOT NULL AND ExecutionStatus = 'Running' AND TaskQueue = '${queue}'`;
  const journeys = new Map<string, AttentionWord>();
  for await (const { workflowId, searchAttributes } of client.workflow.list({ query, pageSize: MAX_JOURNEYS })) {
    const reason = ATTENTION_REASONS.find((one) => one === searchAttributes?.NeedsAttention?.[0]);
    if (reason) journeys.set(workflowId, reason);
    if (journeys.size >= MAX_JOURNEYS) break;
  }
  return journeys;
}

function tally(items: readonly { reason: AttentionWord; ageMs?: number }[]) {
  const found = new Map<AttentionWord, { count: number; oldestMs: number }>();
  for (const { reason, ageMs = 0 } of items) {
    const before = found.get(reason) ?? { count: 0, oldestMs: 0 };
    found.set(reason, { count: before.count + 1, oldestMs: Math.max(before.oldestMs, ageMs) });
  }
  return found;
}

/** Which runs have ended, asked for a few at a time. One that the worker has not asked for yet counts as open. */
class KnownRuns {
  readonly #client: Client;
  #known = new Map<string, { isOpen: boolean; askedAtMs: number }>();

  constructor(client: Client) {
    this.#client = client;
  }

  isGone(workflowId: string): boolean {
    return workflowId === '' || this.#known.get(workflowId)?.isOpen === false;
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
      // One that cannot be asked for counts as open.
      const isOpen = await isRunOpen(this.#client, id).catch(() => true);
      this.#known.set(id, { isOpen, askedAtMs });
    });
  }
}

export interface WorkerTelemetry {
  metrics: Metrics;
  /** Outermost first. */
  activityInterceptors: ActivityInterceptorsFactory[];
  /** Where the workflows' spans go; only with traces. */
  sinks?: InjectedSinks<Sinks>;
  observeGateway: ExchangeObserver;
  observeTokens: ExchangeObserver;
  observeLedger(ledger: Ledger): Ledger;
  /** Counts what is open until it is closed; not at all where metrics are off. */
  watch(parts: WatchedParts): void;
  close(): Promise<void>;
}

interface WatchedParts {
  ledger: Ledger;
  connection: NativeConnection;
  keys: { readonly ring: KeyRing };
  registeredSearchAttributes(): Promise<readonly SearchAttributeName[]>;
}

/** Short enough to see a pause in the minute in which it was, longer than any pause is. */
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
    observeLedger: (ledger) => observedLedger(ledger, (operation) => metrics.ledgerOperation(operation)),
    watch({ ledger, connection, keys, registeredSearchAttributes }) {
      if (!telemetry.metricsAddress) return;
      const watched = {
        ledger,
        client: new Client({ connection, namespace: temporal.namespace }),
        taskQueue,
        metrics,
        everyMs: telemetry.metricsRefreshMs,
        signal: end.signal,
      };
      const knows = async (name: SearchAttributeName) => (await registeredSearchAttributes()).includes(name);
      watching = Promise.all([
        watchOpenWork({ ...watched, knowsAttention: () => knows('NeedsAttention') }),
        watchFleetFigures({
          ...watched,
          keys,
          profiles: [...profiles.keys()],
          knowsStages: () => knows('JourneyStage'),
        }),
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
      if (httpStatus !== undefined && productCode) metrics.timeToAnswer(productCode, durationMs);
      metrics.markersBroken(profile.name, markersBroken === true);
    };
}

function tokenMetrics(metrics: Metrics): ExchangeObserver {
  return ({ profile }) =>
    ({ failure }) =>
      metrics.tokenFetch(profile.name, failure);
}

function both(one: ExchangeObserver, other: ExchangeObserver | undefined): ExchangeObserver {
  if (!other) return one;
  return (begun: ExchangeBegun) => {
    const ends = [one(begun), other(begun)];
    return (ended: ExchangeEnded) => {
      for (const end of ends) end(ended);
    };
  };
}
