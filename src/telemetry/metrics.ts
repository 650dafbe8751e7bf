/** Every metric of our own: its name, its meaning, its labels and their words. docs/metrics.md prints this table. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricMeter, MetricTags } from '@temporalio/common';
import type { OperatorTask } from '../ledger/holds/holds.ts';
import { UNMATCHED } from '../messages/journey/shapes.ts';
import { PORTFOLIO_UNAVAILABLE } from '../messages/portfolio/limits.ts';
import { WEBHOOK_ATTENTION, WEBHOOK_FAILURE_TYPES } from '../messages/webhooks/delivery.ts';
import { FAILURE_TYPES, FAILURES } from '../model/failure-types.ts';
import { LATE_NEWS, REPORT_CHANGED, SSN_MISMATCH } from '../model/inquiry.ts';
import { PRODUCTS } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import { UNDECODABLE_REASONS } from '../model/undecodable.ts';
import { VERSION_STATES, type VersionState } from '../temporal/worker-deployment.ts';

/** Why something needs a person. */
const ATTENTION_REASONS = [
  ...FAILURE_TYPES,
  ...LATE_NEWS,
  SSN_MISMATCH,
  REPORT_CHANGED,
  PORTFOLIO_UNAVAILABLE,
  WEBHOOK_ATTENTION,
  ...UNMATCHED,
] as const;

const OUTCOMES = ['record', 'noRecord', 'noReport', 'abandoned'] as const satisfies readonly (
  | ReportOutcome
  | 'abandoned'
)[];
const ATTEMPT_RESULTS = ['answered', ...FAILURE_TYPES.filter((type) => FAILURES[type].state !== null)];
const WEBHOOK_RESULTS = ['delivered', ...WEBHOOK_FAILURE_TYPES];
const TOKEN_RESULTS = ['fetched', 'TokenUnavailable', 'CredentialsRefused'] as const;

/** Rows of the ledger by kind, its consents that match nothing, and runs that have no row. */
const WORK_KINDS = [...(['held', 'flagged'] satisfies OperatorTask['kind'][]), 'unmatched', 'runs'];
/** Kinds of queues; the gateway queues of all profiles count together. */
const QUEUES = ['journeys', 'gateway', 'webhooks'] as const;
export type QueueKind = (typeof QUEUES)[number];

/** The label's permitted values, by name; `null` for names from the configuration. Never an id. */
type LabelWords = Readonly<Record<string, readonly string[] | null>>;

interface MetricDefinition {
  /** The name in Prometheus. */
  name: string;
  /** The name without the ending that the SDK's exporter adds to counters and histograms, but not to gauges. */
  base: string;
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: LabelWords;
  /** Upper bounds in seconds, of a histogram. */
  buckets?: number[];
  unknownAtFirst?: true;
}

const PREFIX = 'credit_journey_';

function counter<const L extends LabelWords = Record<never, never>>(name: string, help: string, labels = {} as L) {
  return { name: `${PREFIX}${name}_total`, base: `${PREFIX}${name}`, kind: 'counter' as const, help, labels };
}

function gauge<const L extends LabelWords = Record<never, never>>(name: string, help: string, labels = {} as L) {
  return { name: `${PREFIX}${name}`, base: `${PREFIX}${name}`, kind: 'gauge' as const, help, labels };
}

function histogram<const L extends LabelWords>(name: string, buckets: number[], help: string, labels: L) {
  const kind = 'histogram' as const;
  return { name: `${PREFIX}${name}_seconds`, base: `${PREFIX}${name}`, kind, help, labels, buckets };
}

/** A gauge that begins with its first known value, and not at 0. */
function reading(name: string, help: string) {
  return { ...gauge(name, help), unknownAtFirst: true as const };
}

/** Seconds. A gateway answers in about one; a request is given up after 90 at most (docs/configuration.md). */
const ANSWER_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 60, 90];
/** Seconds. A claim on a local disk takes less than a millisecond; the ledger's own time-outs are seconds. */
const LEDGER_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds. Most are milliseconds; an update waits for a worker for up to 15 s; a feed of statuses stays open. */
const HTTP_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
/** Seconds. Finer than the SDK's own, for an alert at about 5 s. */
const SCHEDULE_TO_START_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

