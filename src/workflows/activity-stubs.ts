/** The activities as workflow code calls them. Every figure has its reason beside it. */
import type { Priority } from '@temporalio/common';
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { GatewayActivities, JourneyActivities, PreparedRun, WebhookActivities } from '../activities/contract.ts';
import { FAILURE_TYPES } from '../model/failure-types.ts';
import type { WebhookSettings } from '../model/webhook-delivery.ts';
import { gatewayQueueOf, webhookQueueOf } from '../task-queues.ts';

/** Never repeated by Temporal, even where an operator has widened the retry policy (docs/protocol.md, fence 2). */
const NEVER_REPEATED = [...FAILURE_TYPES, 'TemporalTimeout:StartToClose', 'TemporalTimeout:Heartbeat'];

/** Reads, or writes that are idempotent: repeated without limit, and no faster than once a minute in an outage. */
export const journeyActivities = proxyActivities<JourneyActivities>({
  // Above the ledger's own time-outs and the preflight's 10 s; what a killed worker had in hand stands still this long.
  startToCloseTimeout: '20 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    nonRetryableErrorTypes: ['InvalidInput', 'LedgerChanged', 'ProfileChanged', 'RequestDiffers', 'CredentialsRefused'],
  },
});

/** `compareReports`: idempotent, and nothing waits for it but the run's end. */
export const comparisonActivities = proxyActivities<Pick<JourneyActivities, 'compareReports'>>({
  // Two reports of 10,000 tradelines take a second or two, and a key management service may be slow.
  startToCloseTimeout: '1 minute',
  // A ledger that is gone for longer holds up the run's end for no more than this; the reports stay to be compared.
  scheduleToCloseTimeout: '1 hour',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    nonRetryableErrorTypes: ['InvalidInput', 'LedgerChanged'],
  },
});

/** `submitInquiry`, on the queue of its profile; with the figures that `prepareJourney` fixed for the run. */
export function submitInquiryOf(
  run: PreparedRun,
  taskQueue: string,
  { summary, priority }: { summary: string; priority: Priority },
): GatewayActivities['submitInquiry'] {
  return proxyActivities<GatewayActivities>({
    taskQueue: gatewayQueueOf(taskQueue, run.profile),
    startToCloseTimeout: run.settings.submitTimeoutMs,
    heartbeatTimeout: run.settings.heartbeatTimeoutMs,
    // Cancellation is honoured before the first byte and ignored after it: wait for the activity to say which.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: 1, nonRetryableErrorTypes: NEVER_REPEATED },
    summary,
    priority,
  }).submitInquiry;
}

/** `acquireToken`: repeated by Temporal while the token service is down, for as long as an inquiry is retried. */
export function acquireTokenOf(run: PreparedRun): JourneyActivities['acquireToken'] {
  return proxyActivities<JourneyActivities>({
    startToCloseTimeout: '1 minute',
    scheduleToCloseTimeout: run.settings.giveUpAfterMs,
    retry: {
      initialInterval: run.settings.backoffInitialMs,
      backoffCoefficient: 2,
      maximumInterval: run.settings.backoffMaxMs,
      nonRetryableErrorTypes: ['InvalidInput', 'CredentialsRefused'],
    },
    summary: 'waiting for the token service',
  }).acquireToken;
}

/** `queueWebhooks`: it asks nothing but Temporal, and events may not keep a run from its end for ever. */
export const queueWebhooks = proxyActivities<JourneyActivities>({
  startToCloseTimeout: '20 seconds',
  // A deploy that left a worker without the profile is noticed and undone within a day.
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
}).queueWebhooks;

/** `deliverWebhook`, repeated by Temporal until the event is given up; each repetition sends it again. */
export function deliverWebhookOf(
  { giveUpAfterMs }: WebhookSettings,
  taskQueue: string,
  summary: string,
): WebhookActivities['deliverWebhook'] {
  return proxyActivities<WebhookActivities>({
    taskQueue: webhookQueueOf(taskQueue),
    // Above the sender's own 15 s, so that what is cut off is a worker that died.
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: giveUpAfterMs,
    // Begun, it ends by itself within its time-out: the same event is never on two wires.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      // The steps that the specification advises begin with 5 s; an hour is as late as a repaired endpoint should hear.
      initialInterval: '5 seconds',
      backoffCoefficient: 3,
      maximumInterval: '1 hour',
      nonRetryableErrorTypes: ['WebhookGone', 'WebhookInvalid'],
    },
    summary,
  }).deliverWebhook;
}
