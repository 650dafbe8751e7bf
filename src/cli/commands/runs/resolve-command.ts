/** `credit-journey resolve`: an operator's decision about one hold, or about all of a kind. */
import type { Command } from 'commander';
import { HOLD_ACTIONS } from '../../../model/failure-types.ts';
import { DECISION_MEMBERS, type ResolveOptions } from '../../decisions/decision-flags.ts';
import { FILTERS } from '../../decisions/hold-filters.ts';
import { resolve } from '../../decisions/resolve.ts';
import { RUN_ID, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { optionKey } from '../../output/option-names.ts';
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

/** Options that belong to one inquiry alone. */
const OF_ONE = [
  ...['--decision-id', '--attempt', '--report-reference-number', '--requested-at', '--confirm-consumer-ids'],
  ...['--file', '--proof'],
];

const OF_ALL = ['--answers', ...FILTERS.map(({ flag }) => flag)];

export function fillResolve(command: Command): void {
  command.argument('[id]', RUN_ID).argument('[customerTraceNumber]', 'which inquiry, if the run has several holds');
  for (const member of DECISION_MEMBERS) command.addOption(optionFor(member, WORDS[member.flag]));
  command
    .option('--file <path>', 'JSON of the decision, such as its reference or applicants; - is standard input')
    .option('--proof <path>', 'the compact JWS that proves the decision and holds its members; - is standard input')
    .option('--all', 'every hold of a --type, or of the --answers; one decision each. The next options go with it')
    .option('--answers <path>', 'the provider’s answers by trace number, as CSV; - is standard input');
  for (const member of FILTERS) command.addOption(optionFor(member));
  command.option('--yes', 'do not ask for confirmation');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --lose-answer --journey-id J-1006',
    [
      'credit-journey resolve J-1006 --attempt 1 --action abandon --by ops \\',
      '      --provider-said posted --reason "the applicant has withdrawn"',
    ].join('\n'),
  );
  command.action(async (runKey: string | undefined, trace: string | undefined, options: ResolveOptions) => {
    if (options.all && options.type === undefined && options.answers === undefined) {
      throw new UsageError('--all needs a --type, or --answers');
    }
    const foreign = (options.all ? OF_ONE : OF_ALL).filter((flag) => options[optionKey(flag)] !== undefined);
    if (foreign.length > 0) {
      throw new UsageError(`${foreign.join(', ')} belongs to ${options.all ? 'one inquiry, not to --all' : '--all'}`);
    }
    if ((runKey === undefined) !== (options.all === true)) throw new UsageError('give an id or --all, one of them');
    process.exitCode = await resolve(runKey === undefined ? undefined : { runKey, trace }, options);
  });
}
