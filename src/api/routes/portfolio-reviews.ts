/** Portfolio reviews: started by the name of a file, read, steered, and their results downloaded. */
import { z } from 'zod';
import { JourneyNotFoundError, UpdateRefusedError } from '../../client/connection/errors.ts';
import { Refusal } from '../../http/refusal.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { portfolioReview } from '../../messages/inputs/portfolio-review.ts';
import { portfolioFolder, readFolder } from '../../messages/portfolio/output-files.ts';
import { portfolioResultSchema, portfolioStatusSchema } from '../../messages/portfolio/shapes.ts';
import { type PortfolioMessage, steerReview } from '../../messages/withdraw.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { folderPath, openOutput, outputPaths, requirePortfolio } from '../../portfolio/file-path.ts';
import { listQuery, listRuns, runListSchema } from '../lists/runs.ts';
import { endingReply, messageAnswerSchema, messageReply } from '../message-answers.ts';
import { unknownRun } from '../problem.ts';
import { type Call, type Reply, type Route, route } from '../route.ts';
import { scopeOfInput } from '../run-scope.ts';
import { STATUS_HEADERS, statusReply } from '../status/status-replies.ts';
import { resultOf } from './results.ts';
import { START_PROBLEMS, startAnswers, startReply, startWithinReach } from './starting.ts';

const told = steerReview.schema().omit({ reviewId: true, by: true }).meta({ id: 'tellPortfolioReview' });

const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const FILE_RULE = 'must be the name of a file in the end user’s folder, without a folder of its own';

const fileNameSchema = z.string().regex(FILE_NAME, FILE_RULE).meta({
  description:
    'A name in the end user’s folder, `<profile>/<endUserCode>` of the workers’ PORTFOLIO_DIR. Never a path.',
});

/** @throws InvalidInputError */
function requireFileName(file: string): void {
  if (!FILE_NAME.test(file)) throw new InvalidInputError([{ path: '/file', rule: FILE_RULE }]);
}

const startSchema = z
  .strictObject({
    ...portfolioReview.schema().shape,
    file: fileNameSchema,
  })
  .meta({ id: 'startPortfolioReview' });

const resultSchema = z.object(portfolioResultSchema.shape).meta({ id: 'portfolioResult' });

const reviewOf = ({ reviewId }: { reviewId: string }) => ownerIdOf('portfolio', reviewId);

type Telling = 'pause' | 'resume' | 'withdraw';

function telling(name: Telling, path: 'pause' | 'resume' | 'withdrawal', summary: string): Route {
  return route({
    method: 'POST',
    path: `/v1/portfolio-reviews/{reviewId}/${path}`,
    operationId: `${name}PortfolioReview`,
    summary,
    scope: 'portfolios:control',
    about: ({ reviewId = '' }: { reviewId?: string }) => ownerIdOf('portfolio', reviewId),
    body: told,
    answers: { 200: { description: 'It was accepted, now or before.', schema: messageAnswerSchema } },
    problems: { 409: 'A code says why. `journeyFinished`: it has ended.' },
    async handle(call) {
      const { services, params, body, by, noted, sending } = call;
      noted({ journeyId: reviewOf(params) });
      const content = { ...body, by: by() } as unknown as Omit<PortfolioMessage, 'reviewId'>;
      const send = () => services.journeys.getPortfolio(params.reviewId)[name](content, sending);
      if (name !== 'withdraw') return messageReply(await send());
      return endingReply(call, { ...content, ownerId: reviewOf(params), action: 'withdraw' }, send);
    },
  });
}

/**
 * Withdraws the review, so that nothing more is sent for it, then ends it without its holds. The ledger has who cancelled it,
 * and why, before it ends.
 */
async function cancel(call: Call<'reviewId'>): Promise<Reply<200>> {
  const { services, params, body, by, noted, sending } = call;
  const ownerId = reviewOf(params);
  noted({ journeyId: ownerId });
  const review = services.journeys.getPortfolio(params.reviewId);
  const content = { ...body, by: by() } as unknown as Omit<PortfolioMessage, 'reviewId'>;
  const message = { ...content, ownerId, action: 'cancel' } as const;
  return endingReply(call, message, async () => {
    await review.withdraw(content, sending).catch((error: unknown) => {
      // It was withdrawn before, by another or for another reason. It may wait for its holds since then.
      if (!(error instanceof UpdateRefusedError)) throw error;
    });
    const ledger = await services.openLedger();
    const duplicate = await ledger.hasEndingMessage(message);
    const decidedAt = new Date().toISOString();
    await ledger.recordRunDecisions(ledger.identity.ledgerId, [{ ...message, decisionId: 'cancel', decidedAt }]);
    await review.cancel(sending).catch((error: unknown) => {
      // The withdrawal has ended it already.
      if (!(error instanceof JourneyNotFoundError)) throw error;
    });
    return { accepted: true, duplicate, recorded: true };
  });
}

/** Of a review that has ended, one JSON document a line. */
async function download(call: Call<'reviewId'>, what: 'results' | 'badRows'): Promise<Reply<200>> {
  const { services, params, noted, signal, giveUpSlot } = call;
  const { reviewId } = params;
  noted({ journeyId: reviewOf(params) });
  if (services.portfolioDirectory === undefined) {
    // Not 503: to come again helps nobody.
    throw new Refusal(
      501,
      'NotImplemented',
      'portfolioDirectory',
      'this API gives out no files: it has no PORTFOLIO_DIR',
    );
  }
  const result = await resultOf(services, services.journeys.getPortfolio(reviewId), signal);
  const { file, resultFile, badRowsFile } = result;
  if (what === 'badRows' && badRowsFile === undefined) throw unknownRun();
  const folder = folderPath(services.portfolioDirectory, readFolder(resultFile));
  const handle = await openOutput((await outputPaths(folder, file, reviewId))[what]);
  giveUpSlot();
  const headers = { 'content-disposition': `attachment; filename="${reviewId}.${what}.jsonl"` };
  return { status: 200, headers, stream: { type: 'application/x-ndjson', content: handle.createReadStream() } };
}

