/** `closing-date`: sets or moves the closing date, by which PRECLOSE is pulled. */
import type { Command } from 'commander';
import type { SetClosingDateMessage } from '../../../messages/journey/shapes.ts';
import { showAnswer, withJourney } from '../../decisions/journey-action.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { given } from '../../output/json-input.ts';
import { refusedAsTyped } from '../../output/option-names.ts';

interface ClosingDateOptions extends ServerOptions {
  date?: string;
  change?: string;
  by?: string;
  reason?: string;
}

export function registerClosingDateCommand(program: Command): void {
  const command = program
    .command('closing-date')
    .description('set or move the closing date of a journey, by which PRECLOSE is pulled')
    .argument('<journeyId>')
    .option('--date <date>', 'YYYY-MM-DD, a day in the time zone of the gateway profile')
    .option('--change <number>', 'the number of the change: 1 for the first; status has the latest')
    .option('--by <who>', 'who decides it')
    .option('--reason <text>', 'and why');
  withExamples(
    withServerOptions(command),
    [
      'credit-journey closing-date J-1001 --date 2030-01-31 --change 1 \\',
      '      --by underwriting --reason "the buyer asked for it"',
    ].join('\n'),
  );
  command.action(async (journeyId: string, options: ClosingDateOptions) => {
    const { date, change, by, reason } = options;
    const fields = given({ closingDate: date, change: changeOf(change), by, reason });
    const message = fields as unknown as Omit<SetClosingDateMessage, 'journeyId'>;
    await checkMessage('setClosingDate', { ...message, journeyId }, { ...options });
    await withJourney(journeyId, options, async (journey, output) => {
      const answer = await journey.setClosingDate(message).catch((error: unknown) => {
        throw refusedAsTyped(error, 'setClosingDate', { ...options });
      });
      showAnswer(answer, output);
    });
  });
}

function changeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new UsageError('--change must be a whole number, 1 or more');
  return Number(text);
}
