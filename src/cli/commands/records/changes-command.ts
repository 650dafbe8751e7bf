/** `changes`: what a journey's preclose report says that the report before it did not (personal data). */
import type { Command } from 'commander';
import { requireJourneyId } from '../../decisions/journey-action.ts';
import { changeLines } from '../../output/change-lines.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { createOutput } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

export function registerChangesCommand(program: Command): void {
  const command = program
    .command('changes')
    .description('what changed before closing, from the ledger (personal data)')
    .argument('<journeyId>');
  withExamples(
    withOutputOptions(command),
    'credit-journey start --sample --auto --journey-id J-1001',
    'credit-journey changes J-1001',
  );
  command.action(async (journeyId: string, options: OutputOptions) => {
    requireJourneyId(journeyId);
    const { readChanges } = await import('../../../operator/ledger-reports.ts');
    const found = await withLedger((ledger) => readChanges(ledger, journeyId));
    const output = createOutput(options);
    output.answer(found, () => changeLines(journeyId, found, output));
  });
}
