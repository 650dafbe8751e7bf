import type { Command } from 'commander';
import type { WithdrawMessage } from '../../../messages/journey/shapes.ts';
import { showAnswer, withRun } from '../../decisions/journey-action.ts';
import { checkRunMessage } from '../../output/check-message.ts';
import { RUN_ID, type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { given } from '../../output/json-input.ts';

interface WithdrawOptions extends ServerOptions {
  by?: string;
  reason?: string;
}

export function registerWithdrawCommand(program: Command): void {
  const command = program
    .command('withdraw')
    .description('end a journey, a pull, a share or a review after any attempt in flight')
    .argument('<id>', RUN_ID)
    .option('--by <who>', 'who decides it')
    .option('--reason <text>', 'why');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1004',
    'credit-journey withdraw J-1004 --by operations --reason "applicant changed plans"',
  );
  command.action(async (id: string, { by, reason, ...options }: WithdrawOptions) => {
    const message = given({ by, reason }) as unknown as Omit<WithdrawMessage, 'journeyId'>;
    await checkRunMessage('withdraw', id, message);
    await withRun(id, options, async (run, output) => {
      showAnswer(await run.withdraw(message), output);
    });
  });
}
