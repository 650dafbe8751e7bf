/** The kinds of runs: how each starts, what its result shows, and which messages it takes. runs.ts makes the operations. */
import { z } from 'zod';
import { CallError, hasCode } from '../client/connection/errors.ts';
import { isRunOpen } from '../client/connection/temporal-runs.ts';
import { applicantsSchema, failsafeApplicantsSchema } from '../fields/applicant-schemas.ts';
import { Refusal } from '../http/refusal.ts';
import { advance } from '../messages/advance.ts';
import { extend, extendShareReport } from '../messages/extend.ts';
import { chooseWorkflow, INPUTS } from '../messages/inputs/all-inputs.ts';
import { type LendingJourneyInput, lendingJourney } from '../messages/inputs/lending-journey.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { type PortfolioReviewInput, portfolioReview } from '../messages/inputs/portfolio-review.ts';
import { creditReport, failsafeCheck, type PullInput } from '../messages/inputs/pull.ts';
import { type ShareReportInput, shareReport } from '../messages/inputs/share-report.ts';
import { journeyResultSchema, stageStatusSchema } from '../messages/journey/shapes.ts';
import type { Loose } from '../messages/message.ts';
import { readFolder, toPortfolioFolder } from '../messages/portfolio/output-files.ts';
import { portfolioResultSchema } from '../messages/portfolio/shapes.ts';
import { pullResultSchema } from '../messages/pull/shapes.ts';
import { requestShare } from '../messages/request-share.ts';
import { shareReportResultSchema } from '../messages/share/shapes.ts';
import {
  steerReview,
  withdrawJourney,
  withdrawPull,
  withdrawShare,
  withdrawShareReport,
} from '../messages/withdraw.ts';
import { repeatContent } from '../model/decision-content.ts';
import { openOutput, requirePortfolio, resolveFolderPath, resolveOutputPaths } from '../portfolio/portfolio-file.ts';
import { requireScope } from './caller.ts';
import { type Call, defineOperation, type Operation, Reply } from './operation.ts';
import { refuseDifferent } from './problem.ts';
import { readRun } from './run-list.ts';
import { createRunOperations, readResult } from './runs.ts';

export const journeyOperations: readonly Operation[] = createRunOperations<LendingJourneyInput>({
  kind: 'journey',
  path: '/v1/journeys',
  name: 'Journey',
  words: ['a journey', 'journeys'],
  reads: 'journeys:read',
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
      metas: [
        // To accept an old report, or to skip a stage, needs a reason.
        { id: 'passGate', dependentRequired: { acceptAge: ['reason'], skip: ['reason'] } },
        { id: 'repeatStage' },
      ],
      // To accept an old report, and to skip or repeat a stage, needs the name of the person who decides.
      needsName: (content) => ['acceptAge', 'skip', 'repeat'].some((name) => Object.hasOwn(content, name)),
      async send({ services, sending }, journeyId, content) {
        const { environment, signer } = services;
        const message = parseMessage(advance, content);
        // A repeat makes a further inquiry, so it is proved as a decision is. Other advances need no proof.
        if (signer && 'repeat' in message) message.proof ??= await signer.sign(repeatContent(environment, message));
        return services.journeys.get(journeyId).advance(message, sending);
      },
    },
    {
      message: extend,
      summary: 'Extend the wait at a gate, or the wait of a share for consent',
      scope: 'journeys:advance',
      metas: [{ oneOf: [{ required: ['gate'] }, { required: ['shareId'] }] }],
    },
    {
      message: requestShare,
      path: '/shares',
      operationId: 'requestShare',
      summary: 'Ask for one more share',
      scope: 'shares:request',
    },
    {
      message: withdrawShare,
      path: '/shares/{shareId}/withdrawal',
      operationId: 'withdrawShare',
      summary: 'Withdraw a share before it is sent',
      description: '`recorded` says whether the ledger already forbids any attempt to send it.',
      scope: 'shares:withdraw',
      ends: true,
    },
    {
      message: withdrawJourney,
      path: '/withdrawal',
      summary: 'End a journey after any attempt in flight',
      description: 'The withdrawal takes effect at once. `recorded` says whether the ledger already has it.',
      scope: 'journeys:withdraw',
      ends: true,
    },
  ],
});

