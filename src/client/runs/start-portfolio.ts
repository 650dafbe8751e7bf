/** Starts a portfolio review, once: a start that is repeated finds the first, and one that differs is refused. */
import type { Client } from '@temporalio/client';
import { differingPaths } from '../../base/differing-paths.ts';
import type { PortfolioReviewInput } from '../../messages/portfolio/shapes.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { priorityOf } from '../../model/work-class.ts';
import { InputDiffersError } from '../connection/errors.ts';
import { startOnce } from './start-once.ts';

const STATIC_DETAILS =
  'ACCTRVW for each row of a portfolio file. The current details say where it stands; they need a running worker.';

/** @returns whether it was there already. @throws InputDiffersError, and the SDK's errors */
export async function startPortfolio(
  { client, taskQueue }: { client: Client; taskQueue: string },
  input: PortfolioReviewInput,
): Promise<boolean> {
  const { reviewId, endUserCode } = input;
  const start = await startOnce({
    ...{ client, taskQueue, input, workflowType: 'portfolioReview', ownerId: ownerIdOf('portfolio', reviewId) },
    priority: priorityOf('batch', endUserCode),
    staticSummary: `portfolio ${reviewId} · ${endUserCode}`,
    staticDetails: STATIC_DETAILS,
    // Nothing of it is personal, so nothing is masked.
    differences: (started) => differingPaths(started, input),
  });
  if (start.kind === 'found' && start.paths.length > 0) throw new InputDiffersError('portfolio', reviewId, start.paths);
  return start.kind === 'found';
}