const DOWNLOAD_PROBLEMS = {
  409: '`resultNotReady`: it has not ended yet. `runFailed`: it ended without a result.',
  501: '`portfolioDirectory`: this API gives out no files, since it has no PORTFOLIO_DIR.',
  503: 'Also: the file cannot be read.',
} as const;

export const portfolioReviewRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/portfolio-reviews',
    operationId: 'startPortfolioReview',
    summary: 'Start a portfolio review: ACCTRVW for each row of a file',
    description:
      'Repeated with the same input it starts nothing. The file is in the folder of the end user; a file that is not there is refused.',
    scope: 'portfolios:start',
    body: startSchema,
    answers: startAnswers('reviewId', 'startedPortfolioReview'),
    problems: START_PROBLEMS,
    async handle(call) {
      const { services, body, noted } = call;
      const input = parseMessage(portfolioReview, body);
      requireFileName(input.file);
      noted({ journeyId: reviewOf(input) });
      const isNew = await startWithinReach(call, {
        ownerId: reviewOf(input),
        scope: scopeOfInput(input),
        profile: input.profile,
        check: async () => {
          const { portfolioDirectory } = services;
          if (portfolioDirectory !== undefined) {
            await requirePortfolio(portfolioDirectory, portfolioFolder(input), input.file);
          }
        },
        start: () => services.journeys.reviewPortfolio(input, { ...call.sending }),
      });
      return startReply(`/v1/portfolio-reviews/${input.reviewId}`, { reviewId: input.reviewId, isNew });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/portfolio-reviews',
    operationId: 'listPortfolioReviews',
    summary: 'Portfolio reviews: those that run first, then those that ended last',
    description: 'By visibility, which may lag by a second.',
    scope: 'portfolios:read',
    query: listQuery,
    answers: { 200: { description: 'One page.', schema: runListSchema } },
    async handle(call): Promise<Reply<200>> {
      const page = await listRuns(call, 'portfolio');
      call.noted({ count: page.data.length });
      return { status: 200, body: page };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/portfolio-reviews/{reviewId}',
    operationId: 'getPortfolioReview',
    summary: 'Where a portfolio review stands',
    description: 'Nothing personal.',
    scope: 'portfolios:read',
    about: reviewOf,
    headers: STATUS_HEADERS,
    answers: {
      200: { description: 'The status.', schema: portfolioStatusSchema, headers: { ETag: 'Of this status.' } },
      304: { description: 'It is still as If-None-Match says.' },
    },
    handle: (call) => {
      call.noted({ journeyId: reviewOf(call.params) });
      return statusReply(call, call.services.journeys.getPortfolio(call.params.reviewId));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/portfolio-reviews/{reviewId}/result',
    operationId: 'getPortfolioReviewResult',
    summary: 'What came of a portfolio review, as counts',
    scope: 'portfolios:read',
    about: reviewOf,
    answers: { 200: { description: 'It has ended.', schema: resultSchema } },
    problems: {
      409: '`resultNotReady`: it has not ended yet. `runFailed`: it ended without a result; `problems` says what was wrong with its input.',
    },
    async handle({ services, params, noted, signal }): Promise<Reply<200>> {
      noted({ journeyId: reviewOf(params) });
      return { status: 200, body: await resultOf(services, services.journeys.getPortfolio(params.reviewId), signal) };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/portfolio-reviews/{reviewId}/results',
    operationId: 'downloadReviewResults',
    summary: 'The outcome of each row, one JSON document a line',
    description: 'As the workers wrote it: outcomes and ids, no report, and nothing of a consumer.',
    scope: 'portfolios:read',
    about: reviewOf,
    answers: { 200: { description: 'The file, as `application/x-ndjson`.' } },
    problems: DOWNLOAD_PROBLEMS,
    handle: (call) => download(call, 'results'),
  }),
  route({
    method: 'GET',
    path: '/v1/portfolio-reviews/{reviewId}/bad-rows',
    operationId: 'downloadReviewBadRows',
    summary: 'The rows that nothing was sent for, one JSON document a line',
    description: 'Each with its line and the rules that it breaks, never a value.',
    scope: 'portfolios:read',
    about: reviewOf,
    answers: { 200: { description: 'The file, as `application/x-ndjson`.' } },
    problems: DOWNLOAD_PROBLEMS,
    handle: (call) => download(call, 'badRows'),
  }),
  telling('pause', 'pause', 'Send nothing more until resume'),
  telling('resume', 'resume', 'Go on after a pause'),
  telling('withdraw', 'withdrawal', 'End it after the attempts in flight, and once nothing is on hold'),
  route({
    method: 'POST',
    path: '/v1/portfolio-reviews/{reviewId}/cancellation',
    operationId: 'cancelPortfolioReview',
    summary: 'End it after the attempts in flight, and leave what is on hold undecided in the ledger',
    description: 'Withdraws it first, so that its history says who, and why. It has no result.',
    scope: 'portfolios:control',
    about: reviewOf,
    body: told,
    answers: { 200: { description: 'It was accepted, now or before.', schema: messageAnswerSchema } },
    problems: { 409: '`journeyFinished`: it has ended.' },
    handle: cancel,
  }),
];
