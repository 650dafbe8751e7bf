/** `status` and `watch` of any run, and the same of a review by its own id. */
import type { Command } from 'commander';
import { needsPerson } from '../../../words/runs.ts';
import { showProgress, withRun } from '../../decisions/journey-action.ts';
import { RUN_ID, type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { pauseNotice } from '../../output/hold-lines.ts';
import { statusLines } from '../../output/status-lines.ts';

interface Named {
  argument: readonly [name: string, words: string];
  toOwnerId(given: string): string;
  description: string;
  examples: readonly string[];
}

const ANY = { argument: ['<id>', RUN_ID], toOwnerId: (runKey: string) => runKey } as const;

export function registerStatusCommand(program: Command): void {
  registerStatus(program, {
    ...ANY,
    description: 'show the status of a journey, a pull, a share or a review; exits with 3 if it needs a person',
    examples: ['credit-journey start --sample --journey-id J-1001', 'credit-journey status J-1001'],
  });
}

export function registerWatchCommand(program: Command): void {
  registerWatch(program, {
    ...ANY,
    description: 'show a run’s progress until it ends (0) or needs a person (3); a JSON line per change',
    examples: ['credit-journey start --sample --auto --journey-id J-1002', 'credit-journey watch J-1002'],
  });
}

export function registerStatus(parent: Command, { argument, toOwnerId, description, examples }: Named): void {
  const command = parent
    .command('status')
    .description(description)
    .argument(...argument);
  withExamples(withServerOptions(command), ...examples);
  command.action(async (given: string, options: ServerOptions) => {
    await withRun(toOwnerId(given), options, async (run, output) => {
      const [status, notice] = await Promise.all([run.status(), pauseNotice(output)]);
      output.answer(status, () => [...statusLines(status, output), ...notice]);
      process.exitCode = needsPerson(status) ? EXIT.needsPerson : EXIT.done;
    });
  });
}

export function registerWatch(parent: Command, { argument, toOwnerId, description, examples }: Named): void {
  const command = parent
    .command('watch')
    .description(description)
    .argument(...argument)
    .option('--through-holds', 'keep watching through holds, until the run ends');
  withExamples(withServerOptions(command), ...examples);
  command.action(async (given: string, options: ServerOptions & { throughHolds?: boolean }) => {
    const { throughHolds = false } = options;
    process.exitCode = await withRun(toOwnerId(given), options, (run, output) =>
      showProgress(run, output, { throughHolds }),
    );
  });
}
