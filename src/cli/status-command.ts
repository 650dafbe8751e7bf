import type { Command } from 'commander';
import { type ServerOptions, withExamples, withServerOptions } from './common-options.ts';
import { EXIT } from './exit-codes.ts';
import { showProgress, withJourney } from './journey-action.ts';
import { needsPerson, statusLines } from './status-lines.ts';

export function registerStatusCommand(program: Command): void {
  const command = program
    .command('status')
    .description('where a journey stands; exit code 3 where it needs a person')
    .argument('<journeyId>');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey status J-1001',
  );
  command.action(async (journeyId: string, options: ServerOptions) => {
    await withJourney(journeyId, options, async (journey, output) => {
      const status = await journey.status();
      output.answer(status, () => statusLines(status, output));
      process.exitCode = needsPerson(status) ? EXIT.needsPerson : EXIT.done;
    });
  });
}

export function registerWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .description('show a journey’s progress until it ends (0) or needs a person (3); a JSON line per change')
    .argument('<journeyId>')
    .option('--through-holds', 'go on where it needs a person, until it ends');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --auto --journey-id J-1002',
    'credit-journey watch J-1002',
  );
  command.action(async (journeyId: string, options: ServerOptions & { throughHolds?: boolean }) => {
    const { throughHolds = false } = options;
    process.exitCode = await withJourney(journeyId, options, (journey, output) =>
      showProgress(journey, output, { throughHolds }),
    );
  });
}
