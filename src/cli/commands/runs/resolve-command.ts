/** `credit-journey resolve`: an operator's decision about one hold, or about all of a kind. */
import type { Command } from 'commander';
import { HOLD_ACTIONS } from '../../../model/failure-types.ts';
import { DECISION_MEMBERS, type ResolveOptions } from '../../decisions/decision-flags.ts';
import { resolve } from '../../decisions/resolve.ts';
import { withWorkFilters } from '../../decisions/work-query.ts';
import { RUN_ID, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { optionFor } from '../../output/schema-options.ts';

const WORDS: Readonly<Record<string, string>> = {
  '--decision-id': 'the decision’s own id; the same one twice decides once',
  '--attempt': 'the attempt to decide about, as the hold shows it',
  '--action': HOLD_ACTIONS.join(', '),
  '--by': 'who decides',
  '--reason': 'why',
  '--report-reference-number': 'to accept a record: its report’s reference; --file gives its applicants',
  '--requested-at': 'to accept a record: when its report was requested, in RFC 3339',
  '--confirm-consumer-ids':
    'with a reference: its consumerIds are right, although the ledger has them for other applicants only',
};

export function fillResolve(command: Command): void {
  command.argument('[id]', RUN_ID).argument('[customerTraceNumber]', 'which inquiry, if the run has several holds');
  for (const member of DECISION_MEMBERS) command.addOption(optionFor(member, WORDS[member.flag]));
  command
    .option('--file <path>', 'JSON of the decision, such as its reference or applicants; - is standard input')
    .option('--proof <path>', 'the compact JWS that proves the decision and holds its members; - is standard input')
    .option('--all', 'every hold of a --type, or of the --answers; one decision each. The next six options go with it')
    .option('--answers <path>', 'the provider’s answers by trace number: CSV or JSON; - is standard input');
  withWorkFilters(command).option('--yes', 'do not ask for confirmation');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --lose-answer --journey-id J-1006',
    [
      'credit-journey resolve J-1006 --attempt 1 --action abandon --by ops \\',
      '      --provider-said posted --reason "the applicant has withdrawn"',
    ].join('\n'),
  );
  command.action(async (runKey: string | undefined, trace: string | undefined, options: ResolveOptions) => {
    if (options.all) {
      if (runKey !== undefined) throw new UsageError('--all takes no id');
      process.exitCode = await resolve(undefined, options);
      return;
    }
    const { type, since, endUser, product, profile, answers } = options;
    if ([type, since, endUser, product, profile, answers].some((value) => value !== undefined)) {
      throw new UsageError('--type, --since, --end-user, --product, --profile and --answers belong to --all');
    }
    if (runKey === undefined) throw new UsageError('give an id, or --all');
    process.exitCode = await resolve({ runKey, trace }, options);
  });
}
