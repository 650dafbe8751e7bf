/** Consents, denials and revocations: early, late, for a journey's share or one by itself. Its scope reads nothing. */
import { z } from 'zod';
import type { ConsentAnswer } from '../client/runs/consents.ts';
import { consent as consentDefinition } from '../messages/consent.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { recordedConsentSchema } from '../messages/journey/shapes.ts';
import { defineOperation, type Operation, Reply } from './operation.ts';
import { requireReach } from './reach.ts';

const consentAnswerSchema = z
  .object({
    answer: z
      .enum(['accepted', 'kept', 'pending'])
      .describe(
        'accepted: it counts. kept: the ledger does not know the journey, share or applicant yet; the consent counts once it does. ' +
          'pending: Temporal has it, but it is not judged or recorded yet; send it again to ask.',
      ),
    recorded: z.boolean().describe('Whether the ledger has it.'),
    ...recordedConsentSchema.partial({ stands: true, postedSharesFlagged: true }).shape,
  })
  .meta({ id: 'consentAnswer' });

export const consentOperations: readonly Operation[] = [
  defineOperation({
    at: 'POST /v1/consents',
    operationId: 'recordConsent',
    summary: 'Record what a consumer has decided about a share',
    description:
      '`journeyId` names the journey, or `share:<shareId>` for a share by itself. The consent may come before ' +
      'that run starts, or after it ends. For an id that the ledger does not know yet, the token must reach all profiles and ' +
      'all end users, since the API cannot tell yet whose run it will be.',
    scope: 'consents:record',
    sendsMessages: true,
    body: consentDefinition.schema().meta({ id: 'consent' }),
    findDefinition: () => consentDefinition,
    answers: {
      200: { description: 'The consent counts, now or since an earlier call.', schema: consentAnswerSchema },
      202: { description: 'The consent is kept, or is not judged or recorded yet.', schema: consentAnswerSchema },
    },
    problems: {
      404: 'The token does not reach the run, or the ledger does not know it yet and the token does not reach everything.',
      409:
        'It does not count: `noLongerCounts`, `inFuture`, `unproven`, `unknownPart` or `notNow`, and `detail` and `problems` say ' +
        'why and what to send. `differs`: the same `consentId` was used with other content.',
    },
    async run(call) {
      const consent = parseMessage(consentDefinition, call.body);
      call.note({ journeyId: consent.journeyId });
      await requireReach(call, consent.journeyId);
      const run = call.services.journeys.run(consent.journeyId);
      const given = (await run.send('recordConsent', consent, call.sending)) as ConsentAnswer<'journey' | 'share'>;
      const { recorded = false } = given;
      const isKept = 'unmatched' in given && given.unmatched !== undefined;
      const answer = !recorded ? 'pending' : isKept ? 'kept' : 'accepted';
      const body = consentAnswerSchema.parse({ duplicate: false, ...given, recorded, answer });
      return new Reply(answer === 'accepted' ? 200 : 202, { body });
    },
  }),
];
