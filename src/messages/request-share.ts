/** `requestShare`: asks a journey for one more share. */
import { z } from 'zod';
import { parseDurationMs } from '../base/instants.ts';
import { isRecord } from '../base/is-record.ts';
import { defineMessage, findSecondaryUserProblems, findSignatureProblems, getSharedFields } from './message.ts';

const { journeyId, shareId, share, signature } = getSharedFields();

const schema = z
  .strictObject({
    journeyId,
    share,
    /** A share that is withdrawn for this one, before it is sent. Consents to it are none to this one. */
    replaces: shareId.exactOptional(),
    by: signature.by.exactOptional(),
    reason: signature.reason.exactOptional(),
  })
  // For the published schemas: only a share that replaces another needs a named person and a reason.
  .meta({ dependentRequired: { replaces: ['by', 'reason'], by: ['replaces'], reason: ['replaces'] } });

export type RequestShareMessage = z.infer<typeof schema>;
export type ShareInput = RequestShareMessage['share'];

/** Returns the maximum age of a share's grants in milliseconds; `undefined` if any age will do. */
export function toConsentValidForMs({ consentValidFor }: Pick<ShareInput, 'consentValidFor'>): number | undefined {
  return consentValidFor === undefined ? undefined : (parseDurationMs(consentValidFor) ?? 0);
}

export const requestShare = defineMessage({
  to: 'journey',
  updates: {
    requestShare:
      'Shares the report with a secondary user, once every applicant consents. Fields: journeyId, share; replaces, by, reason where it corrects another share. Example: {"journeyId":"LOAN-1","share":{"shareId":"INVESTOR-1","endUserCode":"EU999"}}',
  },
  published: {
    file: 'request-share',
    description:
      'Asks for one more share, perhaps in place of another. It names another end user than the journey’s own.',
  },
  schema: () => schema,
  rules: (message) => {
    const { share: asked, replaces } = message;
    const isItself = isRecord(asked) && typeof replaces === 'string' && asked.shareId === replaces;
    return [
      ...findSecondaryUserProblems(asked, '/share'),
      ...(isItself ? [{ path: '/replaces', rule: 'must differ from /share/shareId' }] : []),
      ...findSignatureProblems(message, 'replaces'),
    ];
  },
  key: ({ share: { shareId: id } }: RequestShareMessage) => `share-${id}`,
});
