/** `watch` and `holds`: show a run, and the work queue. */
import type { Command } from 'commander';
import { describeReason, resolveCommand } from '../../words/holds.ts';
import {
  RUN_ID,
  type ServerOptions,
  withApiOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../output/common-options.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, formatRowTable } from '../output/output.ts';
import { type GivenOptions, toOption } from '../output/schema-options.ts';
import { type CallOptions, withOperations } from './call-operation.ts';
import { requireRunKey, showProgress, withJourneys } from './connections.ts';
import { FILTERS, listHolds, readFilters } from './work-filters.ts';

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
    withOutputOptions(withApiOptions(command)),
    'credit-journey holds',
    'credit-journey holds --type OutcomeUnknown --since PT2H',
  );
  command.action(async (options: CallOptions & GivenOptions) => {
    const filters = readFilters(options);
    const output = createOutput(options);
    const holds = await withOperations(options, (call) => listHolds(call, filters), 'ledger');
    const list = holds.map(({ guide: _, decideAt: __, ...hold }) => ({ ...hold, command: resolveCommand(hold) }));
    output.answer({ list }, () => {
      const rows = list.map(({ kind, runKey, reason, since, productCode, attempt, command: resolving }) => ({
        kind,
        runKey,
        reason: describeReason(reason).words,
        since,
        productCode,
        attempt,
        command: resolving,
      }));
      return rows.length === 0 ? ['nothing needs a person'] : formatRowTable(rows, output.width);
    });
    if (list.length > 0) process.exitCode = EXIT.needsPerson;
  });
}
