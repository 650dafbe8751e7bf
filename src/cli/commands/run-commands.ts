/** `watch` and `holds`: show a run, and the work queue. */
import type { Command } from 'commander';
import { listWork } from '../../operator/open-work.ts';
import { describeReason } from '../../words/holds.ts';
import { RUN_ID, type ServerOptions, withExamples, withServerOptions } from '../output/common-options.ts';
import { EXIT } from '../output/exit-codes.ts';
import { formatRowTable, wrap } from '../output/output.ts';
import { type GivenOptions, toOption } from '../output/schema-options.ts';
import { readPauseNotice } from '../output/status-lines.ts';
import { requireRunKey, showProgress, withJourneys } from './connections.ts';
import { FILTERS, readFilters } from './work-filters.ts';

export function registerWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .description('show a run’s progress until it ends (0) or needs a person (3); a JSON line per change');
  command.argument('<id>', RUN_ID).option('--through-holds', 'keep watching through holds, until the run ends');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --auto --journey-id J-1002',
    'credit-journey watch J-1002',
  );
  command.action(async (runKey: string, options: ServerOptions & { throughHolds?: boolean }) => {
    const { throughHolds = false } = options;
    requireRunKey(runKey);
    process.exitCode = await withJourneys(options, (journeys, output) =>
      showProgress(journeys.run(runKey), output, { throughHolds }),
    );
  });
}

export function registerHoldsCommand(program: Command): void {
  const command = program
    .command('holds')
    .description('list what needs a person, with the command that resolves it: exits with 3 if there is anything');
  for (const member of FILTERS) command.addOption(toOption(member));
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
        const [work, notice] = await Promise.all([listWork(journeys, filters), readPauseNotice(output)]);
        const { list, unanswered } = work;
        const rows = list.map(({ kind, runKey, reason, since, productCode, attempt, detail, command: resolving }) => ({
          ...{ kind, runKey, reason: describeReason(reason), since, productCode, attempt, detail, command: resolving },
        }));
        output.answer(work, () => [
          ...(list.length + unanswered.length === 0 ? ['nothing needs a person'] : []),
          ...(list.length === 0 ? [] : formatRowTable(rows, width)),
          ...(unanswered.length === 0 ? [] : [colors.yellow('No worker answered for the events of these runs:')]),
          ...unanswered.flatMap(({ runKey }) => wrap(runKey, width, '  ')),
          ...notice,
        ]);
        // A delivery that did not answer may have given up events, so the exit code must not report success.
        return list.length > 0 ? EXIT.needsPerson : unanswered.length > 0 ? EXIT.failed : EXIT.done;
      },
      { besideLedger: true },
    );
  });
}
