import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import {
  RUN_KINDS,
  RUNS_WITH_INQUIRIES,
  type RunKind,
  runKeyFromWorkflowId,
  workflowTypesFilter,
} from '../../../model/run-key.ts';
import {
  isWaitsFor,
  type SearchAttributeName,
  WAITS_FOR,
  WAITS_WORDS,
  type WaitsFor,
} from '../../../model/search-attributes.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { pauseNotice } from '../../output/hold-lines.ts';
import { tableWithIds, withAge } from '../../output/output.ts';

interface ListOptions extends ServerOptions {
  open?: boolean;
  needsAttention?: boolean;
  waitsFor?: string;
  kind?: string;
  limit: string;
}

interface ListedJourney {
  /** The run key; for a pull `pull:<pullId>`. */
  journeyId: string;
  /** Temporal's status of the run: `RUNNING`, `COMPLETED`, `FAILED`, … */
  runStatus: string;
  startedAt: string;
  closedAt?: string;
  /** Absent if the search attributes are not registered. */
  stage?: string;
  needsAttention?: string;
  /** Absent unless the run is open and waits for something other than an operator. */
  waitsFor?: WaitsFor;
}

const MAX_LIMIT = 10_000;

const KINDS = Object.keys(RUN_KINDS) as RunKind[];

/** @throws UsageError */
function runsOfKind(text: string): string {
  const kind = KINDS.find((one) => one === text);
  if (!kind) throw new UsageError(`--kind must be ${KINDS.join(' or ')}`);
  return workflowTypesFilter(RUN_KINDS[kind]);
}

export function registerListCommand(program: Command): void {
  const command = program
    .command('list')
    .description('list journeys, pulls, shares and reviews: the newest open ones first, then those that ended last')
    .option('--open', 'only those that are running')
    .option('--needs-attention', 'only those that need a person')
    .option('--waits-for <what>', `only those that wait for ${WAITS_FOR.join(' or ')}`)
    .option('--kind <kind>', `only ${KINDS.join(' or ')}`)
    .option('--limit <count>', `at most so many, up to ${MAX_LIMIT}`, '50');
  withExamples(withServerOptions(command), 'credit-journey list --open');
  command.action(async (options: ListOptions) => {
    const limit = Number(options.limit);
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
      throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}`);
    }
    await withJourneys(options, async (_, output, client) => {
      const [found, notice] = await Promise.all([listJourneys(client, options, limit), pauseNotice(output)]);
      output.answer({ journeys: found }, () => {
        if (found.length === 0) return ['no journeys', ...notice];
        return [...listLines(found, output.width), ...notice];
      });
    });
  });
}

/** Columns that no run has anything for are left out: with all of them a run takes two lines of a terminal. */
export function listLines(journeys: readonly ListedJourney[], width: number): string[] {
  const columns: readonly [heading: string, of: (one: ListedJourney) => string][] = [
    ['STARTED', ({ startedAt }) => withAge(startedAt)],
    ['RUN', ({ runStatus }) => runStatus.toLowerCase().replaceAll('_', ' ')],
    ['STAGE', ({ stage = '' }) => stage],
    ['NEEDS ATTENTION', ({ needsAttention = '' }) => needsAttention],
    ['WAITS FOR', ({ waitsFor }) => (waitsFor === undefined ? '' : WAITS_WORDS[waitsFor])],
    ['JOURNEY', ({ journeyId }) => journeyId],
  ];
  const shown = columns.filter(([, of]) => journeys.some((one) => of(one) !== ''));
  const rows = journeys.map((one) => shown.map(([, of]) => of(one)));
  return tableWithIds([shown.map(([heading]) => heading), ...rows], width).flat();
}

async function listJourneys(client: Client, options: ListOptions, limit: number): Promise<ListedJourney[]> {
  // A run that has continued as new has a successor under the same id.
  const conditions = [
    options.kind === undefined ? RUNS_WITH_INQUIRIES : runsOfKind(options.kind),
    "ExecutionStatus != 'ContinuedAsNew'",
  ];
  if (options.open) conditions.push("ExecutionStatus = 'Running'");
  if (options.needsAttention) {
    await mustBeRegistered(client, '--needs-attention', 'NeedsAttention');
    conditions.push('NeedsAttention IS NOT NULL');
  }
  if (options.waitsFor !== undefined) {
    if (!isWaitsFor(options.waitsFor)) throw new UsageError(`--waits-for must be ${WAITS_FOR.join(' or ')}`);
    await mustBeRegistered(client, '--waits-for', 'WaitsFor');
    conditions.push(`WaitsFor = '${options.waitsFor}' AND ExecutionStatus = 'Running'`);
  }
  const found: ListedJourney[] = [];
  for await (const run of client.workflow.list({ query: conditions.join(' AND '), pageSize: Math.min(limit, 200) })) {
    found.push(listed(run));
    if (found.length >= limit) break;
  }
  return found;
}

/** @throws UsageError */
async function mustBeRegistered(client: Client, option: string, name: SearchAttributeName): Promise<void> {
  const { askSearchAttributes } = await import('../../../temporal/registered-search-attributes.ts');
  const registered = await askSearchAttributes(client.connection, client.options.namespace);
  if (!registered.includes(name)) {
    throw new UsageError(`${option} needs the search attribute ${name}: run \`credit-journey setup\``);
  }
}

type Run = ReturnType<Client['workflow']['list']> extends AsyncIterable<infer R> ? R : never;

function listed(run: Run): ListedJourney {
  const stage = attribute(run, 'JourneyStage');
  const needsAttention = attribute(run, 'NeedsAttention');
  const waitsFor = attribute(run, 'WaitsFor');
  return {
    journeyId: runKeyFromWorkflowId(run.workflowId) ?? run.workflowId,
    runStatus: run.status.name,
    startedAt: run.startTime.toISOString(),
    ...(run.closeTime === undefined ? {} : { closedAt: run.closeTime.toISOString() }),
    ...defined({ stage, needsAttention }),
    ...(run.status.name === 'RUNNING' && isWaitsFor(waitsFor) ? { waitsFor } : {}),
  };
}

function attribute({ searchAttributes }: Run, name: SearchAttributeName): string | undefined {
  const [value] = searchAttributes?.[name] ?? [];
  return typeof value === 'string' ? value : undefined;
}
