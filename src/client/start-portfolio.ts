/** Starts a portfolio review, once: a start that is repeated finds the first, and one that differs is refused. */
import { isDeepStrictEqual } from 'node:util';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ownerIdOf, workflowIdOf } from '../model/owner-id.ts';
import type { PortfolioReviewInput } from '../model/portfolio-shapes.ts';
import { priorityOf } from '../model/work-class.ts';
import { translated } from './error-translation.ts';
import { PortfolioDiffersError } from './errors.ts';
import { type StartPullContext, startedInput } from './start-pull.ts';

export const REVIEW_DETAILS =
  'ACCTRVW for each row of a portfolio file. The current details say where it stands; they need a running worker.';

/** @throws PortfolioDiffersError, and what `translated` makes of the SDK's errors */
export async function startPortfolio(
  { client, taskQueue }: Pick<StartPullContext, 'client' | 'taskQueue'>,
  input: PortfolioReviewInput,
): Promise<void> {
  const { reviewId, endUserCode } = input;
  const ownerId = ownerIdOf('portfolio', reviewId);
  const workflowId = workflowIdOf(ownerId);
  try {
    await client.workflow.start('portfolioReview', {
      ...{ workflowId, taskQueue, args: [input] },
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      priority: priorityOf('batch', endUserCode),
      staticSummary: `portfolio ${reviewId} · ${endUserCode}`,
      staticDetails: REVIEW_DETAILS,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translated(error, ownerId);
    const started = await startedInput(client, workflowId).catch((failed) => {
      throw translated(failed, ownerId);
    });
    if (!isDeepStrictEqual(started, input)) throw new PortfolioDiffersError(reviewId);
  }
}
