/** The activities as workflow code calls them. Every figure has its reason beside it. */
import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityFunctionWithOptions,
  type ActivityInterfaceFor,
  type ActivityOptions,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import type { GatewayActivities, RunActivities, WebhookActivities } from '../../activities/index.ts';
import { WEBHOOK_BACK_OFF, type WebhookSettings } from '../../messages/webhooks/delivery.ts';
import { FAILURE_TYPES } from '../../model/failure-types.ts';
import { toWebhookQueue } from '../../model/work-class.ts';
import { findApplicationFailure } from './failures.ts';

/**
 * Temporal never retries this activity, even if an operator has widened the retry policy (docs/protocol.md, fence 2).
 */
const NEVER_REPEATED = [...FAILURE_TYPES, 'TemporalTimeout:StartToClose', 'TemporalTimeout:Heartbeat'];
const ONCE = { maximumAttempts: 1, nonRetryableErrorTypes: NEVER_REPEATED };

/** Failures that no repetition mends. */
const FINAL = ['InvalidInput', 'LedgerChanged', 'ProfileChanged', 'RequestDiffers', 'PortfolioChanged'];

/** Reads, or writes that are idempotent: repeated without limit. */
export const runActivities = proxyActivities<RunActivities>({
  // Above the ledger's own time-outs.
  startToCloseTimeout: '20 seconds',
  // Limits how long a killed worker's activity is waited for: a live process reports each activity. Equals an attempt's
  // default. An activity that is mistaken for dead, such as a frozen one, does no harm.
  heartbeatTimeout: '10 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    // For outages.
    maximumInterval: '1 minute',
    nonRetryableErrorTypes: FINAL,
  },
});

/** Calls an activity by its name. The compiler would want arguments that fit every function of the union. */
export function callActivity<A extends Record<K, (args: never) => Promise<unknown>>, K extends string>(
  stubs: ActivityInterfaceFor<A>,
  name: K,
  options: ActivityOptions,
  args: Parameters<A[K]>[0],
): Promise<Awaited<ReturnType<A[K]>>> {
  const activity = stubs[name] as unknown as ActivityFunctionWithOptions<
    (args: unknown) => Promise<Awaited<ReturnType<A[K]>>>
  >;
  return activity.executeWithOptions(options, [args]);
}

/**
 * Runs an activity until it is done or has failed for a reason that no repetition mends. An operator may bound its
 * retries without the run's knowledge (`temporal activity update-options`, the server's default policy), or end it
 * (`temporal activity fail`). The run does not end by that: it schedules the activity again.
 *
 * @param onOutage called whenever the retries have run out
 * @throws ActivityFailure what the policy names as final, or a cancellation
 */
export async function repeatUntilDone<T>(
  what: string,
  run: (round: number) => Promise<T>,
  onOutage?: (error: unknown) => void,
): Promise<T> {
  for (let round = 0; ; round++) {
    try {
      return await run(round);
    } catch (error) {
      if (!hasRunOut(error)) throw error;
      onOutage?.(error);
      await sleep(computeBackOffMs(round), { summary: `${what} was given up: it is tried again` });
    }
  }
}

export function runUntilDone<K extends keyof RunActivities>(
  name: K,
  { summary }: { summary: string },
  args: Parameters<RunActivities[K]>[0],
): Promise<Awaited<ReturnType<RunActivities[K]>>> {
  return repeatUntilDone(name, () => callActivity<RunActivities, K>(runActivities, name, { summary }, args));
}

/** Runs `runUntilDone`; returns `ledgerChanged`, with nothing written, if another ledger answers than the run has used. */
export async function runUntilRecorded<K extends keyof RunActivities>(
  name: K,
  options: { summary: string },
  args: Parameters<RunActivities[K]>[0],
): Promise<Awaited<ReturnType<RunActivities[K]>> | 'ledgerChanged'> {
  try {
    return await runUntilDone(name, options, args);
  } catch (error) {
    if (findApplicationFailure(error)?.type !== 'LedgerChanged') throw error;
    return 'ledgerChanged';
  }
}

/** Whether an activity's retries have run out, or an operator has ended it, so that the same call could still succeed. */
function hasRunOut(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  if (error.retryState === 'MAXIMUM_ATTEMPTS_REACHED' || error.cause instanceof TimeoutFailure) return true;
  return error.cause instanceof ApplicationFailure && !FINAL.includes(error.cause.type ?? '');
}

/** 2 s at first, 5 minutes at most: an outage does not fill the history even if the server bounds all retries. */
export function computeBackOffMs(round: number): number {
  return Math.min(2_000 * 2 ** round, 300_000);
}

/** `submitInquiry`, with the figures that `prepareJourney` fixed for the run. */
export function submitInquiryFor(config: RunConfig, how: Pick<ActivityOptions, 'taskQueue' | 'summary' | 'priority'>) {
  return proxyActivities<GatewayActivities>({
    ...how,
    startToCloseTimeout: config.settings.submitTimeoutMs,
    heartbeatTimeout: config.settings.heartbeatTimeoutMs,
    // The activity honours a cancellation before the first byte and ignores it after that. Waits for the activity to
    // report which.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: ONCE,
  }).submitInquiry;
}

/** `deliverWebhook`, repeated by Temporal until the event is given up; each repetition sends it again. */
export function deliverWebhookFor({ giveUpAfterMs }: WebhookSettings, taskQueue: string, summary: string) {
  return proxyActivities<WebhookActivities>({
    taskQueue: toWebhookQueue(taskQueue),
    // Longer than the sender's limit of 15 s, so that it only ends attempts of a crashed worker.
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: giveUpAfterMs,
    // A delivery that has begun ends within its time-out: the same event is never sent twice at once.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      initialInterval: WEBHOOK_BACK_OFF.firstMs,
      backoffCoefficient: WEBHOOK_BACK_OFF.coefficient,
      maximumInterval: WEBHOOK_BACK_OFF.longestMs,
      nonRetryableErrorTypes: ['WebhookGone', 'WebhookInvalid'],
    },
    summary,
  }).deliverWebhook;
}
