import type { Command } from 'commander';
import type { OpenHolds } from '../../../client.ts';
import type { LedgerJourneys } from '../../../operator/ledger-journeys.ts';
import { queryOf } from '../../decisions/holds-query.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { holdTable, resolveCommand, unmatchedLines } from '../../output/hold-lines.ts';
import { type Output, wrap } from '../../output/output.ts';
import { pauseNotice } from '../../output/pause-lines.ts';

interface HoldsOptions extends ServerOptions {
  type?: string;
  since?: string;
  ledger: boolean;
  seenConsents?: string;
  by?: string;
  reason?: string;
}

export function registerHoldsCommand(program: Command): void {
  const command = program
    .command('holds')
    .description('what needs a person, with the command that resolves it: 3 if anything does')
    .option('--type <failureType>', 'only holds for this reason')
    .option('--since <when>', 'only from this instant on, or from so long ago (PT2H)')
    .option('--no-ledger', 'leave out what the ledger alone has: what runs that are gone have left, unmatched consents')
    .option(
      '--seen-consents <id>',
      'take the consents that match nothing, of this id, off the list; with --by and --reason',
    )
    .option('--by <name>', 'who has seen to them')
    .option('--reason <why>', 'what was done about them');
  withExamples(
    withServerOptions(command),
    'credit-journey holds',
    'credit-journey holds --type OutcomeUnknown --since PT2H',
  );
  command.action(async (options: HoldsOptions) => {
    if (options.seenConsents !== undefined) return markConsentsSeen(options.seenConsents, options);
    const query = queryOf(options);
    const list = async (journeys: LedgerJourneys, output: Output) => {
      const [found, notice] = await Promise.all([journeys.holds(query), options.ledger ? pauseNotice(output) : []]);
      const holds = found.holds.map((hold) => ({ ...hold, resolve: resolveCommand(hold) }));
      const { unanswered, unmatchedConsents } = found;
      output.answer({ holds, unanswered, unmatchedConsents }, () => [...holdsLines(found, output), ...notice]);
      process.exitCode = exitCodeOf(found);
    };
    await withJourneys(options, list, { besideLedger: options.ledger });
  });
}

async function markConsentsSeen(ownerId: string, { by, reason, ...options }: HoldsOptions): Promise<void> {
  if (!by || !reason) throw new UsageError('--seen-consents needs --by and --reason');
  const mark = async (journeys: LedgerJourneys, output: Output) => {
    const seen = await journeys.markConsentsSeen({ ownerId, by, reason });
    output.answer({ seen }, () => [`consents taken off the list: ${seen}`]);
  };
  await withJourneys(options, mark, { besideLedger: true });
}

/** A journey that did not answer may need a person, so the exit code must not say that none does. */
function exitCodeOf({ holds, unanswered, unmatchedConsents }: OpenHolds): number {
  if (
    holds.length > 0 ||
    unmatchedConsents.length > 0 ||
    unanswered.some(({ needsAttention }) => needsAttention !== undefined)
  ) {
    return EXIT.needsPerson;
  }
  return unanswered.length > 0 ? EXIT.failed : EXIT.done;
}

function holdsLines({ holds, unanswered, unmatchedConsents }: OpenHolds, { width, colors }: Output): string[] {
  return [
    ...(holds.length + unanswered.length + unmatchedConsents.length === 0 ? ['nothing needs a person'] : []),
    ...(holds.length === 0 ? [] : holdTable(holds, width)),
    ...(unmatchedConsents.length === 0
      ? []
      : [colors.yellow('Consents that match nothing:'), ...unmatchedLines(unmatchedConsents, width)]),
    ...(unanswered.length === 0 ? [] : [colors.yellow('No worker answered for these journeys:')]),
    ...unanswered.flatMap(({ journeyId, needsAttention = '' }) =>
      wrap(`${journeyId} ${needsAttention}`.trimEnd(), width, '  '),
    ),
  ];
}
