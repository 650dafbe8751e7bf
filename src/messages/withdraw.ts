/** Withdrawals, of each kind of run; and `pause` and `resume` of a review, which say the same. */
import { z } from 'zod';
import { ID_NAMES, type RunKind } from '../model/owner-id.ts';
import { defineMessage, type MessageOf } from './message.ts';
import { sharedFields } from './shared.ts';

const { signature, journeyId, pullId, shareId, reviewId } = sharedFields();

const ofJourney = z.strictObject({ journeyId, ...signature });
const ofPull = z.strictObject({ pullId, ...signature });
const ofShare = z.strictObject({ shareId, ...signature });
const ofReview = z.strictObject({ reviewId, ...signature });

/** It only stops something, so it counts in the clear. */
const inTheClear = () => true;

function words(to: RunKind, name: string, example: object) {
  const withdrawal = JSON.stringify(example);
  return {
    withdraw: `Ends the ${name} after any attempt in flight; what is on hold still waits for a decision. Fields: ${ID_NAMES[to]}, by, reason. Example: ${withdrawal}`,
    requestWithdrawal: `The same as withdraw, without an answer. Example: ${withdrawal}`,
  };
}

const journeyWords = words('journey', 'journey', {
  ...{ journeyId: 'LOAN-1', by: 'ops', reason: 'the applicant has withdrawn' },
});
const pullWords = words('pull', 'pull', { pullId: 'PULL-1', by: 'ops', reason: 'asked for by mistake' });
const shareWords = words('share', 'share', { shareId: 'S-1', by: 'ops', reason: 'asked for by mistake' });
const REVIEW = { reviewId: 'REVIEW-1', by: 'ops', reason: 'the provider has asked for it' };
const reviewWords = words('portfolio', 'review', REVIEW);

export const withdrawJourney = defineMessage({
  to: 'journey',
  updates: { withdraw: journeyWords.withdraw },
  signals: { requestWithdrawal: journeyWords.requestWithdrawal },
  published: { file: 'withdraw', description: 'Ends the journey after any attempt in flight.' },
  schema: () => ofJourney,
  inTheClear,
});

export const withdrawPull = defineMessage({
  to: 'pull',
  updates: { withdraw: pullWords.withdraw },
  signals: { requestWithdrawal: pullWords.requestWithdrawal },
  published: { file: 'withdraw-pull', description: 'Ends the pull after any attempt in flight.' },
  schema: () => ofPull,
  inTheClear,
});

export const withdrawShareReport = defineMessage({
  to: 'share',
  updates: { withdraw: shareWords.withdraw },
  signals: { requestWithdrawal: shareWords.requestWithdrawal },
  published: { file: 'withdraw-share-report', description: 'Ends the share after any attempt in flight.' },
  schema: () => ofShare,
  inTheClear,
});

export const steerReview = defineMessage({
  to: 'portfolio',
  updates: {
    pause: `Sends nothing more until resume; attempts in flight come to their end. Fields: reviewId, by, reason. Example: ${JSON.stringify(REVIEW)}`,
    resume: `Goes on after pause. Example: ${JSON.stringify(REVIEW)}`,
    withdraw: reviewWords.withdraw,
  },
  signals: { requestWithdrawal: reviewWords.requestWithdrawal },
  published: { file: 'portfolio-message', description: 'Who says so, and why.' },
  schema: () => ofReview,
  inTheClear,
});

export type WithdrawMessage = MessageOf<typeof withdrawJourney>;
export type WithdrawPullMessage = MessageOf<typeof withdrawPull>;
export type WithdrawShareReportMessage = MessageOf<typeof withdrawShareReport>;
/** Input of the updates `pause`, `resume` and `withdraw`. */
export type PortfolioMessage = MessageOf<typeof steerReview>;
