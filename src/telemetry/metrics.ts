/** Every metric of our own: its name, its meaning, its labels. docs/metrics.md prints this table. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricMeter, MetricTags } from '@temporalio/common';
import type { GatewayErrorCode } from '../gateway/errors.ts';
import { UNMATCHED, type Unmatched } from '../ledger/kept-consents.ts';
import type { LedgerOperation } from '../ledger/observed-ledger.ts';
import type { WorkCount, WorkKind } from '../ledger/work.ts';
import { PORTFOLIO_UNAVAILABLE } from '../messages/portfolio/limits.ts';
import { WEBHOOK_ATTENTION, WEBHOOK_FAILURE_TYPES } from '../messages/webhooks/delivery.ts';
import { FAILURE_TYPES, type FailureType } from '../model/failure-types.ts';
import { ATTEMPT_STATE_OF_FAILURE, REPORT_CHANGED, SSN_MISMATCH } from '../model/inquiry.ts';
import { PRODUCTS } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import { UNDECODABLE_REASONS, type UndecodableReason } from '../model/undecodable.ts';
import type { KeyUse } from '../protection/keys/key-ring-file.ts';
import type { VersionState } from '../temporal/worker-deployment.ts';

interface MetricDefinition {
  /** The name in Prometheus: counters end in `_total`, times in `_seconds`. */
  name: string;
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
  /** Never an id, and only words of closed lists: products, reasons, profiles. */
  labels: readonly string[];
}

const PREFIX = 'credit_journey_';