export const pullOperations: readonly Operation[] = createRunOperations<PullInput>({
  kind: 'pull',
  path: '/v1/pulls',
  name: 'Pull',
  words: ['a pull', 'pulls'],
  reads: 'pulls:read',
  result: {
    // Without the members that hold a `consumerId`, which is personal.
    schema: pullResultSchema.omit({ reference: true, consumers: true, unattributed: true }).meta({ id: 'pullResult' }),
    description: 'The result has no references: read those with `reports:read`.',
  },
  start: {
    summary: 'Start a single pull: one report product, or FAILSAFE',
    description:
      'The same start, sent again, starts nothing new. A FAILSAFE without an end user needs a token for all end users.',
    scope: 'pulls:start',
    body: z.union([
      creditReport.schema(applicantsSchema).meta({ id: 'startCreditReport' }),
      failsafeCheck.schema(failsafeApplicantsSchema).meta({ id: 'startFailsafeCheck' }),
    ]),
    hasWorkClass: true,
    findDefinition: (content) => INPUTS[chooseWorkflow('pull', content)],
  },
  messages: [
    {
      message: withdrawPull,
      path: '/withdrawal',
      summary: 'End a pull after any attempt in flight',
      scope: 'pulls:withdraw',
      ends: true,
    },
  ],
});

export const shareOperations: readonly Operation[] = createRunOperations<ShareReportInput>({
  kind: 'share',
  path: '/v1/shares',
  name: 'Share',
  words: ['a share by itself', 'shares by themselves'],
  reads: 'shares:read',
  result: { schema: z.object(shareReportResultSchema.shape).meta({ id: 'shareReportResult' }) },
  start: {
    summary: 'Share a report by itself, once every applicant consents',
    description:
      'The input names a report of the ledger, or contains one in full. The same start, sent again, starts nothing new. Consents go to ' +
      '`/v1/consents`, with `share:<shareId>` as `journeyId`.',
    scope: 'shares:request',
    body: shareReport.schema(),
    findDefinition: () => shareReport,
  },
  messages: [
    {
      message: extendShareReport,
      summary: 'Extend the wait for consent while it lasts',
      scope: 'shares:request',
    },
    {
      message: withdrawShareReport,
      path: '/withdrawal',
      operationId: 'withdrawShareReport',
      summary: 'Withdraw a share by itself after any attempt in flight',
      description: '`recorded` says whether the ledger already forbids any attempt to send it.',
      scope: 'shares:withdraw',
      ends: true,
    },
  ],
});

const reviewSchema = z.strictObject({
  ...portfolioReview.schema().shape,
  file: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, 'must be the name of a file in the end user’s folder, not a path')
    .describe(
      'A name in the end user’s folder, `<profile>/<endUserCode>` of the workers’ PORTFOLIO_DIR. Never a path.',
    ),
});
const reviewInput = { ...portfolioReview, schema: () => reviewSchema };

const steering = {
  message: steerReview,
  metas: [{ id: 'tellPortfolioReview' }],
  scope: 'portfolios:control',
} as const;

