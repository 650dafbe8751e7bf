import type { Command } from 'commander';
import type { WithdrawMessage } from '../model/shapes.ts';
import { checkMessage } from './check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from './common-options.ts';
import { showAnswer, withJourney } from './journey-action.ts';
import { given } from './json-input.ts';

interface WithdrawOptions extends ServerOptions {
  by?: string;
  reason?: string;
}

export function registerWithdrawCommand(program: Command): void {
  const command = program
    .command('withdraw')
    .description('end a journey after any attempt in flight')
    .argument('<journeyId>')
    .option('--by <who>', 'who decides it')
    .option('--reason <text>', 'why');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1004',
    'credit-journey withdraw J-1004 --by operations --reason "applicant changed plans"',
  );
  command.action(async (journeyId: string, { by, reason, ...options }: WithdrawOptions) => {
    const message = given({ by, reason }) as unknown as WithdrawMessage;
    await checkMessage('withdraw', { ...message, journeyId });
    await withJourney(journeyId, options, async (journey, output) => {
      showAnswer(await journey.withdraw(message), output);
    });
  });
}
