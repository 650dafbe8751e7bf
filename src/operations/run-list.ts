/** Lists of runs by visibility, in pages: what a token does not reach is not in them. */
import type { Client } from '@temporalio/client';
import { decodeSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';
import { z } from 'zod';
import { translateServerError } from '../client/connection/errors.ts';
import { describeRun } from '../client/connection/temporal-runs.ts';
import { Refusal } from '../http/refusal.ts';
import { instant } from '../messages/journey/shapes.ts';
import {
  parseWorkflowId,
  RUN_KINDS,
  RUNS_WITH_INQUIRIES,
  type RunKind,
  toWorkflowId,
  toWorkflowTypesFilter,
} from '../model/run-key.ts';
import { isWaitsFor, type SearchAttributeName, WAITS_FOR } from '../model/search-attributes.ts';
import { askWhereKnown } from '../temporal/failing-runs.ts';
import { type Asking, afterParameter, createPageSchema, limitParameter, readPage } from './pages.ts';
import { reachFilter } from './reach.ts';

/** In the order of the server's enum, from its 1. A run that has continued as new is in no list. */
const RUN_STATUSES = ['running', 'completed', 'failed', 'cancelled', 'terminated', 'unknown', 'timedOut'] as const;

export const listedRunSchema = z
  .object({
    runKey: z.string().describe('The id with its kind in front, such as `pull:<pullId>` for a pull.'),
    run: z.enum(RUN_STATUSES),
    startedAt: instant,
    closedAt: instant.optional(),
    stage: z.string().optional(),
    needsAttention: z.string().optional().describe('Why an operator should look.'),
    waitsFor: z.enum(WAITS_FOR).optional().describe('What the run waits for, other than an operator.'),
  })
  .meta({ id: 'listedRun' });

export type ListedRun = z.infer<typeof listedRunSchema>;

export const runListSchema = createPageSchema(
  'runList',
  listedRunSchema,
  'Running ones first, then the others, the latest end first.',
  { asOf: instant.describe('No page has runs that started after the first page was read.') },
);

export const listQuery = z.strictObject({
  limit: limitParameter,
  after: afterParameter,
  open: z.enum(['true']).optional().describe('Only those that are running.'),
  needsAttention: z.enum(['true']).optional().describe('Only those that need a person.'),
  waitsFor: z.enum(WAITS_FOR).optional().describe('Only those that are running and wait for this.'),
});

export async function listRuns(call: { query: z.infer<typeof listQuery> } & Asking, kind?: RunKind) {
  const { query, caller, services } = call;
  const { open, needsAttention, waitsFor } = query;
  let place = { asOf: new Date().toISOString(), token: '' };
  const page = await readPage<ListedRun, typeof place>(call, {
    name: `runs ${kind ?? ''}`,
    query,
    async *read(first = place, limit) {
      place = first;
      const conditions = [
        kind === undefined ? RUNS_WITH_INQUIRIES : toWorkflowTypesFilter(RUN_KINDS[kind]),
        // A run that continued as new has a successor under the same workflow id.
        "ExecutionStatus != 'ContinuedAsNew'",
        `StartTime <= '${place.asOf}'`,
        ...(open || waitsFor ? ["ExecutionStatus = 'Running'"] : []),
        ...(needsAttention ? ['NeedsAttention IS NOT NULL'] : []),
        ...(waitsFor ? [`WaitsFor = '${waitsFor}'`] : []),
        ...reachFilter(caller),
      ];
      const asked = { query: conditions.join(' AND '), pageSize: limit };
      do {
        const { rows, token } = await askPage(services.client, place.token, asked);
        place = { ...place, token };
        yield { rows, next: token === '' ? undefined : place };
      } while (place.token !== '');
    },
  });
  return { asOf: place.asOf, ...page };
}

const TIMEOUT_MS = 10_000;

/**
 * Reads one page of the server. Its token is a key into the order: no run is in two pages, unless it closes meanwhile.
 *
 * @throws Refusal 400; CallError
 */
async function askPage(client: Client, token: string, asked: { query: string; pageSize: number }) {
  const { namespace } = client.options;
  const nextPageToken = Buffer.from(token, 'base64url');
  const read = () => client.workflowService.listWorkflowExecutions({ namespace, ...asked, nextPageToken });
  const page = await askWhereKnown(() => client.withDeadline(Date.now() + TIMEOUT_MS, read)).catch((error: unknown) => {
    throw translateServerError(error);
  });
  // The server refuses a token that is none of its own, and a question by a search attribute that it does not know.
  if (!page) throw new Refusal(token ? 'after' : 'attributeMissing');
  return {
    rows: (page.executions ?? []).flatMap((raw) => toListedRun(raw) ?? []),
    token: Buffer.from(page.nextPageToken ?? []).toString('base64url'),
  };
}

function toListedRun(raw: temporal.api.workflow.v1.IWorkflowExecutionInfo): ListedRun | undefined {
  const runKey = parseWorkflowId(raw.execution?.workflowId ?? '');
  const startedAt = optionalTsToDate(raw.startTime)?.toISOString();
  if (runKey === null || startedAt === undefined) return undefined;
  const run = RUN_STATUSES[(raw.status ?? 0) - 1] ?? 'unknown';
  const attributes = decodeSearchAttributes(raw.searchAttributes?.indexedFields);
  const read = (name: SearchAttributeName) => attributes[name]?.[0] as string | undefined;
  const waitsFor = read('WaitsFor');
  return {
    runKey,
    run,
    startedAt,
    closedAt: optionalTsToDate(raw.closeTime)?.toISOString(),
    stage: read('JourneyStage'),
    needsAttention: read('NeedsAttention'),
    waitsFor: run === 'running' && isWaitsFor(waitsFor) ? waitsFor : undefined,
  };
}

/**
 * The run as lists have it, by the server itself: visibility may lag.
 *
 * @throws Refusal 404; CallError
 */
export async function readRun(client: Client, runKey: string, timeoutMs = TIMEOUT_MS): Promise<ListedRun> {
  const describe = () => describeRun(client, toWorkflowId(runKey));
  const described = await client.withDeadline(Date.now() + timeoutMs, describe).catch((error: unknown) => {
    throw translateServerError(error);
  });
  const run = toListedRun(described?.raw.workflowExecutionInfo ?? {});
  if (!run) throw new Refusal('notFound');
  return run;
}
