/** The route that acknowledges consents which match no share. The list itself: src/operations/listings.ts. */
import { z } from 'zod';
import { text } from '../../fields/fields.ts';
import { requireReach } from '../reach.ts';
import { defineRoute, PATH_PARAMETERS, type Route } from '../route.ts';

const REACH_OF_UNKNOWN_ID =
  'The API cannot tell which token an unknown id will belong to, so such an id needs a token for all profiles and end users.';

const seenBody = z
  .strictObject({
    runKey: PATH_PARAMETERS.runKey.describe('The `runKey` of the consents, as in the list.'),
    reason: text(500).meta({ description: 'Why; kept in the ledger, so nothing personal about the consumer.' }),
  })
  .meta({ id: 'seenConsents' });

const seenSchema = z
  .object({
    accepted: z.literal(true),
    count: z
      .int()
      .min(0)
      .meta({ description: 'The number of consents that this call marked as seen; 0 if they were marked before.' }),
  })
  .meta({ id: 'seenConsentsAnswer' });

export const unmatchedConsentRoutes: readonly Route[] = [
  defineRoute({
    at: 'POST /v1/unmatched-consents/seen',
    operationId: 'markConsentsSeen',
    summary: 'Mark the unmatched consents of one run as seen',
    description: `The ledger keeps these consents, and they count once it knows what they name. ${REACH_OF_UNKNOWN_ID}`,
    scope: 'holds:decide',
    body: seenBody,
    answer: seenSchema,
    done: 'They are off the list: this call took them off, or an earlier one.',
    problems: { 404: 'The token does not reach the run.' },
    async run(call) {
      const { runKey, reason } = call.body;
      call.note({ journeyId: runKey });
      await requireReach(call, runKey);
      const ledger = await call.services.openLedger();
      const count = await ledger.consents.markSeen(ledger.identity.ledgerId, { runKey, by: call.by(), reason });
      call.note({ count });
      return { accepted: true, count };
    },
  }),
];