export const METRICS = {
  attempts: counter('attempts', 'Attempts that were claimed and made, by outcome: answered, or the failure type', {
    product: PRODUCTS,
    result: ATTEMPT_RESULTS,
  }),
  inquiries: counter(
    'inquiries',
    'Inquiries that were settled, by the gateway’s answer or by an operator’s decision in a run',
    { product: PRODUCTS, outcome: OUTCOMES },
  ),
  timeToAnswer: histogram(
    'time_to_answer',
    ANSWER_BUCKETS,
    'From handing a request to its connection pool to the end of the gateway’s answer',
    { product: PRODUCTS },
  ),
  tokenFetches: counter('token_fetches', 'Requests to the token service: fetched, or the failure type', {
    profile: null,
    result: TOKEN_RESULTS,
  }),
  ledgerLatency: histogram('ledger_latency', LEDGER_BUCKETS, 'How long the ledger took, by its function', {
    operation: null,
    result: null,
  }),
  ledgerUp: reading('ledger_up', '1 where the ledger answered when it was last asked, else 0'),
  temporalUp: reading('temporal_up', '1 where Temporal answered this worker when it was last asked, else 0'),
  needsPerson: gauge(
    'needs_person',
    'What needs a person, each thing once; kinds held and flagged: as `credit-journey holds` lists it; kind runs: without a row of this ledger',
    { kind: WORK_KINDS, reason: ATTENTION_REASONS },
  ),
  oldestAge: gauge(
    'needs_person_oldest_age_seconds',
    'Age of the oldest of them; 0 where there is none, and for runs',
    { kind: WORK_KINDS, reason: ATTENTION_REASONS },
  ),
  runningRuns: gauge(
    'running_runs',
    'Running journeys, pulls, shares and reviews by their JourneyStage: at the gate after it, or in flight',
    { stage: PRODUCTS },
  ),
  failingRuns: reading(
    'failing_runs',
    'Running workflows whose tasks fail again and again, as Temporal reports them; absent where the server does not',
  ),
  taskBacklog: gauge(
    'task_backlog',
    'Tasks that wait for a worker, by what the queue is for; the server’s own approximation',
    { queue: QUEUES },
  ),
  ledgerOlderCopy: gauge(
    'ledger_older_copy',
    '1 where the ledger lacks an attempt that runs have seen: an older copy, on which nothing is sent',
  ),
  ledgerLosesCommits: gauge(
    'ledger_loses_commits',
    '1 where a failover or a power cut may lose what the ledger has confirmed, as the last readiness probe found: production is not ready then',
  ),
  keyDaysLeft: gauge(
    'key_days_left',
    'Days for which the current key may still encrypt, by its use; below 0 it is overdue',
    { use: null },
  ),
  started: reading('started_timestamp_seconds', 'When this process began, in seconds since the epoch'),
  versionState: gauge(
    'version_state',
    '1 for the state that this worker’s version has; unversioned workers are current, or inactive while a version is',
    { build_id: null, state: VERSION_STATES },
  ),
  deploymentHasCurrent: reading(
    'deployment_has_current',
    '1 where some version of this worker’s deployment is current, or workers are unversioned, else 0',
  ),
  paused: gauge('paused', '1 where an operator has paused inquiries, of one profile or of all, else 0'),
  webhooks: counter('webhooks', 'Attempts to deliver an event to an endpoint: delivered, or the failure type', {
    result: WEBHOOK_RESULTS,
  }),
  undecodable: counter('undecodable_payloads', 'Payloads that could not be decoded, each time one is met, by why', {
    reason: UNDECODABLE_REASONS,
  }),
  unknownKey: counter('unknown_key', 'Payloads that wait for a key that the key ring lacks, each time one is met'),
  startsAreUnreported: gauge(
    'wire_markers_broken',
    '1 where a request was answered that undici had not reported as begun: the worker sends nothing more',
    { profile: null },
  ),
  httpRequests: counter(
    'http_requests',
    'Requests that the HTTP API or the codec server answered; other: an unknown address',
    { service: null, operation: null, status: null },
  ),
  httpSeconds: histogram('http_request', HTTP_BUCKETS, 'From the beginning of a request to the end of its answer', {
    service: null,
    operation: null,
  }),
  eventLoopDelay: gauge(
    'event_loop_delay_seconds',
    'How long the worker’s main thread made others wait in the last few seconds (p99)',
  ),
} satisfies Record<string, MetricDefinition>;

type MetricKey = keyof typeof METRICS;
const KEYS = Object.keys(METRICS) as MetricKey[];

