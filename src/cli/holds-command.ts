import type { Command } from 'commander';
import type { CreditJourneys, HoldsQuery, OpenHolds } from '../client.ts';
import { FAILURE_TYPES, type FailureType, isFailureType } from '../model/failure-types.ts';
import { type ServerOptions, withExamples, withServerOptions } from './common-options.ts';
import { UsageError } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import { holdTable, resolveCommand } from './hold-lines.ts';
import { withJourneys } from './journey-action.ts';
import { type Output, wrap } from './output.ts';
import { sinceOf } from './since.ts';

interface HoldsOptions extends ServerOptions {
  type?: string;
  since?: string;
  ledger: boolean;
}

export function registerHoldsCommand(program: Command): void {
  const command = program
    .command('holds')
    .description('what needs a person, with the command that resolves it: 3 if anything does')
    .option('--type <failureType>', 'only holds for this reason')
    .option('--since <when>', 'only from this instant on, or from so long ago (PT2H)')
    .option('--no-ledger', 'leave out what runs that are gone have left in the ledger');
  withExamples(
    withServerOptions(command),
    'credit-journey holds',
    'credit-journey holds --type OutcomeUnknown --since PT2H',
  );
  command.action(async (options: HoldsOptions) => {
    const query = queryOf(options);
    const list = async (journeys: CreditJourneys, output: Output) => {
      const found = await journeys.holds(query);
      const holds = found.holds.map((hold) => ({ ...hold, resolve: resolveCommand(hold) }));
      output.answer({ holds, unanswered: found.unanswered }, () => holdsLines(found, output));
      process.exitCode = exitCodeOf(found);
    };
    await withJourneys(options, list, { besideLedger: options.ledger });
  });
}

export function queryOf({ type, since, ledger }: Pick<HoldsOptions, 'type' | 'since' | 'ledger'>): HoldsQuery {
  const failureType = failureTypeOf(type);
  const from = sinceOf(since);
  return {
    ledger,
    ...(failureType === undefined ? {} : { failureType }),
    ...(from === undefined ? {} : { since: from }),
  };
}

function failureTypeOf(type: string | undefined): FailureType | undefined {
  if (type === undefined || isFailureType(type)) return type;
  throw new UsageError(`--type must be one of ${FAILURE_TYPES.join(', ')}`);
}

/** Who could not be asked may need a person: to say "none" would be a lie. */
function exitCodeOf({ holds, unanswered }: OpenHolds): number {
  if (holds.length > 0 || unanswered.some(({ needsAttention }) => needsAttention !== undefined)) {
    return EXIT.needsPerson;
  }
  return unanswered.length > 0 ? EXIT.failed : EXIT.done;
}

function holdsLines({ holds, unanswered }: OpenHolds, { width, colors }: Output): string[] {
  return [
    ...(holds.length === 0 && unanswered.length === 0 ? ['nothing needs a person'] : []),
    ...(holds.length === 0 ? [] : holdTable(holds, width)),
    ...(unanswered.length === 0 ? [] : [colors.yellow('No worker answered for these journeys:')]),
    ...unanswered.flatMap(({ journeyId, needsAttention = '' }) =>
      wrap(`${journeyId} ${needsAttention}`.trimEnd(), width, '  '),
    ),
  ];
}
