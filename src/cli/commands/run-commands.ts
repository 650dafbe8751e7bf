/** `watch`, `holds` and `resolve`: shows a run or the work queue, and sends an operator's decision. */
import type { Command } from 'commander';
import { HOLD_ACTIONS } from '../../model/failure-types.ts';
import { readHolds } from '../../operator/holds.ts';
import { describeReason, resolveCommand } from '../../words/holds.ts';
import { DECISION_MEMBERS, FILTERS, type ResolveOptions, readFilters } from '../decisions/decision-flags.ts';
import { requireRunKey, showProgress, withJourneys, withLedger } from '../decisions/journey-action.ts';
import { resolve } from '../decisions/resolve.ts';
import {
  type OutputOptions,
  RUN_ID,
  type ServerOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, formatRowTable } from '../output/output.ts';
import { type GivenOptions, toOption, toOptionKey } from '../output/schema-options.ts';
import { readPauseNotice } from '../output/status-lines.ts';

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
    withOutputOptions(command),
    'credit-journey holds',
    'credit-journey holds --type OutcomeUnknown --since PT2H',
  );
  command.action(async (options: OutputOptions & GivenOptions) => {
    const filters = readFilters(options);
    const output = createOutput(options);
    process.exitCode = await withLedger(async (ledger) => {
      const [holds, notice] = await Promise.all([readHolds(ledger, filters), readPauseNotice(output)]);
      const list = holds.map(({ guide: _, decideAt: __, ...hold }) => ({ ...hold, command: resolveCommand(hold) }));
      output.answer({ list }, () => {
        const rows = list.map(({ kind, runKey, reason, since, productCode, attempt, command: resolving }) => ({
          ...{ kind, runKey, reason: describeReason(reason), since, productCode, attempt, command: resolving },
        }));
        return [...(rows.length === 0 ? ['nothing needs a person'] : formatRowTable(rows, output.width)), ...notice];
      });
      return list.length > 0 ? EXIT.needsPerson : EXIT.done;
    });
  });
}

const WORDS: Readonly<Record<string, string>> = {
  '--decision-id': 'the decision’s own id; the same one twice decides once',
  '--attempt': 'the attempt to decide about, as the hold shows it',
  '--action': HOLD_ACTIONS.join(', '),
  '--by': 'who decides',
  '--reason': 'why',
  '--report-reference-number': 'to accept a record: its report’s reference; --file gives its applicants',
  '--requested-at': 'to accept a record: when its report was requested, in RFC 3339',
  '--proof': 'the compact JWS that proves the decision',
  '--confirm-consumer-ids':
    'with a reference: its consumerIds are right, although the ledger has them for other applicants only',
};

/** Options that belong to one inquiry alone. */
const OF_ONE = [
  ...['--decision-id', '--attempt', '--report-reference-number', '--requested-at', '--confirm-consumer-ids'],
  ...['--file', '--proof'],
];

const OF_ALL = ['--answers', ...FILTERS.map(({ flag }) => flag)];

export function registerResolveCommand(program: Command): void {
  const command = program
    .command('resolve')
    .description('decide about an inquiry on hold; on a terminal the command asks for missing options');
  command.argument('[id]', RUN_ID).argument('[customerTraceNumber]', 'which inquiry, if the run has several holds');
  for (const member of DECISION_MEMBERS) command.addOption(toOption(member, WORDS[member.flag]));
  command
    .option('--file <path>', 'JSON of the decision, such as its reference or applicants; - is standard input')
    .option('--all', 'every hold of a --type, or of the --answers; one decision each. The next options go with it')
    .option('--answers <path>', 'the provider’s answers by trace number, as CSV; - is standard input');
  for (const member of FILTERS) command.addOption(toOption(member));
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
    const foreign = (options.all ? OF_ONE : OF_ALL).filter((flag) => options[toOptionKey(flag)] !== undefined);
    if (foreign.length > 0) {
      throw new UsageError(`${foreign.join(', ')} belongs to ${options.all ? 'one inquiry, not to --all' : '--all'}`);
    }
    if ((runKey === undefined) !== (options.all === true)) throw new UsageError('give an id or --all, one of them');
    process.exitCode = await resolve(runKey === undefined ? undefined : { runKey, trace }, options);
  });
}
