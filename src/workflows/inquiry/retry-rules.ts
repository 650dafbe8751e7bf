/** Which failures are retried without a person, how long a retry waits, and what the run says about it meanwhile. */
import type { InquiryFailure, PreparedRun } from '../../activities/contract.ts';
import { RETRIED_BY_THEMSELVES } from '../../model/failure-types.ts';

/** Whether a failure is on the allow-list, or the activity failed before it claimed anything: then nothing was sent. */
export function isRetried(failure: InquiryFailure): boolean {
  if (failure.failureType === 'ActivityFailed') return !failure.claimed;
  return (RETRIED_BY_THEMSELVES as readonly string[]).includes(failure.failureType);
}

/**
 * `Retry-After` where the gateway gave one, within bounds; else exponential, with jitter of one half.
 *
 * @param failures retries in a row so far
 */
export function backOffMs(
  { retryAfterMs }: InquiryFailure,
  settings: PreparedRun['settings'],
  failures: number,
): number {
  if (retryAfterMs !== undefined) return Math.max(1, Math.min(retryAfterMs, settings.retryAfterMaxMs));
  const fullMs = Math.min(settings.backoffInitialMs * 2 ** Math.min(failures, 20), settings.backoffMaxMs);
  return withJitter(fullMs);
}

/**
 * A pause has no known end, and `resume` wakes the run: an hour is how late it goes on where that signal was lost.
 */
const PAUSED_MAX_MS = 60 * 60_000;

/**
 * How long a paused inquiry waits until it asks again: as long as it has waited already, with jitter of one half.
 *
 * @param pausedForMs since it first met the pause
 */
export function pausedWaitMs({ backoffInitialMs }: PreparedRun['settings'], pausedForMs: number): number {
  const fullMs = Math.min(Math.max(pausedForMs, backoffInitialMs), PAUSED_MAX_MS);
  return withJitter(fullMs);
}

function withJitter(fullMs: number): number {
  return Math.max(1, Math.round(fullMs * (0.5 + Math.random() / 2)));
}

/** What the run says while it waits. */
export function retrySummary({ failureType, httpStatus }: InquiryFailure, waitMs: number): string {
  const seconds = Math.round(waitMs / 100) / 10;
  const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
  return `waiting ${seconds} s: ${WHY_WAITING[failureType] ?? failureType}${status}`;
}

const WHY_WAITING: Partial<Record<string, string>> = {
  TokenUnavailable: 'the token service is not answering',
  LedgerUnavailable: 'the ledger cannot be reached',
  LedgerRestored: 'an older copy of the ledger was put back, which somebody has to accept',
  Paused: 'inquiries are paused, until a person resumes them',
  GatewayUnreachable: 'the gateway cannot be reached',
  Throttled: 'the gateway said to wait',
  ActivityFailed: 'the attempt failed before it was claimed',
};
