import type { Command } from 'commander';
import { listWork } from '../../../operator/open-work.ts';
import { reasonWords } from '../../../words/holds.ts';
import { FILTERS, readFilters } from '../../decisions/hold-filters.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { pauseNotice } from '../../output/hold-lines.ts';
import type { GivenOptions } from '../../output/option-names.ts';
import { rowTable, wrap } from '../../output/output.ts';
import { optionFor } from '../../output/schema-options.ts';

export function fillHolds(command: Command): void {
  for (const member of FILTERS) command.addOption(optionFor(member));
  withExamples(
    withServerOptions(command),
    'credit-journey holds',
    'credit-journey holds --type OutcomeUnknown --since PT2H',
  );
  command.action(async (options: ServerOptions & GivenOptions) => {
    const filters = readFilters(options);
    process.exitCode = await withJourneys(
      options,
      async (journeys, output) => {
        const { colors, width } = output;
        const [work, notice] = await Promise.all([listWork(journeys, filters), pauseNotice(output)]);
        const { list, unanswered } = work;
        const rows = list.map(({ kind, runKey, reason, since, productCode, attempt, detail, command: resolving }) => ({
          ...{ kind, runKey, reason: reasonWords(reason), since, productCode, attempt, detail, command: resolving },
        }));
        output.answer(work, () => [
          ...(list.length + unanswered.length === 0 ? ['nothing needs a person'] : []),
          ...(list.length === 0 ? [] : rowTable(rows, width)),
          ...(unanswered.length === 0 ? [] : [colors.yellow('No worker answered for the events of these runs:')]),
          ...unanswered.flatMap(({ runKey }) => wrap(runKey, width, '  ')),
          ...notice,
        ]);
        // A delivery that did not answer may have given events up, so the exit code must not say that nothing needs a person.
        return list.length > 0 ? EXIT.needsPerson : unanswered.length > 0 ? EXIT.failed : EXIT.done;
      },
      { besideLedger: true },
    );
  });
}
