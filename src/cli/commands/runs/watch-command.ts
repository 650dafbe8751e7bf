/** `credit-journey watch`: the progress of any run. */
import type { Command } from 'commander';
import { requireRunKey, showProgress, withJourneys } from '../../decisions/journey-action.ts';
import { RUN_ID, type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';

export function registerWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .description('show a run’s progress until it ends (0) or needs a person (3); a JSON line per change')
    .argument('<id>', RUN_ID)
    .option('--through-holds', 'keep watching through holds, until the run ends');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --auto --journey-id J-1002',
    'credit-journey watch J-1002',
  );
  command.action(async (runKey: string, options: ServerOptions & { throughHolds?: boolean }) => {
    const { throughHolds = false } = options;
    requireRunKey(runKey);
    process.exitCode = await withJourneys(options, (journeys, output) =>
      showProgress(journeys.run(runKey), output, { throughHolds }),
    );
  });
}