/** By the name without its unit, as the SDK requires. */
export const HISTOGRAM_BUCKETS: Readonly<Record<string, number[]>> = {
  ...Object.fromEntries(
    Object.values<MetricDefinition>(METRICS).flatMap(({ base, buckets }) => (buckets ? [[base, buckets]] : [])),
  ),
  activity_schedule_to_start_latency: SCHEDULE_TO_START_BUCKETS,
  workflow_task_schedule_to_start_latency: SCHEDULE_TO_START_BUCKETS,
};

type Instrument = (value: number, labels?: MetricTags) => void;

/** The labels of a metric. A word that is not of the label's list becomes `other`. */
type Labels<K extends MetricKey> = Readonly<Record<keyof (typeof METRICS)[K]['labels'], unknown>>;

/** The metrics over the SDK's meter. No call throws: an error here must not stop the measured work. */
export class Metrics {
  readonly #instruments: Readonly<Record<MetricKey, Instrument>>;

  constructor(meter: MetricMeter) {
    const entries = KEYS.map((key) => [key, createInstrument(meter, METRICS[key])]);
    this.#instruments = Object.fromEntries(entries) as Record<MetricKey, Instrument>;
  }

  /** Shows every series at 0. A counter that first appears at 1 would show no increase. */
  begin(profiles: Iterable<string>, buildId?: string): void {
    const names = [...profiles];
    for (const key of KEYS) {
      const { kind, labels, unknownAtFirst }: MetricDefinition = METRICS[key];
      const isUnknown = Object.entries(labels).some(([name, words]) => words === null && name !== 'profile');
      if (kind === 'histogram' || unknownAtFirst || isUnknown) continue;
      for (const profile of 'profile' in labels ? names : ['']) this.setEach(key, () => 0, { profile });
    }
    this.put('started', performance.timeOrigin / 1_000, {});
    // Assumes the good state until the server has answered.
    this.version(buildId, { state: buildId === undefined ? 'current' : 'unknown', hasCurrent: true });
  }

  /** Adds to a counter, sets a gauge, or records into a histogram. */
  put<K extends MetricKey>(key: K, value: number | boolean, labels: Labels<K>): void {
    const tags = Object.entries<readonly string[] | null>(METRICS[key].labels).map(([name, words]) => {
      const word = String((labels as Record<string, unknown>)[name]);
      return [name, words === null || words.includes(word) ? word : 'other'];
    });
    try {
      this.#instruments[key](Number(value), Object.fromEntries(tags));
    } catch {
      // The runtime is shutting down.
    }
  }

  /**
   * Puts a value for each combination of a metric's words, so that a series that has ended returns to 0. Where nothing
   * is read, the series keeps its value.
   *
   * @param others labels that have no list of words
   */
  setEach(key: MetricKey, read: (labels: MetricTags) => number | boolean | undefined, others: MetricTags = {}): void {
    let series: MetricTags[] = [others];
    for (const [name, words] of Object.entries<readonly string[] | null>(METRICS[key].labels)) {
      if (words) series = series.flatMap((labels) => words.map((word) => ({ ...labels, [name]: word })));
    }
    for (const labels of series) {
      const value = read(labels);
      if (value !== undefined) this.put(key, value, labels as Labels<MetricKey>);
    }
  }

  version(buildId: string | undefined, { state, hasCurrent }: { state: VersionState; hasCurrent: boolean }): void {
    this.setEach('versionState', (labels) => labels.state === state, { build_id: buildId ?? 'unversioned' });
    this.put('deploymentHasCurrent', hasCurrent, {});
  }
}

function createInstrument(meter: MetricMeter, { base, kind, help }: MetricDefinition): Instrument {
  if (kind === 'counter') {
    const metric = meter.createCounter(base, undefined, help);
    return (value, labels) => metric.add(value, labels);
  }
  if (kind === 'gauge') {
    const metric = meter.createGauge(base, 'float', undefined, help);
    return (value, labels) => metric.set(value, labels);
  }
  const metric = meter.createHistogram(base, 'float', 'seconds', help);
  return (value, labels) => metric.record(value, labels);
}

/** The interval of Node's timer; its figures include the interval itself. */
const RESOLUTION_MS = 10;

/**
 * Measures until it is closed how long the worker's main thread blocked all other work, and shows the 99th percentile of
 * each interval's waits. Ledger, gateway and messages all run on that thread.
 */
export function watchEventLoop(metrics: Metrics, everyMs: number): { close(): void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const timer = setInterval(() => {
    metrics.put('eventLoopDelay', Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS) / 1_000, {});
    delays.reset();
  }, everyMs);
  timer.unref();
  return {
    close() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
