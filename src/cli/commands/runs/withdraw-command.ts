import type { Command } from 'commander';
import type { WithdrawMessage, WithdrawShareMessage } from '../../../messages/withdraw.ts';
import { ownerOf } from '../../../model/owner-id.ts';
import { requireOwnerId, showAnswer, withJourney, withRun } from '../../decisions/journey-action.ts';
import { checkMessage, checkRunMessage } from '../../output/check-message.ts';
import { RUN_ID, type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { given } from '../../output/json-input.ts';

interface WithdrawOptions extends ServerOptions {
  share?: string;
  by?: string;
  reason?: string;
}

export function registerWithdrawCommand(program: Command): void {
  const command = program
    .command('withdraw')
    .description('end a journey, a pull, a share or a review after any attempt in flight; or take back one share')
    .argument('<id>', RUN_ID)
    .option('--share <shareId>', 'of a journey: only this share, before it is sent')
    .option('--by <who>', 'who decides it')
    .option('--reason <text>', 'why');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1004',
    'credit-journey withdraw J-1004 --share S-1 --by operations --reason "another investor was meant"',
    'credit-journey withdraw J-1004 --by operations --reason "applicant changed plans"',
  );
  command.action(async (id: string, { share: shareId, by, reason, ...options }: WithdrawOptions) => {
    const message = given({ by, reason }) as unknown as Omit<WithdrawMessage, 'journeyId'>;
    if (shareId !== undefined) return withdrawShare(id, { shareId, ...message }, options);
    await checkRunMessage('withdraw', id, message);
    await withRun(id, options, async (run, output) => {
      showAnswer(await run.withdraw(message), output);
    });
  });
}

async function withdrawShare(
  id: string,
  message: Omit<WithdrawShareMessage, 'journeyId'>,
  options: ServerOptions,
): Promise<void> {
  requireOwnerId(id);
  if (ownerOf(id).kind !== 'journey') throw new UsageError('--share goes with a journey; a share by itself needs none');
  await checkMessage('withdrawShare', { journeyId: id, ...message });
  await withJourney(id, options, async (journey, output) => {
    showAnswer(await journey.withdrawShare(message), output);
  });
}
