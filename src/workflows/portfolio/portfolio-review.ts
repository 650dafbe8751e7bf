import { ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { PortfolioReviewInput } from '../../messages/inputs/portfolio-review.ts';
import type { PortfolioOutcome, PortfolioResult } from '../../messages/portfolio/shapes.ts';
import { refuse } from '../../model/refusals.ts';
import { runActivities } from '../run/activity-stubs.ts';
import { pinIfVersioned } from '../run/around-the-sdk.ts';
import { waitUntilMessagesAnswered } from '../run/as-replayed.ts';
import { handleUpdate, toAccepted } from '../run/message-answers.ts';
import { findTakenDecision } from '../run/run-decisions.ts';
import { handleWithdrawals, prepareRun, type RunDefinition, runWorkflow } from '../run/run-workflow.ts';
import { type FileState, Review, type ReviewState } from './review.ts';
import { ReviewRows } from './review-rows.ts';

function handleReviewMessages(review: Review): void {
  handleWithdrawals(review);
  const { state, decided, inFlight } = review;
  for (const action of ['pause', 'resume'] as const) {
    const isPaused = action === 'pause';
    handleUpdate(review, action, {
      check: () => (review.isEnding ? refuse('ending', 'the review is ending') : null),
      // Takes effect at once, and answers once the ledger has who paused or resumed the review, and why.
      answer: async (message) => {
        if (state.isPaused === isPaused) return { ...toAccepted(review, true), recorded: !decided.isBusy };
        state.isPaused = isPaused;
        inFlight.recheck();
        review.publish();
        return decided.answer(findTakenDecision(action, review.runKey, message));
      },
    });
  }
}

/**
 * ACCTRVW for each row of a portfolio file. Workflow id `portfolio-<reviewId>`. Input:
 * `messages/inputs/portfolio-review.ts`; result: `messages/portfolio/shapes.ts`; docs/portfolio.md.
 *
 * @param state from continue-as-new; no caller gives it
 * @throws `InvalidInput` with `details[0] = { problems }`, before anything is posted; `PortfolioChanged` with
 *   `details[0] = { progress }` where the file is not the one any more
 */
export async function portfolioReview(input: PortfolioReviewInput, state?: ReviewState): Promise<PortfolioResult> {
  return runWorkflow(DEFINITION, input, state);
}

const DEFINITION: RunDefinition<Review> = {
  State: Review,
  handleMessages: handleReviewMessages,
  prepare: ({ input }) =>
    runActivities.preparePortfolio.executeWithOptions({ summary: 'checking the input' }, [{ input }]),
  work: async (review) => reviewRows(review, review.state.file ?? (await examine(review))),
};

async function examine(review: Review): Promise<FileState> {
  const { input } = review;
  const examined = await prepareRun(review, () => review.ask('examinePortfolio', `examining ${input.file}`, { input }));
  return review.beginFrom(examined);
}

async function reviewRows(review: Review, file: FileState): Promise<PortfolioOutcome> {
  const rows = new ReviewRows(review, file);
  try {
    await rows.work();
    if (!review.isStopping) {
      // A reader of the results relies on the digest: finds a change of the file after the last rows were read.
      const { known } = file;
      const compared = review.ask('readPortfolioRowsAt', 'comparing the whole file', { known, places: [] });
      await review.stopIfChanged(compared);
    }
    await finish(review, file);
    if (review.isStopping) {
      const message = 'the portfolio file is not the one that the review began with; nothing more was sent';
      const details = [{ progress: review.progress() }];
      throw ApplicationFailure.create({ type: 'PortfolioChanged', message, nonRetryable: true, details });
    }
    review.outcome = review.isEnding ? 'withdrawn' : 'completed';
    await waitUntilMessagesAnswered();
    return review.outcome;
  } catch (error) {
    if (isCancellation(error)) {
      await rows.drain();
      await CancellationScope.nonCancellable(() => finish(review, file));
    }
    throw error;
  }
}

async function finish(review: Review, { resultBytes: size, known }: FileState): Promise<void> {
  const { folder, file } = known;
  const args = { reviewId: review.id, folder, file, size };
  await review.ask('finishPortfolioResults', 'finishing the result file', args);
}

pinIfVersioned(portfolioReview);
