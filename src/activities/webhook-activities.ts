/** The activities of events: one hands them to the delivery run, the other sends one of them once. */
import { activityInfo, cancellationSignal, getClient, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { parseWith } from '../fields/problems.ts';
import {
  type AddressedEvent,
  toWebhookDeliveryId,
  WEBHOOK_BACK_OFF,
  WEBHOOK_DELIVERY,
  WEBHOOK_FAILURES,
  type WebhookDeliveryInput,
} from '../messages/webhooks/delivery.ts';
import type { WebhookEvent } from '../messages/webhooks/events.ts';
import { webhookEventSchema } from '../messages/webhooks/schemas.ts';
import { InvalidInputError } from '../model/problems.ts';
import { WebhookError, type WebhookSender } from '../webhooks/sender.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createRetryableFailure, translateErrors } from './failures.ts';

const NO_PROFILE_FOR_MS = 86_400_000;

export function createQueueWebhooks(dependencies: ActivityDependencies) {
  return translateErrors({
    /**
     * Queues events, each known by its id. An event that is queued again, for example after a reset, is delivered at
     * most once more, under the same `webhook-id`.
     */
    queueWebhooks: async ({ profile: name, events }: { profile: string; events: WebhookEvent[] }) => {
      const profile = dependencies.config.profiles.get(name);
      if (!profile) {
        // During a deploy another worker may have the profile. Events must not keep a run of a removed one open for good.
        const waitedMs = Date.now() - activityInfo().scheduledTimestampMs;
        if (waitedMs < NO_PROFILE_FOR_MS) throw createRetryableFailure('ActivityFailed');
        log.warn('events were dropped: no worker has had their profile for a day');
        return { queued: 0 };
      }
      const { webhooks = [] } = profile;
      const addressed = events.map((event): AddressedEvent => {
        const takers = webhooks.filter((endpoint) => endpoint.events?.includes(event.type) ?? true);
        return { ...event, endpoints: takers.map((endpoint) => endpoint.name) };
      });
      const taken = addressed.filter(({ endpoints }) => endpoints.length > 0);
      if (taken.length === 0) return { queued: 0 };
      const { workflowExecution, taskQueue } = activityInfo();
      const workflowId = workflowExecution?.workflowId ?? '';
      const input: WebhookDeliveryInput = {
        environment: profile.environment,
        profile: name,
        settings: dependencies.config.webhooks,
        searchAttributes: await dependencies.registeredSearchAttributes(),
      };
      // Starts a delivery run if none is running. The signal is its first, so no event is lost in between.
      await getClient().workflow.signalWithStart(WEBHOOK_DELIVERY, {
        workflowId: toWebhookDeliveryId(workflowId),
        taskQueue,
        args: [input],
        signal: 'deliverEvents',
        signalArgs: [{ events: taken }],
        staticSummary: `events of ${workflowId}`,
      });
      return { queued: taken.length };
    },
  });
}

/** The activity of the webhooks queue. Temporal repeats it until the event is given up. */
export function createWebhookActivities({ config }: Pick<ActivityDependencies, 'config'>, sender: WebhookSender) {
  return {
    /**
     * @throws a type of `WEBHOOK_FAILURE_TYPES`, with `details[0] = { httpStatus? }`. Final: `WebhookGone` and
     *   `WebhookInvalid`
     */
    deliverWebhook: async (args: { profile: string; endpoint: string; event: WebhookEvent }) => {
      const { profile, endpoint: name, event } = args;
      try {
        const endpoint = config.profiles.get(profile)?.webhooks?.find((webhook) => webhook.name === name);
        if (!endpoint) throw new WebhookError('WebhookNotConfigured');
        // Drops members that the schema lacks: a sender that can write to a run must not get other content signed.
        const { id, type, timestamp, data } = event;
        const body = JSON.stringify(parseWith(webhookEventSchema, { type, timestamp, data }));
        return { httpStatus: await sender.send(endpoint, { id, body }, cancellationSignal()) };
      } catch (error) {
        throw translateError(error, config.protocol.retryAfterMaxMs, computeDelayMs(error));
      }
    },
  };
}

/**
 * Returns the delay before the next attempt where some attempts sent nothing, since the worker was busy: Temporal would
 * count them too. Each attempt hands their number to the next one.
 */
function computeDelayMs(error: unknown): number | undefined {
  const { attempt, heartbeatDetails } = activityInfo();
  const busy = typeof heartbeatDetails === 'number' ? heartbeatDetails : 0;
  if (error instanceof WebhookError && error.code === 'WebhookBusy') heartbeat(busy + 1);
  const { firstMs, coefficient, longestMs } = WEBHOOK_BACK_OFF;
  return busy === 0 ? undefined : Math.min(firstMs * coefficient ** (attempt - busy - 1), longestMs);
}

function translateError(error: unknown, retryAfterMaxMs: number, delayMs?: number): unknown {
  if (error instanceof CancelledFailure) return error;
  if (error instanceof InvalidInputError) return translateError(new WebhookError('WebhookInvalid'), retryAfterMaxMs);
  if (!(error instanceof WebhookError)) return createRetryableFailure('ActivityFailed');
  const { code, httpStatus, retryAfterMs } = error;
  return ApplicationFailure.create({
    type: code,
    message: WEBHOOK_FAILURES[code],
    nonRetryable: code === 'WebhookGone' || code === 'WebhookInvalid',
    details: [{ httpStatus }],
    nextRetryDelay: retryAfterMs === undefined ? delayMs : Math.min(Math.ceil(retryAfterMs), retryAfterMaxMs),
  });
}
