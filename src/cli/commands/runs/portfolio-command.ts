/** `portfolio`: ACCTRVW over a file that the workers have. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { heldByRun } from '../../../client/holds/open-hold.ts';
import type { PortfolioReviewInput } from '../../../messages/inputs/portfolio-review.ts';
import { ownerIdOf } from '../../../model/owner-id.ts';
import { needsPerson } from '../../../words/runs.ts';
import { requireOwnerId, showProgress, showStarted, withJourneys } from '../../decisions/journey-action.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { holdTable } from '../../output/hold-lines.ts';
import { given } from '../../output/json-input.ts';
import { statusLines } from '../../output/status-lines.ts';

interface StartOptions extends ServerOptions {
  reviewId?: string;
  profile?: string;
  endUser?: string;
  purpose?: string;
  format?: string;
  window?: string;
  maxBadRows?: string;
  watch?: boolean;
}

export function registerPortfolioCommand(program: Command): void {
  const portfolio = program.command('portfolio').description('review a portfolio file: ACCTRVW for each of its rows');
  registerStart(portfolio);
  registerStatus(portfolio);
  registerWatch(portfolio);
  registerHolds(portfolio);
}

function registerStart(portfolio: Command): void {
  const command = portfolio
    .command('start')
    .description('start a review; the same id again finds the first')
    .argument('<file>', 'in the end user’s folder, <profile>/<endUserCode> of the workers’ PORTFOLIO_DIR')
    .requiredOption('--end-user <endUserCode>', 'for whom the reports are')
    .requiredOption('--purpose <permissiblePurposeCode>', 'the permissible purpose')
    .option('--profile <name>', 'gateway profile')
    .option('--format <format>', 'csv or jsonl (default: by the file’s name)')
    .option('--window <rows>', 'rows under way at once (default: 20)')
    .option('--max-bad-rows <rows>', 'send nothing where there are more (default: 100)')
    .option('--review-id <id>', 'the review’s id (default: a new one)')
    .option('--watch', 'show its progress until it ends, or waits for a person');
  withExamples(
    withServerOptions(command),
    'credit-journey portfolio start sample.csv --review-id R-1001 --end-user EU123 --purpose 01 --watch',
  );
  command.action(async (file: string, options: StartOptions) => {
    const { reviewId = `R-${randomUUID()}`, profile, format, window, maxBadRows } = options;
    const input = given({
      ...{ reviewId, file, profile, format, endUserCode: options.endUser, permissiblePurposeCode: options.purpose },
      window: window === undefined ? undefined : Number(window),
      maxBadRows: maxBadRows === undefined ? undefined : Number(maxBadRows),
    }) as unknown as PortfolioReviewInput;
    await checkMessage('portfolio', input);
    process.exitCode = await withJourneys(options, async (journeys, output, client) => {
      const review = await journeys.reviewPortfolio(input);
      const { reviewId, ownerId, workflowId } = review;
      const started = { reviewId, id: ownerId, workflowId, taskQueue: journeys.taskQueue };
      return showStarted(review, started, output, { client, watch: options.watch });
    });
  });
}

const REVIEW_ID = 'the review’s id';

function registerStatus(portfolio: Command): void {
  const command = portfolio
    .command('status')
    .description('where a review stands; exit code 3 where something needs a person')
    .argument('<reviewId>', REVIEW_ID);
  withExamples(withServerOptions(command), 'credit-journey portfolio status R-1001');
  command.action(async (reviewId: string, options: ServerOptions) => {
    requireOwnerId(ownerIdOf('portfolio', reviewId));
    await withJourneys(options, async (journeys, output) => {
      const status = await journeys.getPortfolio(reviewId).status();
      output.answer(status, () => statusLines(status, output));
      process.exitCode = needsPerson(status) ? EXIT.needsPerson : EXIT.done;
    });
  });
}

function registerWatch(portfolio: Command): void {
  const command = portfolio
    .command('watch')
    .description('show done, held, rate and time left until it ends (0), or only holds or missing files are left (3)')
    .argument('<reviewId>', REVIEW_ID)
    .option('--through-holds', 'go on where it waits for a person, until it ends');
  withExamples(withServerOptions(command), 'credit-journey portfolio watch R-1001');
  command.action(async (reviewId: string, options: ServerOptions & { throughHolds?: boolean }) => {
    requireOwnerId(ownerIdOf('portfolio', reviewId));
    const { throughHolds = false } = options;
    process.exitCode = await withJourneys(options, (journeys, output) =>
      showProgress(journeys.getPortfolio(reviewId), output, { throughHolds }),
    );
  });
}

function registerHolds(portfolio: Command): void {
  const command = portfolio
    .command('holds')
    .description('what of a review needs a person, with the commands that resolve it')
    .argument('<reviewId>', REVIEW_ID);
  withExamples(withServerOptions(command), 'credit-journey portfolio holds R-1001');
  command.action(async (reviewId: string, options: ServerOptions) => {
    const ownerId = ownerIdOf('portfolio', reviewId);
    requireOwnerId(ownerId);
    await withJourneys(options, async (journeys, output) => {
      const { holds } = await journeys.getPortfolio(reviewId).status();
      output.answer({ reviewId, holds }, () =>
        holds.length === 0
          ? ['nothing of it needs a person']
          : holdTable(
              holds.map((hold) => heldByRun(ownerId, hold)),
              output.width,
            ),
      );
      process.exitCode = holds.length > 0 ? EXIT.needsPerson : EXIT.done;
    });
  });
}
