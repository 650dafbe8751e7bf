/** `changes`: what a journey's preclose report says that the report before it did not (personal data). */
import type { Command } from 'commander';
import { requireJourneyId } from '../../decisions/journey-action.ts';
import { changeLines } from '../../output/change-lines.ts';
import { type OutputOptions, withExamples, withOutputOptions } from '../../output/common-options.ts';
import { createOutput } from '../../output/output.ts';

export function registerChangesCommand(program: Command): void {
  const command = program
    .command('changes')
    .description('what changed before closing, from the codec server or the ledger (personal data)')
    .argument('<journeyId>');
  withExamples(
    withOutputOptions(command),
    'credit-journey start --sample --auto --journey-id J-1001',
    'credit-journey changes J-1001',
  );
  command.action(async (journeyId: string, options: OutputOptions) => {
    const [{ openConfiguredReports }, { ChangesNotFoundError }] = await Promise.all([
      import('../../../operator/configured-reports.ts'),
      import('../../../client/connection/errors.ts'),
    ]);
    requireJourneyId(journeyId);
    await using reports = await openConfiguredReports(process.env);
    const found = await reports.changes(journeyId);
    if (!found) throw new ChangesNotFoundError(journeyId);
    const output = createOutput(options);
    output.answer(found, () => changeLines(journeyId, found, output));
    if (found.redacted) output.note('masked by the codec server. The roles of its token decide who sees all of it');
  });
}
