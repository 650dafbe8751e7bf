/** Deliveries of events that are under way or have failed, and what an operator does about them. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { runInParallel } from '../base/in-parallel.ts';
import { hasCode, translateCallError } from '../client/connection/errors.ts';
import {
  type ChosenEvents,
  toWebhookDeliveryId,
  WEBHOOK_ATTENTION,
  WEBHOOK_DELIVERY,
  type WebhookDeliveryStatus,
} from '../messages/webhooks/delivery.ts';
import { CreditJourneyError } from '../model/credit-journey-error.ts';
import { formatRunName, parseWorkflowId, toTaskQueueFilter, toWorkflowId } from '../model/run-key.ts';
import { listRegisteredSearchAttributes } from '../temporal/registered-search-attributes.ts';

const AT_ONCE = 8;

/** Each delivery takes one query. */
export const MOST_DELIVERIES = 500;

/** Thrown when no run delivers these events: all were delivered, or kept until their time was over. */
export class NothingToDeliverError extends CreditJourneyError {
  override readonly code = 'nothingToDeliver';
}

/**
 * Lists the unfinished deliveries of this task queue, at most `MOST_DELIVERIES`, the oldest first, and the keys
 * of runs whose delivery no worker answered for.
 *
 * @param failed only those that have given an event up
 * @throws CallError
 */
export async function openDeliveries(client: Client, taskQueue: string, { failed }: { failed: boolean }) {
  const unanswered: string[] = [];
  try {
    const workflowIds = await listRunningDeliveries(client, taskQueue, failed);
    const found = await runInParallel(workflowIds, AT_ONCE, async (workflowId) => {
      const own = workflowId.slice(toWebhookDeliveryId('').length);
      const runKey = parseWorkflowId(own) ?? own;
      // Each time-out takes long. After this many without an answer, no worker is assumed to answer.
      if (unanswered.length < AT_ONCE) {
        try {
          const handle = client.workflow.getHandle(workflowId);
          const status = await handle.query<WebhookDeliveryStatus>('webhookStatus');
          return failed && !hasFailed(status) ? [] : [{ runKey, ...status }];
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return [];
          if (!hasCode(translateCallError(error, runKey), 'workerUnavailable')) throw error;
        }
      }
      unanswered.push(runKey);
      return [];
    });
    return { data: found.flat(), hasMore: workflowIds.length >= MOST_DELIVERIES, unanswered };
  } catch (error) {
    throw translateCallError(error, '');
  }
}

export function hasFailed({ endpoints }: WebhookDeliveryStatus): boolean {
  return endpoints.some((endpoint) => endpoint.failed.length > 0);
}

async function listRunningDeliveries(client: Client, taskQueue: string, failed: boolean): Promise<string[]> {
  const { connection, options, workflow } = client;
  const registered = failed ? await listRegisteredSearchAttributes(connection, options.namespace)() : [];
  const query = [
    `WorkflowType = '${WEBHOOK_DELIVERY}'`,
    "ExecutionStatus = 'Running'",
    toTaskQueueFilter(taskQueue),
    // If the attribute is not registered, every delivery is asked.
    ...(registered.includes('NeedsAttention') ? [`NeedsAttention = '${WEBHOOK_ATTENTION}'`] : []),
  ].join(' AND ');
  const workflowIds: string[] = [];
  for await (const { workflowId } of workflow.list({ query })) {
    workflowIds.push(workflowId);
    if (workflowIds.length >= MOST_DELIVERIES) break;
  }
  return workflowIds.reverse();
}

/**
 * Sends failed events again, and waiting events now.
 *
 * @param runKey of the run that the events are of: `J-1`, `pull:P-1`, `share:S-1`
 * @throws NothingToDeliverError, CallError
 */
export async function resendEvents(client: Client, runKey: string): Promise<ChosenEvents> {
  const handle = client.workflow.getHandle(toWebhookDeliveryId(toWorkflowId(runKey)));
  try {
    return await handle.executeUpdate<ChosenEvents, []>('resendWebhooks');
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw new NothingToDeliverError(`no event of ${formatRunName(runKey)} waits or has failed`);
    }
    throw translateCallError(error, runKey);
  }
}
