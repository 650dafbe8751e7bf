/** Withdrawals, of each kind of run and of one share of a journey; and `pause` and `resume` of a review, which say the same. */
import { z } from 'zod';
import { getMessageFields } from '../fields/fields.ts';
import { ID_NAMES, RUN_NAMES, type RunKind } from '../model/run-key.ts';
import { defineMessage, SIGNATURE_EXAMPLES } from './message.ts';

const { signature, journeyId, pullId, shareId, reviewId } = getMessageFields();

/** An unencrypted withdrawal is valid, since it can only stop work. */
const inTheClear = () => true;

/**
 * @param id the member that names the run
 * @param updates the kind's updates beside `withdraw`
 */
function defineWithdrawal<Kind extends RunKind, Id extends z.ZodRawShape, Updates extends object>(
  to: Kind,
  id: Id,
  published: { file: string; description?: string },
  updates: Updates,
) {
  const example = JSON.stringify(SIGNATURE_EXAMPLES[to]);
  const schema = z.strictObject({ ...id, ...signature });
  return defineMessage({
    to,
    updates: {
      ...updates,
      withdraw: `Ends the ${RUN_NAMES[to]} after any attempt in flight; an inquiry on hold still waits for a decision. Fields: ${ID_NAMES[to]}, by, reason. Example: ${example}`,
    },
    signals: { requestWithdrawal: `The same as withdraw, without an answer. Example: ${example}` },
    published: { description: `Ends the ${to} after any attempt in flight.`, ...published },
    schema: () => schema,
    inTheClear,
  });
}

export const withdrawJourney = defineWithdrawal('journey', { journeyId }, { file: 'withdraw' }, {});
export const withdrawPull = defineWithdrawal('pull', { pullId }, { file: 'withdraw-pull' }, {});
export const withdrawShareReport = defineWithdrawal('share', { shareId }, { file: 'withdraw-share-report' }, {});

const example = JSON.stringify(SIGNATURE_EXAMPLES.portfolio);

export const steerReview = defineWithdrawal(
  'portfolio',
  { reviewId },
  { file: 'portfolio-message', description: 'Who sends the message, and why.' },
  {
    pause: `Sends nothing more until resume; attempts in flight finish. Fields: reviewId, by, reason. Example: ${example}`,
    resume: `Continues after pause. Example: ${example}`,
  },
);

const ofShare = z.strictObject({
  journeyId,
  shareId: shareId.describe('The one share that is not to be sent. A corrected one takes another id.'),
  ...signature,
});

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
