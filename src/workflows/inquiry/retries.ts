/** Says which failures are retried without an operator, how long a retry waits, and what the run shows meanwhile. */
import type { InquiryFailure, RunConfig } from '../../activities/contract.ts';
import { FAILURES } from '../../model/failure-types.ts';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';
import type { InquiryProgress, InquiryRunState } from './inquiry-spec.ts';

/** Whether the run retries the failure without an operator: no request was sent. */
export function isRetried({ failureType, claimed }: InquiryFailure): boolean {
  const { retry } = FAILURES[failureType];
  return retry !== null && (retry.if === 'always' || !claimed);
}

/**
 * A pause has no known end, and `resume` wakes the run. If that signal is lost, the run resumes an hour late at most.
 */
const PAUSED_MAX_MS = 60 * 60_000;

/**
 * `Retry-After` if the gateway gave one, within bounds; else exponential. A paused inquiry asks again after as long as it
 * has waited already. Both have a jitter of one half.
 */
export function computeWaitMs(
  { retryAfterMs }: InquiryFailure,
  { backoffInitialMs, backoffMaxMs, retryAfterMaxMs }: RunConfig['settings'],
  { failures, pausedSinceMs }: Pick<InquiryRunState, 'failures' | 'pausedSinceMs'>,
): number {
  if (retryAfterMs !== undefined) return Math.max(1, Math.min(retryAfterMs, retryAfterMaxMs));
  const fullMs =
    pausedSinceMs === undefined
      ? Math.min(backoffInitialMs * 2 ** Math.min(failures, 20), backoffMaxMs)
      : Math.min(Math.max(Date.now() - pausedSinceMs, backoffInitialMs), PAUSED_MAX_MS);
  return Math.max(1, Math.round(fullMs * (0.5 + Math.random() / 2)));
}

/** Returns the text that the run shows while it waits. */
export function describeRetry({ failureType, httpStatus }: InquiryFailure, waitMs: number): string {
  const seconds = Math.round(waitMs / 100) / 10;
  const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
  return `waiting ${seconds} s: ${FAILURES[failureType].retry?.why ?? failureType}${status}`;
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
