/** The messages of `portfolioReview`; those that other runs have too are called the same. */
import { defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { resolveInquiryProblem, type Via, withdrawProblem } from '../../messages/checks.ts';
import type {
  PortfolioMessage,
  PortfolioProgress,
  PortfolioStatus,
  PortfolioUpdateAnswer,
  ResolvePortfolioMessage,
} from '../../messages/portfolio/shapes.ts';
import { accepted, handleUnknownSignals, refuseFor } from '../run/messages/message-answers.ts';
import { PORTFOLIO_DESCRIPTIONS } from '../run/messages/message-descriptions.ts';
import { checkApplicants, handleDecisions, handleWithdrawals } from '../run/messages/run-messages.ts';
import { takenDecision } from '../run/run-decisions.ts';
import type { Review } from './review.ts';

export const resolveInquiry = defineUpdate<PortfolioUpdateAnswer, [ResolvePortfolioMessage]>('resolveInquiry');
export const withdraw = defineUpdate<PortfolioUpdateAnswer, [PortfolioMessage]>('withdraw');
export const requestWithdrawal = defineSignal<[PortfolioMessage]>('requestWithdrawal');
export const pause = defineUpdate<PortfolioUpdateAnswer, [PortfolioMessage]>('pause');
export const resume = defineUpdate<PortfolioUpdateAnswer, [PortfolioMessage]>('resume');
export const status = defineQuery<PortfolioStatus>('status');
export const progress = defineQuery<PortfolioProgress>('progress');

export function handleReviewMessages(review: Review): void {
  const otherReview = (message: { reviewId: string }) =>
    message.reviewId === review.reviewId ? null : '/reviewId names another review';
  const problemOf = (message: PortfolioMessage, via?: Via) =>
    withdrawProblem(message, 'reviewId', via) ?? otherReview(message);
  handleWithdrawals(review, {
    definitions: { withdraw, requestWithdrawal },
    descriptions: PORTFOLIO_DESCRIPTIONS,
    problemOf,
    record: { ownerId: review.ownerId },
  });
  handleDecisions(review, {
    definition: resolveInquiry,
    description: PORTFOLIO_DESCRIPTIONS.resolveInquiry,
    problemOf: (message) => resolveInquiryProblem(message, 'reviewId') ?? otherReview(message),
    checkApplicants: (applicants) => checkApplicants({ profile: review.profile, applicants, productCode: 'ACCTRVW' }),
  });
  const validator = (message: PortfolioMessage) =>
    refuseFor(problemOf(message) ?? (review.isEnding ? 'the review is ending' : null));
  setHandler(pause, (message) => answerPause(review, 'pause', message), {
    validator,
    description: PORTFOLIO_DESCRIPTIONS.pause,
  });
  setHandler(resume, (message) => answerPause(review, 'resume', message), {
    validator,
    description: PORTFOLIO_DESCRIPTIONS.resume,
  });
  setHandler(status, () => review.status(), { description: PORTFOLIO_DESCRIPTIONS.status });
  setHandler(progress, () => review.progress(), { description: PORTFOLIO_DESCRIPTIONS.progress });
  handleUnknownSignals(review);
  review.decided.begin(review);
}

/** Takes effect at once, and answers once the ledger has who paused or resumed the review, and why. */
async function answerPause(
  review: Review,
  action: 'pause' | 'resume',
  message: PortfolioMessage,
): Promise<PortfolioUpdateAnswer> {
  if (setPaused(review, action === 'pause')) {
    return review.decided.answer(review, takenDecision(action, review.ownerId, message));
  }
  return { ...accepted(review, true), recorded: !review.decided.isBusy };
}

function setPaused(review: Review, isPaused: boolean): boolean {
  if (review.isPaused === isPaused) return false;
  review.isPaused = isPaused;
  review.pace.startAnew(review.done);
  review.inFlight.recheck();
  review.publish();
  return true;
}
