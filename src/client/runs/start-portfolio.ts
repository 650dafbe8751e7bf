/** Starts a portfolio review, once: a start that is repeated finds the first, and one that differs is refused. */
import type { Client } from '@temporalio/client';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { type PortfolioReviewInput, portfolioReview } from '../../messages/inputs/portfolio-review.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { priorityOf } from '../../model/work-class.ts';
import { startOnce } from './start-once.ts';

const STATIC_DETAILS =
  'ACCTRVW for each row of a portfolio file. The current details say where it stands; they need a running worker.';

/** As `startOnce`. */
export function startPortfolio(
  { client, taskQueue }: { client: Client; taskQueue: string },
  input: PortfolioReviewInput,
): Promise<boolean> {
  const { reviewId, endUserCode } = input;
  return startOnce({
    ...{ client, taskQueue, input, workflowType: 'portfolioReview', ownerId: ownerIdOf('portfolio', reviewId) },
    priority: priorityOf('batch', endUserCode),
    staticSummary: `portfolio ${reviewId} · ${endUserCode}`,
    staticDetails: STATIC_DETAILS,
    parse: (started) => parseMessage(portfolioReview, started),
  });
}
