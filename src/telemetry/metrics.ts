/**
 * Our own metrics, over the SDK's meter. No call throws, with any argument: an error here must not stop the measured
 * work.
 */
import type { MetricMeter, MetricTags } from '@temporalio/common';
import type { GatewayErrorCode } from '../gateway/errors.ts';
import { UNMATCHED, type Unmatched } from '../ledger/consents/kept-consents.ts';
import type { WorkCount, WorkKind } from '../ledger/holds/work.ts';
import type { LedgerOperation } from '../ledger/observed-ledger.ts';
import { PORTFOLIO_UNAVAILABLE } from '../messages/portfolio/limits.ts';
import { WEBHOOK_ATTENTION, WEBHOOK_FAILURE_TYPES } from '../messages/webhooks/delivery.ts';
import { FAILURE_TYPES, type FailureType } from '../model/failure-types.ts';
import { ATTEMPT_STATE_OF_FAILURE, REPORT_CHANGED, SSN_MISMATCH } from '../model/inquiry.ts';
import { PRODUCTS } from '../model/products.ts';
import type { ReportOutcome } from '../model/report-outcome.ts';
import { UNDECODABLE_REASONS, type UndecodableReason } from '../model/undecodable.ts';
import type { KeyUse } from '../protection/keys/key-ring-file.ts';
import type { VersionState } from '../temporal/worker-deployment.ts';
import { baseName, METRICS, type MetricKey, unitOf } from './metric-names.ts';

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
