/** `credit-journey resolve`: a person's decision about one hold, or about all of a kind. */

import type { Command } from 'commander';
import { HOLD_ACTIONS } from '../../../model/failure-types.ts';
import { PROVIDER_SAID } from '../../../model/provider-word.ts';
import { REPORT_OUTCOMES } from '../../../model/report-outcome.ts';
import type { ResolveOptions } from '../../decisions/decision-flags.ts';
import { withWorkFilters } from '../../decisions/work-query.ts';
import { RUN_ID, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';

export function registerResolveCommand(program: Command): void {
  const command = program
    .command('resolve')
    .description('decide about an inquiry on hold; on a terminal the command asks for missing options')
    .argument('[id]', RUN_ID)
    .argument('[customerTraceNumber]', 'which inquiry, if the run has several holds')
    .option('--action <action>', `${HOLD_ACTIONS.join(', ')}; for a flag: seen`)
    .option('--by <name>', 'who decides')
    .option('--reason <text>', 'why')
    .option('--provider-said <what>', PROVIDER_SAID.join(', '))
    .option('--attempt <number>', 'the attempt to decide about, as the hold shows it')
    .option('--outcome <outcome>', `of accept: ${REPORT_OUTCOMES.join(', ')}`)
    .option('--reference <file>', 'of accept with a record: JSON; - is standard input')
    .option(
      '--confirm-consumer-ids',
      'with --reference: its consumerIds are right, although the ledger has them of others',
    )
    .option('--applicants <file>', 'of amend: JSON list; - is standard input (default: the same applicants)')
    .option('--decision-id <id>', 'the decision’s own id; the same one twice decides once')
    .option('--proof <file>', 'the compact JWS that proves the decision and holds its members; - is standard input')
    .option('--all', 'every hold of a --type, or of the --answers; one decision each. The next six options go with it')
    .option('--answers <file>', 'the provider’s answers by trace number: CSV or JSON; - is standard input');
  withWorkFilters(command).option('--yes', 'do not ask for confirmation');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --lose-answer --journey-id J-1006',
    [
      'credit-journey resolve J-1006 --attempt 1 --action abandon --by ops \\',
      '      --provider-said posted --reason "the applicant has withdrawn"',
    ].join('\n'),
  );
  command.action(async (journeyId: string | undefined, trace: string | undefined, options: ResolveOptions) => {
    if (options.all) {
      if (journeyId !== undefined) throw new UsageError('--all stands by itself, without journeyId');
      const { resolveAll } = await import('../../decisions/resolve-all.ts');
      process.exitCode = await resolveAll(options);
      return;
    }
    const { type, since, endUser, product, profile, answers } = options;
    if ([type, since, endUser, product, profile, answers].some((value) => value !== undefined)) {
      throw new UsageError('--type, --since, --end-user, --product, --profile and --answers belong to --all');
    }
    if (journeyId === undefined) throw new UsageError('give an id, or --all');
    const { resolveOne } = await import('../../decisions/resolve-one.ts');
    process.exitCode = await resolveOne(journeyId, trace, options);
  });
}
