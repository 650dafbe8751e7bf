/** Schedules of portfolio reviews. Each is whose its reviews will be: of the profile and the end user of its order. */
import { z } from 'zod';
import { type ListedSchedule, PortfolioScheduleError } from '../../client/runs/portfolio-schedules.ts';
import { text } from '../../fields/fields.ts';
import { parseWith } from '../../fields/problems.ts';
import { forbidden } from '../../http/refusal.ts';
import { parsePortfolioSchedule } from '../../messages/parse-messages.ts';
import { portfolioSchemas } from '../../messages/portfolio/schemas.ts';
import { reaches, reachesAll } from '../caller.ts';
import { conflict, unknownRun } from '../problem.ts';
import { type Call, type Reply, type Route, route } from '../route.ts';
import { scopeOfInput } from '../run-scope.ts';
import { fileNameSchema, requireFileName } from './file-name.ts';
import { startAnswers, startProblems, startReply } from './starting.ts';

const { schedule } = portfolioSchemas();

const createSchema = z
  .strictObject({
    ...schedule.shape,
    order: z.strictObject({ ...schedule.shape.order.shape, file: fileNameSchema }),
  })
  .meta({ id: 'createPortfolioSchedule' });

const instant = z.string().meta({ format: 'date-time' });

const scheduleSchema = z
  .object({
    scheduleId: z.string(),
    paused: z.boolean(),
    note: z.string().exactOptional().meta({ description: 'Who paused it or let it go on, and why.' }),
    nextAt: z.array(instant).meta({ description: 'When its next reviews begin, at most three.' }),
    lastReviewIds: z.array(z.string()).meta({ description: 'At most three, the newest last.' }),
    schedule: z
      .object(schedule.shape)
      .exactOptional()
      .meta({ description: 'As it was created. Absent of one that another program has made.' }),
  })
  .meta({ id: 'portfolioSchedule' });

const noteBody = z.strictObject({ reason: text(500) }).meta({ id: 'tellPortfolioSchedule' });

const acceptedSchema = z.object({ accepted: z.literal(true) }).meta({ id: 'scheduleAnswer' });

const accepted = { 200: { description: 'It is so, now or since before.', schema: acceptedSchema } } as const;
const notThere = { 404: 'There is no such schedule, or the token does not reach it: the answer is the same.' } as const;

type Asking = Pick<Call, 'caller' | 'services'>;

function isReached({ caller }: Asking, { schedule: created }: ListedSchedule): boolean {
  return reachesAll(caller) || (created !== undefined && reaches(caller, scopeOfInput(created.order)));
}

/** @throws Refusal 404 for one that the caller does not reach, as where there is none */
async function reached(call: Asking, scheduleId: string): Promise<ListedSchedule> {
  const found = await call.services.journeys.portfolioSchedules.get(scheduleId);
  if (!isReached(call, found)) throw unknownRun();
  return found;
}

function noted(scheduleId: string): { journeyId: string } {
  return { journeyId: `portfolio-schedule:${scheduleId}` };
}

function telling(name: 'pause' | 'unpause', summary: string): Route {
  return route({
    method: 'POST',
    path: `/v1/portfolio-schedules/{scheduleId}/${name}`,
    operationId: `${name}PortfolioSchedule`,
    summary,
    description: 'The schedule’s note says who, and why.',
    scope: 'portfolios:control',
    body: noteBody,
    answers: accepted,
    problems: notThere,
    async handle(call): Promise<Reply<200>> {
      const { services, sending } = call;
      const { scheduleId = '' } = call.params as { scheduleId?: string };
      call.noted(noted(scheduleId));
      await reached(call, scheduleId);
      const { reason } = parseWith(noteBody, call.body);
      await services.journeys.portfolioSchedules[name](scheduleId, `${call.by()}: ${reason}`, sending);
      return { status: 200, body: { accepted: true } };
    },
  });
}

export const portfolioScheduleRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/portfolio-schedules',
    operationId: 'createPortfolioSchedule',
    summary: 'Review a file again and again',
    description:
      'Each of its reviews has an id of its own. Repeated with the same content it changes nothing. For a review at ' +
      'once: POST /v1/portfolio-reviews.',
    scope: 'portfolios:start',
    body: createSchema,
    answers: startAnswers('scheduleId', 'createdPortfolioSchedule', 'created'),
    problems: startProblems('created'),
    async handle(call): Promise<Reply<200 | 201>> {
      const { services, caller, sending } = call;
      const wanted = parsePortfolioSchedule(call.body);
      const { scheduleId, order } = wanted;
      requireFileName(order.file, '/order/file');
      call.noted(noted(scheduleId));
      if (!reaches(caller, scopeOfInput(order))) {
        throw forbidden('reach', 'the token does not act for this profile and this end user');
      }
      const { duplicate } = await services.journeys.portfolioSchedules
        .create(wanted, sending)
        .catch(async (error: unknown) => {
          if (!(error instanceof PortfolioScheduleError) || error.code !== 'scheduleExists') throw error;
          if (!isReached(call, await services.journeys.portfolioSchedules.get(scheduleId))) {
            throw conflict('idTaken', 'this id is taken: choose another');
          }
          throw conflict('inputDiffers', 'this id was created with other content', error.paths);
        });
      return startReply(`/v1/portfolio-schedules/${scheduleId}`, { scheduleId, duplicate });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/portfolio-schedules',
    operationId: 'listPortfolioSchedules',
    summary: 'The schedules, when they begin next, and their last reviews',
    description: 'Temporal’s list of them may lag by some seconds.',
    scope: 'portfolios:read',
    answers: {
      200: {
        description: 'All that the token reaches.',
        schema: z.object({ schedules: z.array(scheduleSchema) }).meta({ id: 'portfolioSchedules' }),
      },
    },
    async handle(call): Promise<Reply<200>> {
      const found = await call.services.journeys.portfolioSchedules.list(call.sending);
      const schedules = found.filter((one) => isReached(call, one));
      call.noted({ count: schedules.length });
      return { status: 200, body: { schedules } };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/portfolio-schedules/{scheduleId}',
    operationId: 'getPortfolioSchedule',
    summary: 'One schedule',
    scope: 'portfolios:read',
    answers: { 200: { description: 'The schedule.', schema: scheduleSchema } },
    problems: notThere,
    async handle(call): Promise<Reply<200>> {
      call.noted(noted(call.params.scheduleId));
      return { status: 200, body: await reached(call, call.params.scheduleId) };
    },
  }),
  telling('pause', 'Start no review until it is told to go on'),
  telling('unpause', 'Go on after a pause'),
  route({
    method: 'DELETE',
    path: '/v1/portfolio-schedules/{scheduleId}',
    operationId: 'deletePortfolioSchedule',
    summary: 'End a schedule; the reviews that it has started go on',
    description: 'Of one that was deleted before, 404.',
    scope: 'portfolios:control',
    answers: { 200: { description: 'It was deleted.', schema: acceptedSchema } },
    problems: notThere,
    async handle(call): Promise<Reply<200>> {
      const { scheduleId } = call.params;
      call.noted(noted(scheduleId));
      await reached(call, scheduleId);
      call.by();
      await call.services.journeys.portfolioSchedules.delete(scheduleId, call.sending);
      return { status: 200, body: { accepted: true } };
    },
  }),
];
