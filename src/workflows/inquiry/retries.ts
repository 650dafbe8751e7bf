/** Says which failures are retried without an operator, how long a retry waits, and what the run shows meanwhile. */
import type { InquiryFailure, RunConfig } from '../../activities/contract.ts';
import { FAILURES } from '../../model/failure-types.ts';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';
import type { InFlightActivities } from '../run/in-flight-activities.ts';
import type { InquiryProgress } from './inquiry-spec.ts';

/** Whether the run retries the failure without an operator: no request was sent. */
export function isRetried({ failureType, claimed }: InquiryFailure): boolean {
  const { retry } = FAILURES[failureType];
  return retry !== null && (retry.if === 'always' || !claimed);
}

/**
 * `Retry-After` if the gateway gave one, within bounds; else exponential, with jitter of one half.
 *
 * @param failures retries in a row so far
 */
export function computeBackoffMs(
  { retryAfterMs }: InquiryFailure,
  settings: RunConfig['settings'],
  failures: number,
): number {
  if (retryAfterMs !== undefined) return Math.max(1, Math.min(retryAfterMs, settings.retryAfterMaxMs));
  const fullMs = Math.min(settings.backoffInitialMs * 2 ** Math.min(failures, 20), settings.backoffMaxMs);
  return withJitter(fullMs);
}

/**
 * A pause has no known end, and `resume` wakes the run. If that signal is lost, the run resumes an hour late at most.
 */
const PAUSED_MAX_MS = 60 * 60_000;

function withJitter(fullMs: number): number {
  return Math.max(1, Math.round(fullMs * (0.5 + Math.random() / 2)));
}

/** Returns the text that the run shows while it waits. */
export function describeRetry({ failureType, httpStatus }: InquiryFailure, waitMs: number): string {
  const seconds = Math.round(waitMs / 100) / 10;
  const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
  return `waiting ${seconds} s: ${FAILURES[failureType].retry?.why ?? failureType}${status}`;
}

/** The pause that keeps an inquiry from being sent: since when it is known, and whether a signal named its end. */
export class PauseWait {
  readonly #inFlight: Pick<InFlightActivities, 'resumptions'>;
  /** Count of resumptions when the latest attempt began. A later one may be about the pause that the attempt met. */
  #resumptions = 0;
  #sinceMs: number | undefined;

  /** @param sinceMs state from continue-as-new */
  constructor(inFlight: Pick<InFlightActivities, 'resumptions'>, sinceMs: number | undefined) {
    this.#inFlight = inFlight;
    this.#sinceMs = sinceMs;
  }

  /** When the pause was met; absent while there is none. */
  get carried(): { pausedSinceMs?: number } {
    return this.#sinceMs === undefined ? {} : { pausedSinceMs: this.#sinceMs };
  }

  /** Whether a signal about the end of a pause came after the latest attempt began. */
  get isOver(): boolean {
    return this.#sinceMs !== undefined && this.#inFlight.resumptions > this.#resumptions;
  }

  beginAttempt(): void {
    this.#resumptions = this.#inFlight.resumptions;
  }

  /** Takes note of a failure. Returns how long the pause lasted that it shows to be over, else 0. */
  note({ failureType }: InquiryFailure): number {
    const sinceMs = this.#sinceMs;
    this.#sinceMs = failureType === 'Paused' ? (sinceMs ?? Date.now()) : undefined;
    return sinceMs === undefined || this.#sinceMs !== undefined ? 0 : Date.now() - sinceMs;
  }

  /** How long the inquiry waits until it asks again: as long as it has waited already, with jitter of one half. */
  waitMs({ backoffInitialMs }: RunConfig['settings']): number {
    const pausedForMs = Date.now() - (this.#sinceMs ?? Date.now());
    return withJitter(Math.min(Math.max(pausedForMs, backoffInitialMs), PAUSED_MAX_MS));
  }
}

/** Most throttled or lost attempts get through within seconds. */
const LISTED_FROM_MS = 5_000;

/**
 * Returns the reason that the lists show for a retried inquiry; `undefined` for a short wait. The inquiry shows it until
 * an attempt gets through or an operator must decide. Each change costs an event.
 */
export function findListedReason({ failureType }: InquiryFailure, waitsMs: number): WaitsFor | undefined {
  return waitsMs < LISTED_FROM_MS ? undefined : (FAILURES[failureType].retry?.waitsFor ?? undefined);
}

/**
 * Returns the attributes that change only while an attempt is made, which takes seconds: the next stage, and the end of
 * a wait. An attempt in the gateway queue may wait for long.
 */
export function selectTransientAttributes(
  { submitsOnWorkflowQueue }: Pick<RunConfig, 'submitsOnWorkflowQueue'>,
  { state, waitingFor, isQueued }: Pick<InquiryProgress, 'state' | 'waitingFor' | 'isQueued'>,
): readonly SearchAttributeName[] {
  if (submitsOnWorkflowQueue !== true || state !== 'running' || waitingFor !== undefined) return [];
  return isQueued ? ['JourneyStage'] : ['JourneyStage', 'WaitsFor'];
}
