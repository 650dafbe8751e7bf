/** Which work goes first where a queue is longer than its limit, and whose turn it is. Pure. docs/operating.md */
import type { Priority } from '@temporalio/common';

/** Somebody waits for what is `interactive`; `batch` takes what is left. */
export const WORK_CLASSES = ['interactive', 'batch'] as const;
export type WorkClass = (typeof WORK_CLASSES)[number];

/** Of Temporal's five levels the middle one, which a start without a priority has too, and the last. */
const PRIORITY_KEYS: Record<WorkClass, number> = { interactive: 3, batch: 5 };

/** Workflow types that are batches, however they were started. */
const BATCH_WORKFLOW_TYPES: readonly string[] = ['portfolioReview'];

export function workClassOf(workflowType: string): WorkClass {
  return BATCH_WORKFLOW_TYPES.includes(workflowType) ? 'batch' : 'interactive';
}

/** What a run is started with: its tasks, its activities and its child workflows inherit it. */
export function priorityOf(workClass: WorkClass, endUserCode?: string): Priority {
  return { priorityKey: PRIORITY_KEYS[workClass], ...fairnessOf(endUserCode) };
}

/**
 * Of one attempt. End users share by the code that it is posted for, whoever started the run and however. The class is
 * the run's own, so that whoever starts a run in another language, or changes it later, decides; a batch is one always.
 */
export function inquiryPriority(inquiry: { workflowType: string; endUserCode?: string }): Priority {
  if (workClassOf(inquiry.workflowType) === 'batch') return priorityOf('batch', inquiry.endUserCode);
  return fairnessOf(inquiry.endUserCode);
}

/** At most 16 characters (interface 2.1); Temporal takes 64 bytes. */
function fairnessOf(endUserCode: string | undefined): Priority {
  return endUserCode === undefined ? {} : { fairnessKey: endUserCode };
}
