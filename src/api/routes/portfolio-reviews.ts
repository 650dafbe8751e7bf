/** Portfolio reviews: started by the name of a file, read, steered, and their results downloaded. */
import { z } from 'zod';
import { hasCode } from '../../client/connection/errors.ts';
import { Refusal } from '../../http/refusal.ts';
import { type PortfolioReviewInput, portfolioReview } from '../../messages/inputs/portfolio-review.ts';
import { readFolder, toPortfolioFolder } from '../../messages/portfolio/output-files.ts';
import { portfolioResultSchema, portfolioStatusSchema } from '../../messages/portfolio/shapes.ts';
import { type PortfolioMessage, steerReview } from '../../messages/withdraw.ts';
import { openOutput, requirePortfolio, resolveFolderPath, resolveOutputPaths } from '../../portfolio/files.ts';
import { type Call, defineRoute, Reply, type Route } from '../route.ts';
import { createRunRoutes, readResult, toBodySchema } from './runs.ts';

const steering = toBodySchema(steerReview.schema(), ['reviewId', 'by']).meta({ id: 'tellPortfolioReview' });

const fileNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, 'must be the name of a file in the end user’s folder, not a path')
  .meta({
    description:
      'A name in the end user’s folder, `<profile>/<endUserCode>` of the workers’ PORTFOLIO_DIR. Never a path.',
  });

const startSchema = z.strictObject({ ...portfolioReview.schema().shape, file: fileNameSchema });
const startInput = { ...portfolioReview, schema: () => startSchema };

const steeringRoute = { message: steerReview, body: steering, scope: 'portfolios:control' } as const;

const reviewRoutes = createRunRoutes<PortfolioReviewInput>({
  kind: 'portfolio',
  path: '/v1/portfolio-reviews',
  name: 'PortfolioReview',
  words: ['a portfolio review', 'portfolio reviews'],
  reads: 'portfolios:read',
  status: portfolioStatusSchema,
  result: {
    schema: z.object(portfolioResultSchema.shape).meta({ id: 'portfolioResult' }),
    description: 'The result, as counts.',
  },
  start: {
    summary: 'Start a portfolio review: ACCTRVW for each row of a file',
    description:
      'The same start, sent again, starts nothing new. The file is in the folder of the end user; the API refuses a file that does not exist.',
    scope: 'portfolios:start',
    body: startSchema,
    findDefinition: () => startInput,
    async require({ services: { portfolioDirectory } }, input) {
      if (portfolioDirectory === undefined) return;
      await requirePortfolio(portfolioDirectory, toPortfolioFolder(input), input.file);
    },
  },
  messages: [
    {
      ...steeringRoute,
      update: 'pause',
      summary: 'Pause a review: send nothing more until resume',
    },
    {
      ...steeringRoute,
      update: 'resume',
      summary: 'Resume a review after a pause',
    },
    {
      ...steeringRoute,
      update: 'withdraw',
      path: '/withdrawal',
      summary: 'Withdraw a review: end it after the attempts in flight, once nothing is on hold',
      ends: 'withdraw',
    },
    {
      ...steeringRoute,
      path: '/cancellation',
      operationId: 'cancelPortfolioReview',
      summary: 'End the review after the attempts in flight, and leave its holds undecided in the ledger',
      description:
        'The API withdraws the review first, so that the ledger records who ended it, and why. The review has no result.',
      ends: 'cancel',
      send: cancel,
    },
  ],
});

/**
 * Withdraws the review, so that nothing more is sent for it, then ends it without its holds. The ledger has who cancelled it,
 * and why, before it ends.
 */
async function cancel({ services, sending }: Call, reviewId: string, content: object) {
  const message = content as Omit<PortfolioMessage, 'reviewId'>;
  const review = services.journeys.run(`portfolio:${reviewId}`);
  await review.withdraw(message, sending).catch((error: unknown) => {
    // Another caller withdrew the review before, or gave another reason. The review may still wait for its holds.
    if (!hasCode(error, 'updateRefused')) throw error;
  });
  const ledger = await services.openLedger();
  const cancellation = { ...message, runKey: review.runKey, action: 'cancel' } as const;
  const duplicate = await ledger.hasEndingMessage(cancellation);
  const decidedAt = new Date().toISOString();
  await ledger.recordRunDecisions(ledger.identity.ledgerId, [{ ...cancellation, decisionId: 'cancel', decidedAt }]);
  await review.cancel(sending).catch((error: unknown) => {
    // The withdrawal has ended it already.
    if (!hasCode(error, 'journeyNotFound')) throw error;
  });
  return { accepted: true, duplicate, recorded: true } as const;
}

interface ReviewFile extends Pick<Route, 'operationId' | 'summary' | 'description'> {
  what: 'results' | 'badRows';
  path: `/${string}`;
}

/** Downloads a file of a review that has ended, one JSON document a line. */
function downloadRoute({ what, path, ...words }: ReviewFile): Route {
  return defineRoute({
    at: `GET /v1/portfolio-reviews/{reviewId}${path}`,
    ...words,
    scope: 'portfolios:read',
    done: 'The file, as `application/x-ndjson`.',
    problems: {
      409: '`resultNotReady`: it has not ended yet. `runFailed`: it ended without a result.',
      501: '`portfolioDirectory`: this API gives out no files, since it has no PORTFOLIO_DIR.',
      503: 'Also: the file cannot be read.',
    },
    async run(call) {
      const { services, giveUpSlot } = call;
      const { reviewId } = call.params;
      if (services.portfolioDirectory === undefined) throw new Refusal('portfolioDirectory');
      const { file, resultFile, badRowsFile } = await readResult(call, services.journeys.run(`portfolio:${reviewId}`));
      if (what === 'badRows' && badRowsFile === undefined) throw new Refusal('notFound');
      const folder = resolveFolderPath(services.portfolioDirectory, readFolder(resultFile));
      const handle = await openOutput((await resolveOutputPaths(folder, file, reviewId))[what]);
      giveUpSlot();
      const headers = { 'content-disposition': `attachment; filename="${reviewId}.${what}.jsonl"` };
      return new Reply(200, {
        headers,
        stream: { type: 'application/x-ndjson', content: handle.createReadStream() },
      });
    },
  });
}

export const portfolioReviewRoutes: readonly Route[] = [
  ...reviewRoutes,
  downloadRoute({
    what: 'results',
    path: '/results',
    operationId: 'downloadReviewResults',
    summary: 'Download the outcome of each row, one JSON document per line',
    description: 'The file that the workers wrote: outcomes and ids, no report, and nothing of a consumer.',
  }),
  downloadRoute({
    what: 'badRows',
    path: '/bad-rows',
    operationId: 'downloadReviewBadRows',
    summary: 'Download the rows that the review did not send, one JSON document per line',
    description: 'Each row with its line and the rules that it breaks, never a value.',
  }),
];
