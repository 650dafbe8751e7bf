/** A worker's metrics and traces. Metrics are always on: they cost nothing while no program reads them. */
import { Client } from '@temporalio/client';
import {
  type ActivityInterceptorsFactory,
  type InjectedSinks,
  type NativeConnection,
  Runtime,
} from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import type { Config } from '../config/config-shape.ts';
import type { ExchangeBegun, ExchangeEnded, ExchangeObserver } from '../gateway/observer.ts';
import { observedLedger } from '../ledger/observed-ledger.ts';
import type { Ledger } from '../ledger/port.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import type { KeyRing } from '../protection/keys/key-ring.ts';
import { activityMetrics } from '../telemetry/activity-metrics.ts';
import { watchEventLoop } from '../telemetry/event-loop.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { WorkerTracing } from '../telemetry/worker-tracing.ts';
import { watchFleetFigures } from './fleet-figures.ts';
import { watchOpenWork } from './open-work.ts';

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
