/** The queues of work, and the order in a full one: priorities, fairness. Pure. docs/operating.md */
import type { Priority } from '@temporalio/common';
import { omitUndefined } from '../base/defined.ts';

/** A person waits for `interactive` work; `batch` work uses the remaining capacity. */
export const WORK_CLASSES = ['interactive', 'batch'] as const;
export type WorkClass = (typeof WORK_CLASSES)[number];

/** The middle one of Temporal's five levels, which is the server's default, and the last one. */
const DEFAULT_KEY = 3;
const BATCH_KEY = 5;

/** The workflow type that is a batch, however it was started. */
const BATCH_WORKFLOW_TYPE = 'portfolioReview';

/**
 * The priority that a run is started with: its tasks, its activities and its child workflows inherit it. The server's
 * default is left unsaid: the Temporal UI gives each fact of the kind a line above the timeline, and the row of a hold
 * would leave the first screen.
 *
 * @internal
 */
export function toPriority(workClass: WorkClass, endUserCode?: string): Priority {
  // At most 16 characters (interface 2.1); Temporal takes 64 bytes.
  const fairness = omitUndefined({ fairnessKey: endUserCode });
  return workClass === 'batch' ? { ...fairness, priorityKey: BATCH_KEY } : fairness;
}

/**
 * The priority of one attempt. End users share by the code that the attempt is posted for, independent of the caller
 * and the kind of run. The class is the run's own, so a caller in any language sets it and may change it later. A batch
 * is always a batch.
 *
 * @internal
 */
export function toInquiryPriority(inquiry: { workflowType: string; endUserCode?: string }): Priority {
  return toPriority(inquiry.workflowType === BATCH_WORKFLOW_TYPE ? 'batch' : 'interactive', inquiry.endUserCode);
}

/** Whether no person waits for a run's work: by its type, or by the priority that it was started with. */
export function isBatch(workflowType: string, priorityKey: number | undefined): boolean {
  return workflowType === BATCH_WORKFLOW_TYPE || (priorityKey ?? DEFAULT_KEY) > DEFAULT_KEY;
}

/** The queue of one profile's `submitInquiry`: the only one with a rate limit (docs/operating.md). */
export function toGatewayQueue(taskQueue: string, profile: string): string {
  return `${taskQueue}-gateway-${profile}`;
}

/** The queue on which `deliverWebhook` runs: endpoints that hang take no slot from a journey. */
export function toWebhookQueue(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}
