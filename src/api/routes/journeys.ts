/** Journeys: started, read, listed. Their messages: journey-messages.ts. */
import { z } from 'zod';
import { isRecord } from '../../base/is-record.ts';
import type { JsonObject } from '../../base/json-safety.ts';
import { GATEWAY_LIMITS } from '../../config/limits.ts';
import { applicantsSchema } from '../../fields/applicant-schemas.ts';
import { journeyStatusSchema } from '../../messages/journey/result-schemas.ts';
import { lendingJourneySchema } from '../../messages/journey/schemas.ts';
import { parseLendingJourneyInput } from '../../messages/parse-messages.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { requireScope } from '../caller.ts';
import { givenElsewhere, type Reply, type Route, route } from '../route.ts';
import { scopeOfInput } from '../run-scope.ts';
import { taggedReply } from './answers.ts';
import { startWithinReach } from './starting.ts';

const journey = lendingJourneySchema(applicantsSchema(GATEWAY_LIMITS.maxApplicants.max));
/** Who made the standing decision is the token's to say. */
const preclose = journey.shape.preclose.unwrap().omit({ by: true });
const startSchema = z
  .strictObject({ ...journey.shape, preclose: preclose.exactOptional() })
  .meta({ id: 'startJourney' });

const startedSchema = z
  .object({
    journeyId: z.string(),
    duplicate: z.boolean().meta({ description: 'It had been started before, with the same input.' }),
  })
  .meta({ id: 'startedJourney' });

export const journeyRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/journeys',
    operationId: 'startJourney',
    summary: 'Start a journey',
    description:
      'Takes `shares:request` as well where it names shares. Repeated with the same input it starts nothing.',
    scope: 'journeys:start',
    body: startSchema,
    answers: {
      201: { description: 'It was started.', schema: startedSchema, headers: { Location: 'Where its status is.' } },
      200: {
        description: 'It had been started before, with the same input.',
        schema: startedSchema,
        headers: { Location: 'Where its status is.' },
      },
    },
    problems: {
      409: 'The id is taken: `inputDiffers` names the paths that differ, `idTaken` tells nothing of a run that is not yours.',
    },
    async handle(call): Promise<Reply<200 | 201>> {
      const { services, caller, noted } = call;
      const input = parseLendingJourneyInput(withDecider(call.body, call.by), services);
      const { journeyId } = input;
      noted({ journeyId });
      if (input.shares !== undefined) requireScope(caller, 'shares:request');
      const { duplicate } = await startWithinReach(call, {
        ownerId: journeyId,
        scope: scopeOfInput(input),
        start: (onFound) => services.journeys.start(input, { onFound }),
      });
      const headers = { location: `/v1/journeys/${journeyId}` };
      return { status: duplicate ? 200 : 201, body: { journeyId, duplicate }, headers };
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
    headers: { 'If-None-Match': 'An ETag: 304 where the status is still that one.' },
    answers: {
      200: { description: 'The status.', schema: journeyStatusSchema, headers: { ETag: 'Of this status.' } },
      304: { description: 'It is still as If-None-Match says.' },
    },
    async handle({ services, params, request, noted }) {
      noted({ journeyId: params.journeyId });
      return taggedReply(request, await services.journeys.get(params.journeyId).status());
    },
  }),
];

/** `preclose` is a standing decision: the token says whose. */
function withDecider(body: JsonObject, by: () => string): JsonObject {
  const { preclose: given } = body;
  if (!isRecord(given)) return body;
  const problems = givenElsewhere(['by'], given).map(({ path, rule }) => ({ path: `/preclose${path}`, rule }));
  if (problems.length > 0) throw new InvalidInputError(problems);
  return { ...body, preclose: { ...given, by: by() } };
}
