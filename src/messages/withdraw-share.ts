/** `withdrawShare`: takes one share of a journey back before it is sent. */
import { z } from 'zod';
import { defineMessage } from './message.ts';
import { sharedFields } from './shared.ts';

const { journeyId, shareId, signature } = sharedFields();

const schema = z.strictObject({
  journeyId,
  /** The share that is not to be sent. A corrected one takes another id. */
  shareId,
  ...signature,
});

export type WithdrawShareMessage = z.infer<typeof schema>;

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
  schema: () => schema,
  key: ({ shareId: id }: WithdrawShareMessage) => `withdraw-share-${id}`,
  // It only stops something.
  inTheClear: () => true,
});