export const portfolioReviewOperations: readonly Operation[] = createRunOperations<PortfolioReviewInput>({
  kind: 'portfolio',
  path: '/v1/portfolio-reviews',
  name: 'PortfolioReview',
  words: ['a portfolio review', 'portfolio reviews'],
  reads: 'portfolios:read',
  result: {
    schema: z.object(portfolioResultSchema.shape).meta({ id: 'portfolioResult' }),
    description: 'The result, as counts.',
  },
  start: {
    summary: 'Start a portfolio review: ACCTRVW for each row of a file',
    description:
      'The same start, sent again, starts nothing new. The file is in the folder of the end user; the API refuses a file that does not exist.',
    scope: 'portfolios:start',
    body: reviewSchema,
    findDefinition: () => reviewInput,
    async require({ services: { portfolioDirectory } }, input) {
      if (portfolioDirectory === undefined) return;
      await requirePortfolio(portfolioDirectory, toPortfolioFolder(input), input.file);
    },
  },
  messages: [
    {
      ...steering,
      update: 'pause',
      summary: 'Pause a review: send nothing more until resume',
    },
    {
      ...steering,
      update: 'resume',
      summary: 'Resume a review after a pause',
    },
    {
      ...steering,
      update: 'withdraw',
      path: '/withdrawal',
      summary: 'Withdraw a review: end it after the attempts in flight, once nothing is on hold',
      ends: true,
    },
    {
      ...steering,
      path: '/cancellation',
      operationId: 'cancelPortfolioReview',
      summary: 'End the review after the attempts in flight, and leave its holds undecided in the ledger',
      description:
        'The API withdraws the review first, so that the ledger records who ended it, and why. The review has no result.',
      send: cancel,
    },
  ],
}).concat(
  download('results', 'results', {
    operationId: 'downloadReviewResults',
    summary: 'Download the outcome of each row, one JSON document per line',
    description: 'The file that the workers wrote: outcomes and ids, no report, and nothing of a consumer.',
  }),
  download('badRows', 'bad-rows', {
    operationId: 'downloadReviewBadRows',
    summary: 'Download the rows that the review did not send, one JSON document per line',
    description: 'Each row with its line and the rules that it breaks, never a value.',
  }),
);

/**
 * Withdraws the review, so that nothing more is sent for it, then ends it without its holds. The ledger has who cancelled it,
 * and why, before it ends.
 */
async function cancel({ services, sending }: Call, reviewId: string, content: Loose) {
  const { by, reason } = parseMessage(steerReview, content);
  const review = services.journeys.run(`portfolio:${reviewId}`);
  const cancellation = { runKey: review.runKey, action: 'cancel', by, reason } as const;
  const ledger = await services.openLedger();
  const paths = await ledger.findEndingDifferences(cancellation);
  refuseDifferent('cancel was accepted', { paths: paths ?? [] });
  const accepted = { accepted: true, duplicate: paths !== undefined, recorded: true } as const;
  if (!(await isRunOpen(services.client, review.runKey))) {
    if (paths) return accepted;
    // A review that there is not has not finished.
    await readRun(services.client, review.runKey);
    throw new CallError('journeyFinished', { runKey: review.runKey });
  }
  await review.withdraw({ by, reason }, sending).catch((error: unknown) => {
    // Another caller withdrew the review before, or gave another reason. The review may still wait for its holds.
    if (!hasCode(error, 'updateRefused')) throw error;
  });
  const decidedAt = new Date().toISOString();
  await ledger.recordRunDecisions(ledger.identity.ledgerId, [{ ...cancellation, decisionId: 'cancel', decidedAt }]);
  await review.cancel(sending).catch((error: unknown) => {
    // The withdrawal has ended it already.
    if (!hasCode(error, 'notFound')) throw error;
  });
  return accepted;
}

/** Downloads a file of a review that has ended, one JSON document a line. */
function download(
  what: 'results' | 'badRows',
  path: 'results' | 'bad-rows',
  words: Pick<Operation, 'operationId' | 'summary' | 'description'>,
) {
  return defineOperation({
    at: `GET /v1/portfolio-reviews/{reviewId}/${path}`,
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
      return new Reply(200, {
        headers: { 'content-disposition': `attachment; filename="${reviewId}.${what}.jsonl"` },
        stream: { type: 'application/x-ndjson', content: handle.createReadStream() },
      });
    },
  });
}
