/** Messages to a journey: each is in Temporal before it is answered, and the same again is answered as a duplicate. */
import { z } from 'zod';
import { GATEWAY_LIMITS } from '../../config/variables.ts';
import { applicantsSchema } from '../../fields/applicant-schemas.ts';
import { passGateSchema, repeatStageSchema } from '../../messages/advance.ts';
import { type ExtendMessage, extend } from '../../messages/extend.ts';
import { type RequestShareMessage, requestShare } from '../../messages/request-share.ts';
import { withdrawJourney, withdrawShare } from '../../messages/withdraw.ts';
import { requireScope } from '../caller.ts';
import { signedAdvance } from '../holds/signing.ts';
import { endingReply, messageAnswerSchema, messageReply } from '../message-answers.ts';
import { type Route, route } from '../route.ts';

const applicants = applicantsSchema(GATEWAY_LIMITS.maxApplicants.max);
const given = { journeyId: true, by: true } as const;

/** A member and a value that say more than one operation's description can. */
const passGate = passGateSchema(applicants)
  .omit(given)
  .meta({ id: 'passGate', dependentRequired: { acceptAge: ['reason'], skip: ['reason'] } });
const repeatStage = repeatStageSchema(applicants).omit(given).meta({ id: 'repeatStage' });

const accepted = { 200: { description: 'It was accepted, now or before.', schema: messageAnswerSchema } } as const;
const problems = {
  409: '`differs`: its key was used with other content. `notNow`, `ending`, `unknownPart`, `unproven`: as the journey stands it does not take the message; `detail` says why. `journeyFinished`: it has ended.',
} as const;

export const journeyMessageRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/journeys/{journeyId}/advance',
    operationId: 'advanceJourney',
    summary: 'Pass the gate before a stage, or pull the latest stage once more',
    description: 'Each stage’s gate opens once; each repeat has its `occurrence`. The token says who decides.',
    scope: 'journeys:advance',
    about: ({ journeyId }) => journeyId,
    body: z.union([passGate, repeatStage]).meta({ id: 'advanceJourney' }),
    answers: accepted,
    problems,
    async handle({ services, params: { journeyId }, body, by, noted, sending }) {
      noted({ journeyId });
      // Only who accepts an old report, skips a stage or repeats one decides anything.
      const isDecision = ['acceptAge', 'skip', 'repeat'].some((name) => Object.hasOwn(body, name));
      const message = await signedAdvance(services, { ...body, journeyId, ...(isDecision ? { by: by() } : {}) });
      return messageReply(await services.journeys.get(journeyId).advance(message, sending));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/journeys/{journeyId}/extend',
    operationId: 'extendJourney',
    summary: 'Make the wait at a gate, or of a share for consent, longer',
    scope: 'journeys:advance',
    about: ({ journeyId }) => journeyId,
    body: extend
      .schema()
      .omit(given)
      .meta({ id: 'extendJourney', oneOf: [{ required: ['gate'] }, { required: ['shareId'] }] }),
    answers: accepted,
    problems,
    async handle({ services, params: { journeyId }, body, by, noted, sending }) {
      noted({ journeyId });
      const message = { ...body, by: by() } as unknown as ExtendMessage;
      return messageReply(await services.journeys.get(journeyId).extend(message, sending));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/journeys/{journeyId}/shares',
    operationId: 'requestShare',
    summary: 'Ask for one more share',
    description: 'With `replaces` it takes the place of a share that is not sent yet, and `shares:withdraw` as well.',
    scope: 'shares:request',
    about: ({ journeyId }) => journeyId,
    body: requestShare
      .schema()
      .omit(given)
      .meta({
        id: 'requestShare',
        dependentRequired: { replaces: ['reason'], reason: ['replaces'] },
      }),
    answers: accepted,
    problems,
    async handle({ services, caller, params: { journeyId }, body, by, noted, sending }) {
      noted({ journeyId });
      const { share, ...rest } = body;
      const isReplacing = Object.hasOwn(rest, 'replaces') || Object.hasOwn(rest, 'reason');
      if (isReplacing) requireScope(caller, 'shares:withdraw');
      const replacing = { ...rest, ...(isReplacing ? { by: by() } : {}) } as never;
      const asked = share as RequestShareMessage['share'];
      return messageReply(await services.journeys.get(journeyId).requestShare(asked, { ...sending, replacing }));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/journeys/{journeyId}/shares/{shareId}/withdrawal',
    operationId: 'withdrawShare',
    summary: 'Take a share back before it is sent',
    description: '`recorded` says whether the ledger keeps it from ever being sent already.',
    scope: 'shares:withdraw',
    about: ({ journeyId }) => journeyId,
    body: withdrawShare
      .schema()
      .omit({ ...given, shareId: true })
      .meta({ id: 'withdrawShare' }),
    answers: accepted,
    problems,
    async handle(call) {
      const { services, params, body, by, noted, sending } = call;
      const { journeyId, shareId } = params;
      noted({ journeyId });
      const message = { ...body, shareId, by: by() } as { shareId: string; by: string; reason: string };
      return endingReply(call, { ...message, ownerId: journeyId, action: 'withdraw' }, () =>
        services.journeys.get(journeyId).withdrawShare(message, sending),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/v1/journeys/{journeyId}/withdrawal',
    operationId: 'withdrawJourney',
    summary: 'End a journey after any attempt in flight',
    description: 'It takes effect at once. `recorded` says whether the ledger has it already.',
    scope: 'journeys:withdraw',
    about: ({ journeyId }) => journeyId,
    body: withdrawJourney.schema().omit(given).meta({ id: 'withdrawJourney' }),
    answers: accepted,
    problems,
    async handle(call) {
      const { services, params, body, by, noted, sending } = call;
      const { journeyId } = params;
      noted({ journeyId });
      const message = { ...body, by: by() } as { by: string; reason: string };
      return endingReply(call, { ...message, ownerId: journeyId, action: 'withdraw' }, () =>
        services.journeys.get(journeyId).withdraw(message, sending),
      );
    },
  }),
];
