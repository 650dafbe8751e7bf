/** Single pulls: started, read, listed, ended early. Decisions about them: decisions.ts. */
import { z } from 'zod';
import { GATEWAY_LIMITS } from '../../config/variables.ts';
import { applicantsSchema, failsafeApplicantsSchema } from '../../fields/applicant-schemas.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { creditReport, failsafeCheck, pullInputOf } from '../../messages/inputs/pull.ts';
import { type PullResult, pullResultSchema, pullStatusSchema } from '../../messages/pull/shapes.ts';
import { withdrawPull } from '../../messages/withdraw.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { listQuery, listRuns, runListSchema } from '../lists/runs.ts';
import { endingReply, messageAnswerSchema } from '../message-answers.ts';
import { type Reply, type Route, route } from '../route.ts';
import { scopeOfInput } from '../run-scope.ts';
import { STATUS_HEADERS, statusReply } from '../status/status-replies.ts';
import { resultOf } from './results.ts';
import { START_PROBLEMS, startAnswers, startQuery, startReply, startWithinReach } from './starting.ts';

const { max } = GATEWAY_LIMITS.maxApplicants;
const startSchema = z.union([
  creditReport.schema(applicantsSchema(max)).meta({ id: 'startCreditReport' }),
  failsafeCheck.schema(failsafeApplicantsSchema(max)).meta({ id: 'startFailsafeCheck' }),
]);

/** `consumerId` is personal. */
const { reference: _, consumers: __, unattributed: ___, ...resultFields } = pullResultSchema.shape;
const resultSchema = z.object(resultFields).meta({ id: 'pullResult' });

const pullOf = ({ pullId }: { pullId: string }) => ownerIdOf('pull', pullId);

export const pullRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/pulls',
    operationId: 'startPull',
    summary: 'Start a single pull: one report product, or FAILSAFE',
    description:
      'Repeated with the same input it starts nothing. A FAILSAFE without an end user takes a token for all end users.',
    scope: 'pulls:start',
    query: startQuery,
    body: startSchema.meta({ id: 'startPull' }),
    answers: startAnswers('pullId', 'startedPull'),
    problems: START_PROBLEMS,
    async handle(call) {
      const { services, body, noted } = call;
      const input = parseMessage(pullInputOf(body), body, services);
      const ownerId = pullOf(input);
      noted({ journeyId: ownerId, productCode: input.productCode });
      const isNew = await startWithinReach(call, {
        ownerId,
        scope: scopeOfInput(input),
        profile: input.profile,
        start: () => services.journeys.pull(input, { ...call.sending, ...call.query }),
      });
      return startReply(`/v1/pulls/${input.pullId}`, { pullId: input.pullId, isNew });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/pulls',
    operationId: 'listPulls',
    summary: 'Pulls: those that run first, then those that ended last',
    description: 'By visibility, which may lag by a second.',
    scope: 'pulls:read',
    query: listQuery,
    answers: { 200: { description: 'One page.', schema: runListSchema } },
    async handle(call): Promise<Reply<200>> {
      const page = await listRuns(call, 'pull');
      call.noted({ count: page.data.length });
      return { status: 200, body: page };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/pulls/{pullId}',
    operationId: 'getPull',
    summary: 'Where a pull stands',
    description: 'Nothing personal.',
    scope: 'pulls:read',
    about: pullOf,
    headers: STATUS_HEADERS,
    answers: {
      200: { description: 'The status.', schema: pullStatusSchema, headers: { ETag: 'Of this status.' } },
      304: { description: 'It is still as If-None-Match says.' },
    },
    handle: (call) => {
      call.noted({ journeyId: pullOf(call.params) });
      return statusReply(call, call.services.journeys.getPull(call.params.pullId));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/pulls/{pullId}/result',
    operationId: 'getPullResult',
    summary: 'What came of a pull',
    description: 'Without references, which are read with `reports:read`.',
    scope: 'pulls:read',
    about: pullOf,
    answers: { 200: { description: 'It has ended.', schema: resultSchema } },
    problems: {
      409: '`resultNotReady`: it has not ended yet. `runFailed`: it ended without a result; `problems` says what was wrong with its input.',
    },
    async handle({ services, params, noted, signal }): Promise<Reply<200>> {
      noted({ journeyId: pullOf(params) });
      const result: PullResult = await resultOf(services, services.journeys.getPull(params.pullId), signal);
      const { reference: _personal, consumers: __personal, unattributed: ___personal, ...body } = result;
      return { status: 200, body };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/pulls/{pullId}/withdrawal',
    operationId: 'withdrawPull',
    summary: 'End a pull after any attempt in flight',
    scope: 'pulls:withdraw',
    about: pullOf,
    body: withdrawPull.schema().omit({ pullId: true, by: true }).meta({ id: 'withdrawPull' }),
    answers: { 200: { description: 'It was accepted, now or before.', schema: messageAnswerSchema } },
    problems: { 409: 'A code says why. `journeyFinished`: it has ended.' },
    async handle(call) {
      const { services, params, body, by, noted, sending } = call;
      noted({ journeyId: pullOf(params) });
      const message = { ...body, by: by() } as { by: string; reason: string };
      return endingReply(call, { ...message, ownerId: pullOf(params), action: 'withdraw' }, () =>
        services.journeys.getPull(params.pullId).withdraw(message, sending),
      );
    },
  }),
];