export const METRICS = {
  attempts: {
    name: `${PREFIX}attempts_total`,
    kind: 'counter',
    help: 'Attempts that were claimed and made, by what came of them: answered, or the failure type',
    labels: ['product', 'result'],
  },
  inquiries: {
    name: `${PREFIX}inquiries_total`,
    kind: 'counter',
    help: 'Inquiries that were settled, by the gateway’s answer or by a person’s decision in a run',
    labels: ['product', 'outcome'],
  },
  timeToAnswer: {
    name: `${PREFIX}time_to_answer_seconds`,
    kind: 'histogram',
    help: 'From handing a request to its connection pool to the end of the gateway’s answer',
    labels: ['product'],
  },
  tokenFetches: {
    name: `${PREFIX}token_fetches_total`,
    kind: 'counter',
    help: 'Requests to the token service: fetched, or the failure type',
    labels: ['profile', 'result'],
  },
  ledgerLatency: {
    name: `${PREFIX}ledger_latency_seconds`,
    kind: 'histogram',
    help: 'How long the ledger took, by operation of its port',
    labels: ['operation', 'result'],
  },
  ledgerUp: {
    name: `${PREFIX}ledger_up`,
    kind: 'gauge',
    help: '1 where the ledger answered when it was last asked, else 0',
    labels: [],
  },
  temporalUp: {
    name: `${PREFIX}temporal_up`,
    kind: 'gauge',
    help: '1 where Temporal answered this worker when it was last asked, else 0',
    labels: [],
  },
  openHolds: {
    name: `${PREFIX}open_holds`,
    kind: 'gauge',
    help: 'Inquiries in the ledger that need a person, by reason; at most 1000 are looked at',
    labels: ['reason'],
  },
  oldestHoldAge: {
    name: `${PREFIX}oldest_hold_age_seconds`,
    kind: 'gauge',
    help: 'Age of the oldest inquiry in the ledger that needs a person, by reason; 0 where there is none',
    labels: ['reason'],
  },
  journeysNeedingAttention: {
    name: `${PREFIX}journeys_needing_attention`,
    kind: 'gauge',
    help: 'Running journeys whose NeedsAttention is set, by its value; also holds that came before any claim',
    labels: ['reason'],
  },
  inquiriesWithoutRun: {
    name: `${PREFIX}inquiries_without_run`,
    kind: 'gauge',
    help: 'Inquiries that may have been posted, without an outcome, and with no run that waits for one',
    labels: [],
  },
  unmatchedConsents: {
    name: `${PREFIX}unmatched_consents`,
    kind: 'gauge',
    help: 'Consents in the ledger that match no journey, share or applicant, by what is not known; at most 1000',
    labels: ['unmatched'],
  },
  oldestUnmatchedConsentAge: {
    name: `${PREFIX}oldest_unmatched_consent_age_seconds`,
    kind: 'gauge',
    help: 'Age of the oldest consent in the ledger that matches nothing; 0 where there is none',
    labels: [],
  },
  needsPerson: {
    name: `${PREFIX}needs_person`,
    kind: 'gauge',
    help: 'Rows of the ledger that need a person, as `credit-journey holds` lists them; each counted once',
    labels: ['kind', 'reason'],
  },
  runningRuns: {
    name: `${PREFIX}running_runs`,
    kind: 'gauge',
    help: 'Running journeys, pulls, shares and reviews by their JourneyStage: at the gate after it, or in flight',
    labels: ['stage'],
  },
  failingRuns: {
    name: `${PREFIX}failing_runs`,
    kind: 'gauge',
    help: 'Running workflows whose tasks fail again and again, by Temporal; absent where the server does not tell',
    labels: [],
  },
  taskBacklog: {
    name: `${PREFIX}task_backlog`,
    kind: 'gauge',
    help: 'Tasks that wait for a worker, by what the queue is for; the server’s own approximation',
    labels: ['queue'],
  },
  ledgerOlderCopy: {
    name: `${PREFIX}ledger_older_copy`,
    kind: 'gauge',
    help: '1 where the ledger lacks an attempt that runs have seen: an older copy, on which nothing is sent',
    labels: [],
  },
  ledgerLosesCommits: {
    name: `${PREFIX}ledger_loses_commits`,
    kind: 'gauge',
    help: '1 where a failover or a power cut may lose what the ledger has confirmed, as the last readiness probe found: production is not ready then',
    labels: [],
  },
  keyDaysLeft: {
    name: `${PREFIX}key_days_left`,
    kind: 'gauge',
    help: 'Days for which the current key may still encrypt, by its use; below 0 it is overdue',
    labels: ['use'],
  },
  started: {
    name: `${PREFIX}started_timestamp_seconds`,
    kind: 'gauge',
    help: 'When this worker’s process began, in seconds since the epoch',
    labels: [],
  },
  versionState: {
    name: `${PREFIX}version_state`,
    kind: 'gauge',
    help: '1 for the state that this worker’s version has; unversioned workers count as current',
    labels: ['build_id', 'state'],
  },
  deploymentHasCurrent: {
    name: `${PREFIX}deployment_has_current`,
    kind: 'gauge',
    help: '1 where some version of this worker’s deployment is current, or workers are unversioned, else 0',
    labels: [],
  },
  paused: {
    name: `${PREFIX}paused`,
    kind: 'gauge',
    help: '1 where a person has paused inquiries, of one profile or of all, else 0',
    labels: [],
  },
  webhooks: {
    name: `${PREFIX}webhooks_total`,
    kind: 'counter',
    help: 'Attempts to deliver an event to an endpoint: delivered, or the failure type',
    labels: ['result'],
  },
  undecodable: {
    name: `${PREFIX}undecodable_payloads_total`,
    kind: 'counter',
    help: 'Payloads that could not be decoded, each time one is met, by why',
    labels: ['reason'],
  },
  unknownKey: {
    name: `${PREFIX}unknown_key_total`,
    kind: 'counter',
    help: 'Payloads that wait for a key that the key ring lacks, each time one is met',
    labels: [],
  },
  markersBroken: {
    name: `${PREFIX}wire_markers_broken`,
    kind: 'gauge',
    help: '1 where an answer came to a request that undici never said it began to write: nothing is sent any more',
    labels: ['profile'],
  },
  eventLoopDelay: {
    name: `${PREFIX}event_loop_delay_seconds`,
    kind: 'gauge',
    help: 'What the longest of a hundred waits for the worker’s main thread took in the last few seconds (p99)',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricKey = keyof typeof METRICS;

/** Seconds. A gateway answers in about one; a request is given up after 90 at most (docs/configuration.md). */
const ANSWER_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 60, 90];
/** Seconds. A claim on a local disk takes less than a millisecond; the ledger's own time-outs are seconds. */
const LEDGER_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds. Finer than the SDK's own, for an alert at about 5 s. */
const SCHEDULE_TO_START_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

/** By the name without its unit, as the SDK requires. */
export const HISTOGRAM_BUCKETS: Readonly<Record<string, number[]>> = {
  [baseName(METRICS.timeToAnswer)]: ANSWER_BUCKETS,
  [baseName(METRICS.ledgerLatency)]: LEDGER_BUCKETS,
  activity_schedule_to_start_latency: SCHEDULE_TO_START_BUCKETS,
  workflow_task_schedule_to_start_latency: SCHEDULE_TO_START_BUCKETS,
};

/**
 * The name without the endings that the SDK's exporter adds by itself: to counters and histograms, and not to gauges.
 */
export function baseName({ name, kind }: MetricDefinition): string {
  switch (kind) {
    case 'counter':
      return name.replace(/_total$/, '');
    case 'histogram':
      return name.replace(/_seconds$/, '');
    case 'gauge':
      return name;
  }
}

export function unitOf({ name, kind }: MetricDefinition): 'seconds' | undefined {
  return kind === 'histogram' && name.endsWith('_seconds') ? 'seconds' : undefined;
}

// Our own metrics, over the SDK's meter. No call throws, with any argument: an error here must not stop the measured
// work.

/** Why something needs a person: in the ledger, or as a search attribute. */
export const ATTENTION_REASONS = [
  ...FAILURE_TYPES,
  'lateAnswer',
  'lateConsent',
  'revokedAfterPosting',
  SSN_MISMATCH,
  REPORT_CHANGED,
  PORTFOLIO_UNAVAILABLE,
  WEBHOOK_ATTENTION,
] as const;
export type AttentionWord = (typeof ATTENTION_REASONS)[number];

type InquiryOutcome = ReportOutcome | 'abandoned';

const OUTCOMES: readonly InquiryOutcome[] = ['record', 'noRecord', 'noReport', 'abandoned'];
const ATTEMPT_RESULTS = ['answered', ...FAILURE_TYPES.filter((type) => ATTEMPT_STATE_OF_FAILURE[type] !== null)];
const WEBHOOK_RESULTS = ['delivered', ...WEBHOOK_FAILURE_TYPES];
const TOKEN_RESULTS = ['fetched', 'TokenUnavailable', 'CredentialsRefused'] as const;

/** What a queue is for; the gateway queues of all profiles together. */
export type QueueKind = 'journeys' | 'gateway' | 'webhooks';

const WORK_KINDS: readonly WorkKind[] = ['held', 'flagged'];
export const RUN_STAGES = [...PRODUCTS, 'awaitingConsent'] as const;
export type RunStage = (typeof RUN_STAGES)[number];
const QUEUES: readonly QueueKind[] = ['journeys', 'gateway', 'webhooks'];
const UNVERSIONED = 'unversioned';
const VERSION_STATES: readonly VersionState[] = ['current', 'ramping', 'draining', 'drained', 'inactive', 'unknown'];

type Instrument = (value: number, labels?: MetricTags) => void;

/** A word of the label's list; any other word becomes `other`. */
function oneOf(list: readonly string[], word: unknown): string {
  return typeof word === 'string' && list.includes(word) ? word : 'other';
}

export class Metrics {
  readonly #instruments: Readonly<Record<MetricKey, Instrument>>;

  constructor(meter: MetricMeter) {
    const keys = Object.keys(METRICS) as MetricKey[];
    this.#instruments = Object.fromEntries(keys.map((key) => [key, instrument(meter, key)])) as Record<
      MetricKey,
      Instrument
    >;
  }

  /** Shows every series at 0. A counter that first appears at 1 would show no increase. */
  begin(profiles: Iterable<string>, buildId?: string): void {
    this.#put('started', performance.timeOrigin / 1_000);
    this.ledgerOlderCopy(false);
    this.ledgerLosesCommits(false);
    this.needsPerson([]);
    this.runningRuns(new Map());
    for (const queue of QUEUES) this.taskBacklog(queue, 0);
    // Until the server has answered, nothing is known to be amiss.
    if (buildId === undefined) this.version(UNVERSIONED, { state: 'current', hasCurrent: true });
    else this.version(buildId, { state: 'unknown', hasCurrent: true });
    for (const product of PRODUCTS) {
      for (const result of ATTEMPT_RESULTS) this.#put('attempts', 0, { product, result });
      for (const outcome of OUTCOMES) this.#put('inquiries', 0, { product, outcome });
    }
    for (const profile of profiles) {
      for (const result of TOKEN_RESULTS) this.#put('tokenFetches', 0, { profile, result });
      this.#put('markersBroken', 0, { profile });
    }
    for (const reason of UNDECODABLE_REASONS) this.#put('undecodable', 0, { reason });
    for (const result of WEBHOOK_RESULTS) this.#put('webhooks', 0, { result });
    this.#put('unknownKey', 0);
    this.eventLoopDelay(0);
    this.openWork({ holds: new Map(), attention: new Map(), withoutRun: 0 });
    this.unmatchedConsents({ counts: new Map(), oldestMs: 0 });
    this.paused(false);
  }

  attempt(product: unknown, result: 'answered' | FailureType): void {
    this.#put('attempts', 1, { product: oneOf(PRODUCTS, product), result: oneOf(ATTEMPT_RESULTS, result) });
  }

  inquiry(product: unknown, outcome: InquiryOutcome): void {
    this.#put('inquiries', 1, { product: oneOf(PRODUCTS, product), outcome: oneOf(OUTCOMES, outcome) });
  }

  timeToAnswer(product: string, durationMs: number): void {
    this.#put('timeToAnswer', durationMs / 1_000, { product: oneOf(PRODUCTS, product) });
  }

  tokenFetch(profile: string, failure: GatewayErrorCode | undefined): void {
    this.#put('tokenFetches', 1, { profile, result: oneOf(TOKEN_RESULTS, failure ?? 'fetched') });
  }

  ledgerOperation({ operation, durationMs, result }: LedgerOperation): void {
    this.#put('ledgerLatency', durationMs / 1_000, { operation, result });
  }

  ledgerUp(isUp: boolean): void {
    this.#put('ledgerUp', isUp ? 1 : 0);
  }

  temporalUp(isUp: boolean): void {
    this.#put('temporalUp', isUp ? 1 : 0);
  }

  markersBroken(profile: string, areBroken: boolean): void {
    this.#put('markersBroken', areBroken ? 1 : 0, { profile });
  }

  /** @param result `delivered`, or the type of the failure */
  webhook(result: unknown): void {
    this.#put('webhooks', 1, { result: oneOf(WEBHOOK_RESULTS, result) });
  }

  eventLoopDelay(delayMs: number): void {
    this.#put('eventLoopDelay', delayMs / 1_000);
  }

  undecodable(reason: UndecodableReason): void {
    this.#put('undecodable', 1, { reason });
  }

  unknownKey(): void {
    this.#put('unknownKey', 1);
  }

  /** Sets every reason each time, so that an ended one returns to 0. `undefined`: unknown this time, left as it is. */
  openWork({ holds, attention, withoutRun }: OpenWorkCounts): void {
    for (const reason of ATTENTION_REASONS) {
      const { count = 0, oldestMs = 0 } = holds.get(reason) ?? {};
      this.#put('openHolds', count, { reason });
      this.#put('oldestHoldAge', oldestMs / 1_000, { reason });
      if (attention) this.#put('journeysNeedingAttention', attention.get(reason) ?? 0, { reason });
    }
    if (withoutRun !== undefined) this.#put('inquiriesWithoutRun', withoutRun);
  }

  unmatchedConsents({ counts, oldestMs }: UnmatchedCounts): void {
    for (const unmatched of UNMATCHED) this.#put('unmatchedConsents', counts.get(unmatched) ?? 0, { unmatched });
    this.#put('oldestUnmatchedConsentAge', oldestMs / 1_000);
  }

  /** Sets every reason each time, so that an ended one returns to 0. */
  needsPerson(counts: readonly Pick<WorkCount, 'kind' | 'reason' | 'count'>[]): void {
    for (const kind of WORK_KINDS) {
      for (const reason of ATTENTION_REASONS) {
        const found = counts.filter((one) => one.kind === kind && one.reason === reason);
        this.#put('needsPerson', found[0]?.count ?? 0, { kind, reason });
      }
    }
  }

  runningRuns(counts: ReadonlyMap<RunStage, number>): void {
    for (const stage of RUN_STAGES) this.#put('runningRuns', counts.get(stage) ?? 0, { stage });
  }

  failingRuns(count: number): void {
    this.#put('failingRuns', count);
  }

  taskBacklog(queue: QueueKind, tasks: number): void {
    this.#put('taskBacklog', tasks, { queue });
  }

  ledgerOlderCopy(isOlder: boolean): void {
    this.#put('ledgerOlderCopy', isOlder ? 1 : 0);
  }

  ledgerLosesCommits(loses: boolean): void {
    this.#put('ledgerLosesCommits', loses ? 1 : 0);
  }

  keyDaysLeft(use: KeyUse, days: number): void {
    this.#put('keyDaysLeft', days, { use });
  }

  version(buildId: string, { state, hasCurrent }: { state: VersionState; hasCurrent: boolean }): void {
    for (const one of VERSION_STATES) {
      this.#put('versionState', one === state ? 1 : 0, { build_id: buildId, state: one });
    }
    this.#put('deploymentHasCurrent', hasCurrent ? 1 : 0);
  }

  paused(isPaused: boolean): void {
    this.#put('paused', isPaused ? 1 : 0);
  }

  #put(key: MetricKey, value: number, labels?: MetricTags): void {
    try {
      this.#instruments[key](value, labels);
    } catch {
      // The runtime is shutting down.
    }
  }
}

