import type { Command } from 'commander';
import type { AdvanceMessage } from '../model/shapes.ts';
import { checkMessage } from './check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from './common-options.ts';
import { showAnswer, withJourney } from './journey-action.ts';
import { given, readObject } from './json-input.ts';

interface AdvanceOptions extends ServerOptions {
  to?: string;
  file?: string;
}

export function registerAdvanceCommand(program: Command): void {
  const command = program
    .command('advance')
    .description('pass the gate before a stage; one that comes early is kept')
    .argument('<journeyId>')
    .option('--to <stage>', 'PREAPP or PRECLOSE')
    .option('--file <path>', 'JSON with the message’s other fields (applicants); - is standard input');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey advance J-1001 --to PREAPP',
  );
  command.action(async (journeyId: string, { to, file, ...options }: AdvanceOptions) => {
    const message = { ...(await readObject(file)), ...given({ to }) } as unknown as AdvanceMessage;
    await checkMessage('advance', { ...message, journeyId });
    await withJourney(journeyId, options, async (journey, output) => {
      showAnswer(await journey.advance(message), output);
    });
  });
}
