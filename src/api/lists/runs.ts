/** Lists of runs by visibility, in pages: what a token does not reach is not in them. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { parseJson } from '../../base/json-safety.ts';
import { TemporalRefusedError, translatedServerError } from '../../client/connection/errors.ts';
import { Refusal } from '../../http/refusal.ts';
import {
  RUN_KINDS,
  RUNS_WITH_INQUIRIES,
  type RunKind,
  runKeyFromWorkflowId,
  toWorkflowId,
  workflowTypesFilter,
} from '../../model/run-key.ts';
import { isWaitsFor, type SearchAttributeName, WAITS_FOR } from '../../model/search-attributes.ts';
import { askSearchAttributes } from '../../temporal/registered-search-attributes.ts';
import { reachesAll } from '../caller.ts';
import { unknownRun } from '../problem.ts';
import { keepReached } from '../reach.ts';
import { reachFilter } from '../reach-filter.ts';
import type { Call } from '../route.ts';
import {
  cursorsFor,
  describeCursor,
  fillPage,
  limitIn,
  limitParameter,
  type Page,
  pageSchema,
  toPage,
} from './pages.ts';

const RUN_STATUSES = ['running', 'completed', 'failed', 'cancelled', 'terminated', 'timedOut', 'unknown'] as const;

export const listedRunSchema = z
  .object({
    runKey: z.string().meta({ description: 'The id with its kind before it: of a pull `pull:<pullId>`.' }),
    run: z.enum(RUN_STATUSES),
    startedAt: z.string().meta({ format: 'date-time' }),
    closedAt: z.string().meta({ format: 'date-time' }).exactOptional(),
    stage: z.string().exactOptional(),
    needsAttention: z.string().exactOptional().meta({ description: 'Why a person should look.' }),
    waitsFor: z.enum(WAITS_FOR).exactOptional().meta({ description: 'What the run waits for, beside a person.' }),
  })
  .meta({ id: 'listedRun' });

export type ListedRun = z.infer<typeof listedRunSchema>;

export const runListSchema = pageSchema(
  'runList',
  listedRunSchema,
  'Those that run first, then those that ended last.',
  {
    asOf: z.string().meta({ format: 'date-time', description: 'Runs that started later are in none of the pages.' }),
  },
);

export const listQuery = z.strictObject({
  limit: limitParameter,
  after: describeCursor(z.string()),
  open: z.enum(['true']).exactOptional().describe('Only those that are running.'),
  needsAttention: z.enum(['true']).exactOptional().describe('Only those that need a person.'),
  waitsFor: z.enum(WAITS_FOR).exactOptional().describe('Only those that are running and wait for this.'),
});

export const allRunsQuery = listQuery.extend({
  kind: z
    .enum(Object.keys(RUN_KINDS) as [RunKind, ...RunKind[]])
    .exactOptional()
    .describe('Only of this kind.'),
});

type ListQuery = z.infer<typeof listQuery>;

/** Rows of other callers that one question to Temporal may bring. */
const JUDGED_TOGETHER = 50;

/** A page holds runs that the caller reaches, and its cursor names none of the others. */
export async function listRuns(
  call: { query: ListQuery } & Pick<Call, 'services' | 'caller'>,
  kind?: RunKind,
): Promise<{ asOf: string } & Page<ListedRun>> {
  const { query, caller } = call;
  const { client } = call.services;
  const limit = limitIn(query);
  const cursors = cursorsFor(call, `runs ${kind ?? ''}`, query);
  const { asOf, ...place } = query.after === undefined ? firstPage() : ((await cursors.open(query.after)) as Cursor);
  const conditions = [
    kind === undefined ? RUNS_WITH_INQUIRIES : workflowTypesFilter(RUN_KINDS[kind]),
    // A run that has handed over is gone on with by another, under the same id.
    "ExecutionStatus != 'ContinuedAsNew'",
    `StartTime <= '${asOf}'`,
    ...(query.open ? ["ExecutionStatus = 'Running'"] : []),
    ...(query.needsAttention ? [await filterBy(client, 'needsAttention', 'NeedsAttention', 'IS NOT NULL')] : []),
    ...(query.waitsFor
      ? [await filterBy(client, 'waitsFor', 'WaitsFor', `= '${query.waitsFor}' AND ExecutionStatus = 'Running'`)]
      : []),
  ];
  const isAll = reachesAll(caller);
  if (!isAll)
    conditions.push(...reachFilter(caller, await askSearchAttributes(client.connection, client.options.namespace)));
  const asked = { query: conditions.join(' AND '), pageSize: isAll ? limit : JUDGED_TOGETHER };
  const { rows, last } = await fillPage(batchesAfter(client, asked, place), {
    limit,
    judge: isAll ? null : (batch) => keepReached(call, batch, ({ run }) => run.runKey),
  });
  const next = last && (await cursors.seal({ asOf, ...last.place } satisfies Cursor));
  const data = rows.map(({ run }) => run);
  return { asOf, ...toPage(data, next) };
}