export interface UnmatchedCounts {
  counts: ReadonlyMap<Unmatched, number>;
  oldestMs: number;
}

export interface OpenWorkCounts {
  holds: ReadonlyMap<AttentionWord, { count: number; oldestMs: number }>;
  attention: ReadonlyMap<AttentionWord, number> | undefined;
  withoutRun: number | undefined;
}

function instrument(meter: MetricMeter, key: MetricKey): Instrument {
  const definition = METRICS[key];
  const [name, unit] = [baseName(definition), unitOf(definition)];
  switch (definition.kind) {
    case 'counter': {
      const counter = meter.createCounter(name, unit, definition.help);
      return (value, labels) => counter.add(value, labels);
    }
    case 'gauge': {
      const gauge = meter.createGauge(name, 'float', unit, definition.help);
      return (value, labels) => gauge.set(value, labels);
    }
    case 'histogram': {
      const histogram = meter.createHistogram(name, 'float', unit, definition.help);
      return (value, labels) => histogram.record(value, labels);
    }
  }
}

// Measures how long the worker's main thread blocked all other work: ledger, gateway and messages all run on it.

/** The interval of Node's timer; its figures include the interval itself. */
const RESOLUTION_MS = 10;

/** Measures until it is closed, and shows the 99th percentile of each interval's waits. */
export function watchEventLoop(metrics: Metrics, everyMs: number): { close(): void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const timer = setInterval(() => {
    metrics.eventLoopDelay(Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS));
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
