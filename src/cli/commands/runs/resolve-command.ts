/** `credit-journey resolve`: a person's decision about one hold, about all of a kind, or about a row without a run. */

import type { Command } from 'commander';
import { HOLD_ACTIONS } from '../../../model/failure-types.ts';
import { PROVIDER_SAID } from '../../../model/provider-word.ts';
import { REPORT_OUTCOMES } from '../../../model/report-outcome.ts';
import type { ResolveOptions } from '../../decisions/decision-flags.ts';
import { holdFilterOf, isFiltered, withHoldFilters } from '../../decisions/holds-query.ts';
import { RUN_ID, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';

export function registerResolveCommand(program: Command): void {
  const command = program
    .command('resolve')
    .description('decide about an inquiry on hold; on a terminal it asks for what is missing')
    .argument('[id]', RUN_ID)
    .argument('[customerTraceNumber]', 'where it has several holds')
    .option('--action <action>', `${HOLD_ACTIONS.join(', ')}; with --ledger also seen`)
    .option('--by <name>', 'who decides')
    .option('--reason <text>', 'why')
    .option('--provider-said <what>', PROVIDER_SAID.join(', '))
    .option('--attempt <number>', 'the attempt that is judged, as the hold shows it')
    .option('--outcome <outcome>', `of accept: ${REPORT_OUTCOMES.join(', ')}`)
    .option('--reference <file>', 'of accept with a record: JSON; - is standard input')
    .option(
      '--confirm-consumer-ids',
      'of a reference: its consumerIds are right, although the ledger has them of others',
    )
    .option('--applicants <file>', 'of amend: JSON list; - is standard input (default: the same applicants)')
    .option('--decision-id <id>', 'the decision’s own id; the same one twice decides once')
    .option('--proof <file>', 'the compact JWS that proves it; what it holds need not be given; - is standard input')
    .option('--all', 'every hold of a --type, or of the --answers; one decision each. The next six go with it')
    .option('--type <failureType>', 'only for this reason')
    .option('--since <when>', 'only from this instant on, or from so long ago (PT2H)')
    .option('--answers <file>', 'the provider’s answers by trace number: CSV or JSON; - is standard input');
  withHoldFilters(command)
    .option('--ledger <customerTraceNumber>', 'an inquiry whose run is gone')
    .option('--yes', 'do not ask whether it shall be done');
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
      refuseBeside('--all', { journeyId, '--ledger': options.ledger });
      const { resolveAll } = await import('../../decisions/resolve-all.ts');
      process.exitCode = await resolveAll(options);
      return;
    }
    refuseWithoutAll(options);
    if (options.ledger !== undefined) {
      refuseBeside('--ledger', { journeyId });
      const { resolveInLedger } = await import('../../decisions/resolve-in-ledger.ts');
      process.exitCode = await resolveInLedger(options.ledger, options);
      return;
    }
    if (journeyId === undefined) throw new UsageError('give an id, --ledger <customerTraceNumber> or --all');
    const { resolveOne } = await import('../../decisions/resolve-one.ts');
    process.exitCode = await resolveOne(journeyId, trace, options);
  });
}

function refuseBeside(mode: string, others: Record<string, unknown>): void {
  const given = Object.keys(others).filter((name) => others[name] !== undefined);
  if (given.length > 0) throw new UsageError(`${mode} stands by itself, without ${given.join(' and ')}`);
}

function refuseWithoutAll(options: ResolveOptions): void {
  const { type, since, answers } = options;
  if (isFiltered(holdFilterOf(options)) || [type, since, answers].some((value) => value !== undefined)) {
    throw new UsageError('--type, --since, --end-user, --product, --profile and --answers belong to --all');
  }
}
