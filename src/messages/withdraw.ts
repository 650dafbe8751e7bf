/** Withdrawals, of each kind of run and of one share of a journey; and `pause` and `resume` of a review, which say the same. */
import { z } from 'zod';
import { ID_NAMES, RUN_NAMES, type RunKind } from '../model/run-key.ts';
import { defineMessage, getSharedFields, type MessageOf, SIGNED_EXAMPLES } from './message.ts';

const { signature, journeyId, pullId, shareId, reviewId } = getSharedFields();

/** An unencrypted withdrawal is valid, since it can only stop work. */
const inTheClear = () => true;

function describeWithdrawal(to: RunKind) {
  const withdrawal = JSON.stringify(SIGNED_EXAMPLES[to]);
  return {
    withdraw: `Ends the ${RUN_NAMES[to]} after any attempt in flight; an inquiry on hold still waits for a decision. Fields: ${ID_NAMES[to]}, by, reason. Example: ${withdrawal}`,
    requestWithdrawal: `The same as withdraw, without an answer. Example: ${withdrawal}`,
  };
}

/** @param file of the published schema */
function defineWithdrawal<Kind extends Exclude<RunKind, 'portfolio'>, Schema extends z.ZodObject>(
  to: Kind,
  file: string,
  schema: Schema,
) {
  const { withdraw, requestWithdrawal } = describeWithdrawal(to);
  return defineMessage({
    to,
    updates: { withdraw },
    signals: { requestWithdrawal },
    published: { file, description: `Ends the ${to} after any attempt in flight.` },
    schema: () => schema,
    inTheClear,
  });
}

export const withdrawJourney = defineWithdrawal('journey', 'withdraw', z.strictObject({ journeyId, ...signature }));
export const withdrawPull = defineWithdrawal('pull', 'withdraw-pull', z.strictObject({ pullId, ...signature }));
const ofShareReport = z.strictObject({ shareId, ...signature });
export const withdrawShareReport = defineWithdrawal('share', 'withdraw-share-report', ofShareReport);

const ofReview = z.strictObject({ reviewId, ...signature });
const example = JSON.stringify(SIGNED_EXAMPLES.portfolio);
const reviewWords = describeWithdrawal('portfolio');

export const steerReview = defineMessage({
  to: 'portfolio',
  updates: {
    pause: `Sends nothing more until resume; attempts in flight finish. Fields: reviewId, by, reason. Example: ${example}`,
    resume: `Continues after pause. Example: ${example}`,
    withdraw: reviewWords.withdraw,
  },
  signals: { requestWithdrawal: reviewWords.requestWithdrawal },
  published: { file: 'portfolio-message', description: 'Who sends the message, and why.' },
  schema: () => ofReview,
  inTheClear,
});

export type WithdrawMessage = MessageOf<typeof withdrawJourney>;
export type WithdrawPullMessage = MessageOf<typeof withdrawPull>;
export type WithdrawShareReportMessage = MessageOf<typeof withdrawShareReport>;
/** Input of the updates `pause`, `resume` and `withdraw`. */
export type PortfolioMessage = MessageOf<typeof steerReview>;

const ofShare = z.strictObject({
  journeyId,
  /** The share that is not to be sent. A corrected one takes another id. */
  shareId,
  ...signature,
});

export type WithdrawShareMessage = MessageOf<typeof withdrawShare>;

export const withdrawShare = defineMessage({
  to: 'journey',
  updates: {
    withdrawShare:
      'Takes one share back before it is sent; answers once the ledger has closed it, and is refused where its claim came first. Fields: journeyId, shareId, by, reason. Example: {"journeyId":"LOAN-1","shareId":"INVESTOR-1","by":"ops","reason":"another investor was meant"}',
  },
  published: {
    file: 'withdraw-share',
    description: 'Takes one share of a journey back before it is sent. A corrected share takes another id.',
  },
  schema: () => ofShare,
  key: ({ shareId: id }: { shareId: string }) => `withdraw-share-${id}`,
  inTheClear,
});
