/** `requestShare`: asks a journey for one more share. */
import { z } from 'zod';
import { parseDurationMs } from '../base/instants.ts';
import { getMessageFields } from '../fields/fields.ts';
import { defineMessage } from './message.ts';

const { journeyId, share } = getMessageFields();

const schema = z.strictObject({ journeyId, share });

export type RequestShareMessage = z.infer<typeof schema>;
export type ShareInput = RequestShareMessage['share'];

/** Returns the terms of a share by which its consents are judged. */
export function toShareTerms(share: Omit<ShareInput, 'permissiblePurposeCode' | 'reportOf'>) {
  const { shareId, endUserCode, endUser } = share;
  return { shareId, endUserCode, endUser, validForMs: toConsentValidForMs(share) };
}

/** Returns the maximum age of a share's grants in milliseconds; `undefined` if any age will do. */
export function toConsentValidForMs({ consentValidFor }: Pick<ShareInput, 'consentValidFor'>): number | undefined {
  return consentValidFor === undefined ? undefined : (parseDurationMs(consentValidFor) ?? 0);
}

export const requestShare = defineMessage({
  to: 'journey',
  updates: {
    requestShare:
      'Shares the report with a secondary user, once every applicant consents. Fields: journeyId, share. Example: {"journeyId":"LOAN-1","share":{"shareId":"INVESTOR-1","endUserCode":"EU999"}}',
  },
  published: {
    file: 'request-share',
    description: 'Asks for one more share. It names another end user than the journey’s own.',
  },
  schema: () => schema,
  key: ({ share: { shareId: id } }: RequestShareMessage) => `share-${id}`,
});
