/** `portfolio`: ACCTRVW over a file that the workers have. */
import type { Command } from 'commander';
import { toRunKey } from '../../../model/run-key.ts';
import { requireRunKey, withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { holdTable, toListed } from '../../output/hold-lines.ts';
import { registerStatus, registerWatch } from './status-command.ts';

const REVIEW = {
  argument: ['<reviewId>', 'the review’s id'],
  toOwnerId: (reviewId: string) => toRunKey('portfolio', reviewId),
} as const;

export function registerPortfolioCommand(program: Command): void {
  const portfolio = program.command('portfolio').description('review a portfolio file: ACCTRVW for each of its rows');
  registerStatus(portfolio, {
    ...REVIEW,
    description: 'show the status of a review; exits with 3 if something needs a person',
    examples: ['credit-journey portfolio status R-1001'],
  });
  registerWatch(portfolio, {
    ...REVIEW,
    description: 'show done, held, rate and time left until it ends (0), or only holds or missing files are left (3)',
    examples: ['credit-journey portfolio watch R-1001'],
  });
  registerHolds(portfolio);
}

function registerHolds(portfolio: Command): void {
  const command = portfolio
    .command('holds')
    .description('list what needs a person in a review, with the commands that resolve it')
    .argument(...REVIEW.argument);
  withExamples(withServerOptions(command), 'credit-journey portfolio holds R-1001');
  command.action(async (reviewId: string, options: ServerOptions) => {
    const runKey = toRunKey('portfolio', reviewId);
    requireRunKey(runKey);
    await withJourneys(options, async (journeys, output) => {
      const { holds } = await journeys.getPortfolio(reviewId).status();
      output.answer({ reviewId, holds }, () =>
        holds.length === 0
          ? ['nothing of it needs a person']
          : holdTable(
              holds.map((hold) => toListed(runKey, hold)),
              output.width,
            ),
      );
      process.exitCode = holds.length > 0 ? EXIT.needsPerson : EXIT.done;
    });
  });
}
