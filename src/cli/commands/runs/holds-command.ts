import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import type { OpenDeliveries } from '../../../client/holds/webhook-deliveries.ts';
import type { HoldsQuery, OpenHolds } from '../../../client.ts';
import type { LedgerJourneys } from '../../../operator/ledger-journeys.ts';
import { type Attention, attentionList } from '../../decisions/attention-list.ts';
import {
  type HoldFilter,
  holdFilterOf,
  isFiltered,
  passes,
  queryOf,
  withHoldFilters,
} from '../../decisions/holds-query.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { pauseNotice, workTable } from '../../output/hold-lines.ts';
import { type Output, wrap } from '../../output/output.ts';

interface HoldsOptions extends ServerOptions, HoldFilter {
  type?: string;
  since?: string;
  ledger: boolean;
  seenConsents?: string;
  seenRun?: string;
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
    .option('--seen-run <id>', 'take what was flagged about this run as a whole off the list; with --by and --reason')
    .option('--by <name>', 'who has seen to them')
    .option('--reason <why>', 'what was done about them');
  withHoldFilters(command);
  withExamples(
    withServerOptions(command),
    'credit-journey holds',
    'credit-journey holds --type OutcomeUnknown --since PT2H',
  );
  command.action(async (options: HoldsOptions) => {
    if (options.seenRun !== undefined) return markRunSeen(options.seenRun, options);
    if (options.seenConsents !== undefined) return markConsentsSeen(options.seenConsents, options);
    const query = queryOf(options);
    const filter = holdFilterOf(options);
    const ofAllKinds = query.failureType === undefined && !isFiltered(filter);
    const list = async (journeys: LedgerJourneys, output: Output, client: Client) => {
      const [all, events, notice] = await Promise.all([
        journeys.holds(query),
        ofAllKinds ? failedDeliveries(client, journeys.taskQueue, query) : { deliveries: [], unanswered: [] },
        options.ledger ? pauseNotice(output) : [],
      ]);
      const found = { ...only(all, filter), deliveries: events.deliveries };
      found.unanswered.push(...events.unanswered.map((journeyId) => ({ journeyId })));
      const needs = attentionList(found, found.deliveries);
      output.answer({ list: needs, ...found }, () => [...lines(needs, found, output), ...notice]);
      process.exitCode = exitCodeOf(needs, found.unanswered);
    };
    await withJourneys(options, list, { besideLedger: options.ledger }).catch((error) => {
      throw options.ledger ? withoutLedger(error, process.env) : error;
    });
  });
}

/** More than a person reads at once. Each is asked by a query. */
const MOST_DELIVERIES = 500;

async function failedDeliveries(client: Client, taskQueue: string, { since }: HoldsQuery): Promise<OpenDeliveries> {
  const { openDeliveries } = await import('../../../client/holds/webhook-deliveries.ts');
  const found = await openDeliveries(client, taskQueue, { failed: true, limit: MOST_DELIVERIES });
  const sinceMs = since === undefined ? 0 : Date.parse(since);
  const deliveries = found.deliveries.filter(({ endpoints }) =>
    endpoints.some(({ failed }) => failed.some(({ failedAt }) => Date.parse(failedAt) >= sinceMs)),
  );
  return { ...found, deliveries };
}

const LEDGER_VARIABLES = ['LEDGER_URL', 'LEDGER_URL_FILE', 'LEDGER_ID', 'KEY_RING_FILE'];

/**
 * A client has no ledger and shall make none: it is told how to do without. Where the environment names a ledger, its
 * own problem is told.
 */
function withoutLedger(error: unknown, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof Error) || LEDGER_VARIABLES.some((name) => env[name])) return error;
  const problems = 'problems' in error && Array.isArray(error.problems) ? error.problems : [];
  const isAboutLedger =
    ['LedgerNotFoundError', 'KeyRingError'].includes(error.name) ||
    (error.name === 'ConfigError' && problems.every(({ variable }) => LEDGER_VARIABLES.includes(variable)));
  if (!isAboutLedger) return error;
  return new UsageError(
    'this environment names no ledger: with --no-ledger the list has everything but what the ledger alone has. ' +
      'A complete list takes a worker’s LEDGER_URL and KEY_RING_FILE',
  );
}

/** A consent that matches nothing is of no known end user, product or profile. */
function only(found: OpenHolds, filter: HoldFilter): OpenHolds {
  if (!isFiltered(filter)) return found;
  const holds = found.holds.filter((hold) => passes(hold, filter));
  return { ...found, holds, attention: [], failing: [], unmatchedConsents: [] };
}

async function markRunSeen(ownerId: string, { by, reason, ...options }: HoldsOptions): Promise<void> {
  if (!by || !reason) throw new UsageError('--seen-run needs --by and --reason');
  const mark = async (journeys: LedgerJourneys, output: Output) => {
    const seen = await journeys.markRunSeen({ ownerId, by, reason });
    output.answer({ seen }, () => [seen ? 'taken off the list' : 'nothing about this run was on the list']);
  };
  await withJourneys(options, mark, { besideLedger: true });
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
function exitCodeOf(needs: readonly Attention[], unanswered: OpenHolds['unanswered']): number {
  if (needs.length > 0 || unanswered.some(({ needsAttention }) => needsAttention !== undefined)) {
    return EXIT.needsPerson;
  }
  return unanswered.length > 0 ? EXIT.failed : EXIT.done;
}

function lines(
  needs: readonly Attention[],
  { unanswered, failing }: Pick<OpenHolds, 'unanswered' | 'failing'>,
  { width, colors }: Output,
): string[] {
  return [
    ...(needs.length + unanswered.length === 0 ? ['nothing needs a person'] : []),
    ...(needs.length === 0 ? [] : workTable(needs, width)),
    ...(unanswered.length === 0 ? [] : [colors.yellow('No worker answered for these journeys:')]),
    ...unanswered.flatMap(({ journeyId, needsAttention = '' }) =>
      wrap(`${journeyId} ${needsAttention}`.trimEnd(), width, '  '),
    ),
    ...(failing === null ? wrap('This Temporal does not tell whose workflow tasks fail.', width) : []),
  ];
}
