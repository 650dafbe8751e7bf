/** Every metric of our own: its name, its meaning, its labels. docs/metrics.md prints this table. */

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
