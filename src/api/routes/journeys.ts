/** Journeys: started, read, listed, and every message to them but consents (consents.ts) and decisions (decisions.ts). */
import { z } from 'zod';
import { applicantsSchema } from '../../fields/applicant-schemas.ts';
import { type AdvanceMessage, advance, passGateSchema, repeatStageSchema } from '../../messages/advance.ts';
import { extend } from '../../messages/extend.ts';
import { type LendingJourneyInput, lendingJourney } from '../../messages/inputs/lending-journey.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { journeyResultSchema, journeyStatusSchema, stageStatusSchema } from '../../messages/journey/shapes.ts';
import { requestShare } from '../../messages/request-share.ts';
import { withdrawJourney, withdrawShare } from '../../messages/withdraw.ts';
import { repeatContent } from '../../model/decision-content.ts';
import { requireScope } from '../caller.ts';
import type { Route } from '../route.ts';
import type { ApiServices } from '../services.ts';
import { createRunRoutes, toBodySchema } from './runs.ts';

/** Members that the path and the token give. */
const GIVEN = ['journeyId', 'by'];

export const journeyRoutes: readonly Route[] = createRunRoutes<LendingJourneyInput>({
  kind: 'journey',
  path: '/v1/journeys',
  name: 'Journey',
  words: ['a journey', 'journeys'],
  reads: 'journeys:read',
  status: journeyStatusSchema,
  result: {
    schema: z
      .object({ ...journeyResultSchema.shape, stages: z.array(stageStatusSchema) })
      .meta({ id: 'journeyResult' }),
    description: 'The result has no report references: read those with `reports:read`.',
  },
  start: {
    summary: 'Start a journey',
    description: 'A journey with shares also needs `shares:request`. The same start, sent again, starts nothing new.',
    scope: 'journeys:start',
    body: lendingJourney.schema(applicantsSchema),
    hasWorkClass: true,
    findDefinition: () => lendingJourney,
    check({ caller }, { shares }) {
      if (shares !== undefined) requireScope(caller, 'shares:request');
    },
  },
  messages: [
    {
      message: advance,
      summary: 'Pass the gate before a stage, or pull the latest stage once more',
      description: 'Each gate opens once; each repeat has its own `occurrence`. The token says who decides.',
      scope: 'journeys:advance',
      body: z.union([
        toBodySchema(passGateSchema(applicantsSchema), GIVEN)
          // Zod cannot say this: to accept an old report, or to skip a stage, needs a reason.
          .meta({ id: 'passGate', dependentRequired: { acceptAge: ['reason'], skip: ['reason'] } }),
        toBodySchema(repeatStageSchema(applicantsSchema), GIVEN).meta({ id: 'repeatStage' }),
      ]),
      namesActor: false,
      async send({ services, by, sending }, journeyId, content) {
        // To accept an old report, and to skip or repeat a stage, needs the name of the person who decides.
        const needsName = ['acceptAge', 'skip', 'repeat'].some((name) => Object.hasOwn(content, name));
        const given = { ...content, journeyId, ...(needsName ? { by: by() } : {}) };
        const message = await signRepeat(services, parseMessage(advance, given));
        return services.journeys.get(journeyId).advance(message, sending);
      },
    },
    {
      message: extend,
      summary: 'Extend the wait at a gate, or the wait of a share for consent',
      scope: 'journeys:advance',
      body: toBodySchema(extend.schema(), GIVEN).meta({ oneOf: [{ required: ['gate'] }, { required: ['shareId'] }] }),
    },
    {
      message: requestShare,
      path: '/shares',
      operationId: 'requestShare',
      summary: 'Ask for one more share',
      scope: 'shares:request',
      body: toBodySchema(requestShare.schema(), ['journeyId']),
      namesActor: false,
    },
    {
      message: withdrawShare,
      path: '/shares/{shareId}/withdrawal',
      operationId: 'withdrawShare',
      summary: 'Withdraw a share before it is sent',
      description: '`recorded` says whether the ledger already forbids any attempt to send it.',
      scope: 'shares:withdraw',
      ends: 'withdraw',
    },
    {
      message: withdrawJourney,
      path: '/withdrawal',
      summary: 'End a journey after any attempt in flight',
      description: 'The withdrawal takes effect at once. `recorded` says whether the ledger already has it.',
      scope: 'journeys:withdraw',
      ends: 'withdraw',
    },
  ],
});

/** Signs a repeat: it makes a further inquiry, so it is proved as a decision is. Other advances need no proof. */
async function signRepeat({ environment, signer }: ApiServices, message: AdvanceMessage): Promise<AdvanceMessage> {
  if (!('repeat' in message) || message.proof !== undefined || !signer) return message;
  return { ...message, proof: await signer.sign(repeatContent(environment, message)) };
}
