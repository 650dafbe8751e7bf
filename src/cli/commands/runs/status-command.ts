import type { Command } from 'commander';
import { type AnyStatus, needsPerson } from '../../../words/runs.ts';
import { showProgress, withRun } from '../../decisions/journey-action.ts';
import { RUN_ID, type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { pauseNotice } from '../../output/hold-lines.ts';
import { statusLines } from '../../output/status-lines.ts';

export function registerStatusCommand(program: Command): void {
  const command = program
    .command('status')
    .description('where a journey, a pull, a share or a review stands; exit code 3 where it needs a person')
    .argument('<id>', RUN_ID);
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey status J-1001',
  );
  command.action(async (id: string, options: ServerOptions) => {
    await withRun(id, options, async (run, output) => {
      const { withLaterWithdrawals } = await import('../../../operator/later-withdrawals.ts');
      const [status, notice] = await Promise.all([
        run.status().then((one: AnyStatus) => withLaterWithdrawals(one, process.env)),
        pauseNotice(output),
      ]);
      output.answer(status, () => [...statusLines(status, output), ...notice]);
      process.exitCode = needsPerson(status) ? EXIT.needsPerson : EXIT.done;
    });
  });
}

export function registerWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .description('show a run’s progress until it ends (0) or needs a person (3); a JSON line per change')
    .argument('<id>', RUN_ID)
    .option('--through-holds', 'go on where it needs a person, until it ends');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --auto --journey-id J-1002',
    'credit-journey watch J-1002',
  );
  command.action(async (id: string, options: ServerOptions & { throughHolds?: boolean }) => {
    const { throughHolds = false } = options;
    process.exitCode = await withRun(id, options, (run, output) => showProgress(run, output, { throughHolds }));
  });
}
