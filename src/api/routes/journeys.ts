/** Journeys: started, read, listed. Their messages: journey-messages.ts. */
import { z } from 'zod';
import { GATEWAY_LIMITS } from '../../config/variables.ts';
import { applicantsSchema } from '../../fields/applicant-schemas.ts';
import { lendingJourney } from '../../messages/inputs/lending-journey.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import {
  type JourneyResult,
  journeyResultSchema,
  journeyStatusSchema,
  stageStatusSchema,
} from '../../messages/journey/shapes.ts';
import { requireScope } from '../caller.ts';
import { listQuery, listRuns, runListSchema } from '../lists/runs.ts';
import { type Reply, type Route, route } from '../route.ts';
import { scopeOfInput } from '../run-scope.ts';
import { STATUS_HEADERS, statusReply } from '../status/status-replies.ts';
import { resultOf } from './results.ts';
import { START_PROBLEMS, startAnswers, startQuery, startReply, startWithinReach } from './starting.ts';

const startSchema = lendingJourney.schema(applicantsSchema(GATEWAY_LIMITS.maxApplicants.max)).meta({
  id: 'startJourney',
});

/** `consumerId` is personal. */
const resultSchema = z
  .object({ ...journeyResultSchema.shape, stages: z.array(stageStatusSchema) })
  .meta({ id: 'journeyResult' });

export const journeyRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/journeys',
    operationId: 'startJourney',
    summary: 'Start a journey',
    description:
      'Takes `shares:request` as well where it names shares. Repeated with the same input it starts nothing.',
    scope: 'journeys:start',
    query: startQuery,
    body: startSchema,
    answers: startAnswers('journeyId', 'startedJourney'),
    problems: START_PROBLEMS,
    async handle(call): Promise<Reply<200 | 201>> {
      const { services, caller, noted } = call;
      const input = parseMessage(lendingJourney, call.body, services);
      const { journeyId } = input;
      noted({ journeyId });
      if (input.shares !== undefined) requireScope(caller, 'shares:request');
      const isNew = await startWithinReach(call, {
        ownerId: journeyId,
        scope: scopeOfInput(input),
        profile: input.profile,
        start: () => services.journeys.start(input, { ...call.sending, ...call.query }),
      });
      return startReply(`/v1/journeys/${journeyId}`, { journeyId, isNew });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/journeys/{journeyId}',
    operationId: 'getJourney',
    summary: 'Where a journey stands',
    description: 'Nothing personal.',
    scope: 'journeys:read',
    about: ({ journeyId }) => journeyId,
    headers: STATUS_HEADERS,
    answers: {
      200: { description: 'The status.', schema: journeyStatusSchema, headers: { ETag: 'Of this status.' } },
      304: { description: 'It is still as If-None-Match says.' },
    },
    handle: (call) => {
      const { journeyId } = call.params;
      call.noted({ journeyId });
      return statusReply(call, call.services.journeys.get(journeyId));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/journeys/{journeyId}/result',
    operationId: 'getJourneyResult',
    summary: 'What came of a journey',
    description: 'Without report references, which are read with `reports:read`.',
    scope: 'journeys:read',
    about: ({ journeyId }) => journeyId,
    answers: { 200: { description: 'It has ended.', schema: resultSchema } },
    problems: {
      409: '`resultNotReady`: it has not ended yet. `runFailed`: it ended without a result; `problems` says what was wrong with its input.',
    },
    async handle({ services, params: { journeyId }, noted, signal }): Promise<Reply<200>> {
      noted({ journeyId });
      return {
        status: 200,
        body: withoutReferences(await resultOf(services, services.journeys.get(journeyId), signal)),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/journeys',
    operationId: 'listJourneys',
    summary: 'Journeys: those that run first, then those that ended last',
    description: 'By visibility, which may lag by a second.',
    scope: 'journeys:read',
    query: listQuery,
    answers: { 200: { description: 'One page.', schema: runListSchema } },
    async handle(call): Promise<Reply<200>> {
      const page = await listRuns(call, 'journey');
      call.noted({ count: page.data.length });
      return { status: 200, body: page };
    },
  }),
];

function withoutReferences({ stages, ...result }: JourneyResult): z.infer<typeof resultSchema> {
  return { ...result, stages: stages.map(({ reference: _personal, ...stage }) => stage) };
}
