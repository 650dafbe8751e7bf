/** `portfolio`: ACCTRVW over a file that the workers have. */
import type { Command } from 'commander';
import { heldByRun } from '../../../client/holds/open-hold.ts';
import { ownerIdOf } from '../../../model/owner-id.ts';
import { needsPerson } from '../../../words/runs.ts';
import { requireOwnerId, showProgress, withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { holdTable } from '../../output/hold-lines.ts';
import { statusLines } from '../../output/status-lines.ts';

export function registerPortfolioCommand(program: Command): void {
  const portfolio = program.command('portfolio').description('review a portfolio file: ACCTRVW for each of its rows');
  registerStatus(portfolio);
  registerWatch(portfolio);
  registerHolds(portfolio);
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