/** The end of a page: after one run of a page of Temporal's. */
interface Place {
  /** Temporal's token for its page, base64url. Empty for the first page. */
  token: string;
  /** The run's id as Temporal knows it. Absent where the page begins. */
  runId?: string;
}

interface Cursor extends Place {
  asOf: string;
}

function firstPage(): Cursor {
  return { asOf: new Date().toISOString(), token: '' };
}

async function* batchesAfter(client: Client, asked: { query: string; pageSize: number }, first: Place) {
  let { token, runId } = first;
  for (let hasMore = true; hasMore; ) {
    const page = await askPage(client, { ...asked, nextPageToken: Buffer.from(token, 'base64url') });
    const next = Buffer.from(page.next).toString('base64url');
    hasMore = next !== '';
    const behind = page.runs.findIndex(({ execution }) => runId !== undefined && execution?.runId === runId);
    // A run that has closed meanwhile has another place in the order: all of its page is read again.
    const rows = page.runs.slice(behind + 1).flatMap((raw, index, all) => {
      const run = listedRun(raw);
      const id = raw.execution?.runId ?? '';
      const place: Place = index === all.length - 1 && hasMore ? { token: next } : { token, runId: id };
      return run ? [{ run, place }] : [];
    });
    yield { rows, hasMore };
    token = next;
    runId = undefined;
  }
}

/** @throws Refusal 400 */
async function filterBy(client: Client, asked: string, name: SearchAttributeName, condition: string): Promise<string> {
  const registered = await askSearchAttributes(client.connection, client.options.namespace);
  if (!registered.includes(name)) {
    throw new Refusal(
      'attributeMissing',
      `${asked}: this installation has no such list, since its search attribute ${name} is missing: \`credit-journey setup\` registers it`,
    );
  }
  return `${name} ${condition}`;
}

const TIMEOUT_MS = 10_000;

type RawInfo = NonNullable<
  Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>['executions']
>[number];

/** One page of the server's own. Its token is a key into the order: no run is in two pages, unless it closes meanwhile. */
async function askPage(
  client: Client,
  request: { query: string; pageSize: number; nextPageToken: Uint8Array },
): Promise<{ runs: RawInfo[]; next: Uint8Array }> {
  const { namespace } = client.options;
  try {
    const { executions, nextPageToken } = await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
      client.workflowService.listWorkflowExecutions({ namespace, ...request }),
    );
    return { runs: executions ?? [], next: nextPageToken ?? new Uint8Array() };
  } catch (error) {
    const told = translatedServerError(error);
    // The server refuses a token that is none of its own.
    if (request.nextPageToken.length > 0 && told instanceof TemporalRefusedError) {
      throw new Refusal('after', 'after must be the next of a page before');
    }
    throw told;
  }
}

/** By the number of the server's enum. */
const STATUS_OF: readonly (typeof RUN_STATUSES)[number][] = [
  ...(['unknown', 'running', 'completed', 'failed'] as const),
  ...(['cancelled', 'terminated', 'unknown', 'timedOut'] as const),
];

export function listedRun(raw: RawInfo): ListedRun | undefined {
  const runKey = runKeyFromWorkflowId(raw.execution?.workflowId ?? '');
  const startedAt = toInstant(raw.startTime);
  if (runKey === null || startedAt === undefined) return undefined;
  const run = STATUS_OF[raw.status ?? 0] ?? 'unknown';
  const waitsFor = attribute(raw, 'WaitsFor');
  return {
    runKey,
    run,
    startedAt,
    ...omitUndefined({
      closedAt: toInstant(raw.closeTime),
      stage: attribute(raw, 'JourneyStage'),
      needsAttention: attribute(raw, 'NeedsAttention'),
    }),
    ...(run === 'running' && isWaitsFor(waitsFor) ? { waitsFor } : {}),
  };
}

/**
 * The run as lists have it, by the server itself: visibility may lag.
 *
 * @throws Refusal 404; TemporalUnavailableError
 */
export async function readRun(client: Client, runKey: string): Promise<ListedRun> {
  try {
    const { raw } = await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
      client.workflow.getHandle(toWorkflowId(runKey)).describe(),
    );
    const run = raw.workflowExecutionInfo && listedRun(raw.workflowExecutionInfo);
    if (run) return run;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw translatedServerError(error);
  }
  throw unknownRun();
}

function toInstant(time: { seconds?: unknown; nanos?: number | null } | null | undefined): string | undefined {
  if (!time) return undefined;
  return new Date(Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6)).toISOString();
}

/** Search attributes are JSON in the clear. */
function attribute({ searchAttributes }: RawInfo, name: SearchAttributeName): string | undefined {
  const data = searchAttributes?.indexedFields?.[name]?.data;
  const value = data ? parseJson(Buffer.from(data).toString('utf8'))?.[0] : undefined;
  const [text] = [value].flat();
  return typeof text === 'string' ? text : undefined;
}
