import type { Command } from 'commander';
import type { AdvanceMessage } from '../model/shapes.ts';
import { checkMessage } from './check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from './common-options.ts';
import { UsageError } from './errors.ts';
import { showAnswer, withJourney } from './journey-action.ts';
import { given, readObject } from './json-input.ts';

interface AdvanceOptions extends ServerOptions {
  to?: string;
  repeat?: string;
  occurrence?: string;
  acceptAge?: true;
  by?: string;
  reason?: string;
  file?: string;
}

export function registerAdvanceCommand(program: Command): void {
  const command = program
    .command('advance')
    .description('pass the gate before a stage, or pull the latest stage once more; one that comes early is kept')
    .argument('<journeyId>')
    .option('--to <stage>', 'PREAPP or PRECLOSE')
    .option('--accept-age', 'with --to: although the latest report is older than maxReportAge')
    .option('--repeat <stage>', 'one further inquiry for the stage that was answered last')
    .option('--occurrence <number>', 'with --repeat: which pull of the stage it is to be, 2 for the first repeat')
    .option('--by <who>', 'with --repeat or --accept-age: who decides it')
    .option('--reason <text>', 'and why')
    .option('--file <path>', 'JSON with the message’s other fields (applicants); - is standard input');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey advance J-1001 --to PREAPP',
    'credit-journey advance J-1001 --repeat PREAPP --occurrence 2 --by underwriting --reason "the offer was renewed"',
  );
  command.action(async (journeyId: string, options: AdvanceOptions) => {
    const { to, repeat, occurrence, acceptAge, by, reason, file } = options;
    const fields = given({ to, repeat, occurrence: occurrenceOf(occurrence), acceptAge, by, reason });
    const message = { ...(await readObject(file)), ...fields } as unknown as AdvanceMessage;
    await checkMessage('advance', { ...message, journeyId });
    await withJourney(journeyId, options, async (journey, output) => {
      showAnswer(await journey.advance(message), output);
    });
  });
}

function occurrenceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new UsageError('--occurrence must be a whole number, 2 or more');
  return Number(text);
}
