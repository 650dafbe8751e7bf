import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { ApplicationFailure, ChildWorkflowCancellationType, executeChild, workflowInfo } from '@temporalio/workflow';
import type { PortfolioResult, ScheduledReviewInput } from '../../messages/portfolio/shapes.ts';
import { ownerIdOf, workflowIdOf } from '../../model/owner-id.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { priorityOf } from '../../model/work-class.ts';
import { pinnedWhereVersioned } from '../run/pinned-versions.ts';
import { undecodableInput } from '../run/undecodable-input.ts';
import type { portfolioReview } from './portfolio-review.ts';

/** When the schedule wanted it, before any jitter; the server sets it. */
const SCHEDULED_FOR = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/**
 * One run of a schedule: a `portfolioReview` with an id of its own, made of the schedule's and of the time, so that each
 * asks anew for each row. It lasts as long as the review, so that the schedule's overlap policy is about reviews.
 *
 * @throws the failure of the review
 */
export async function scheduledReview(input: ScheduledReviewInput): Promise<PortfolioResult> {
  if (isUndecodable(input)) throw undecodableInput(input);
  const { scheduleId, order } = input;
  const scheduledFor = workflowInfo().typedSearchAttributes.get(SCHEDULED_FOR);
  if (!scheduledFor) {
    const problems = [{ path: '', rule: 'must be started by a schedule' }];
    throw ApplicationFailure.create({ type: 'InvalidInput', nonRetryable: true, details: [{ problems }] });
  }
  const reviewId = `${scheduleId}-${scheduledFor.toISOString().replace(/[-:]|\.\d+/g, '')}`;
  return executeChild<typeof portfolioReview>('portfolioReview', {
    workflowId: workflowIdOf(ownerIdOf('portfolio', reviewId)),
    args: [{ reviewId, ...order }],
    // Attempts in flight land, and what came of them is written, however this run ends.
    parentClosePolicy: 'REQUEST_CANCEL',
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    priority: priorityOf('batch', order.endUserCode),
    staticSummary: `portfolio ${reviewId} · ${order.endUserCode}`,
  });
}

pinnedWhereVersioned(scheduledReview);
