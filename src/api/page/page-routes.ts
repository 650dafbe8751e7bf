/** Operations for the operators' page alone: the signed-in caller, a search, and runs that wait by themselves. */

import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { inParallel } from '../../base/in-parallel.ts';
import { translatedServerError } from '../../client/connection/errors.ts';
import type { NamedRecord } from '../../ledger/audit/audited.ts';
import { ENVIRONMENTS } from '../../model/products.ts';
import {
  parseRunKey,
  RUN_KINDS,
  RUNS_WITH_INQUIRIES,
  type RunKind,
  runKeyProblem,
  toRunKey,
} from '../../model/run-key.ts';
import { type SearchAttributeName, WAITS_FOR, WAITS_WORDS, type WaitsFor } from '../../model/search-attributes.ts';
import { TASKS_FAIL, whereKnown } from '../../temporal/failing-runs.ts';
import { askSearchAttributes } from '../../temporal/registered-search-attributes.ts';
import { type ApiCaller, type Reach, reaches, reachesAll } from '../caller.ts';
import { withinReach } from '../holds/rows-in-reach.ts';
import { limitIn, limitParameter } from '../lists/pages.ts';
import { listedRun, listedRunSchema } from '../lists/runs.ts';
import { isReached } from '../reach.ts';
import { reachFilter } from '../reach-filter.ts';
import { type Call, type Reply, type Route, route } from '../route.ts';
import type { ApiServices } from '../services.ts';

const reach = z.union([z.literal('*'), z.array(z.string())]);

const sessionSchema = z
  .object({
    by: z
      .string()
      .exactOptional()
      .meta({ description: 'The name that decisions are recorded under. Absent if the token names no person.' }),
    scopes: z.array(z.string()),
    profiles: reach,
    endUsers: reach,
    environment: z.enum(ENVIRONMENTS),
    temporalUi: z.string().exactOptional().meta({ description: 'The address of the Temporal UI.' }),
    runbookUrl: z.string().exactOptional().meta({ description: 'The address of the runbook’s pages.' }),
    signOutAt: z.string().exactOptional().meta({ description: 'The address at which the proxy signs people out.' }),
    signOut: z.boolean().meta({ description: 'Whether DELETE /session signs out.' }),
  })
  .meta({ id: 'session' });

export const sessionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/session',
    operationId: 'readSession',
    summary: 'Show what the token permits, for which runs, and in whose name',
    scope: 'holds:read',
    answers: { 200: { description: 'The session of this request’s token.', schema: sessionSchema } },
    async handle({ services, caller }): Promise<Reply<200>> {
      const { environment, temporalUi, runbookUrl, signOutPath } = services;
      const { by, scopes, profiles, endUsers, signedInBy } = caller;
      const body = {
        ...omitUndefined({ by, temporalUi, runbookUrl }),
        ...{ scopes: [...scopes], profiles: toNameList(profiles), endUsers: toNameList(endUsers), environment },
        ...(signedInBy === 'header' ? omitUndefined({ signOutAt: signOutPath }) : {}),
        signOut: signedInBy === 'cookie',
      };
      return { status: 200, body };
    },
  }),
];

function toNameList(names: Reach): '*' | string[] {
  return names === '*' ? '*' : [...names];
}

// Finds runs by their exact name, so that a caller learns nothing by trying beginnings of names.

const KINDS = Object.keys(RUN_KINDS) as [RunKind, ...RunKind[]];

const matchSchema = z.object({
  what: z.enum([...KINDS, 'inquiry', 'decision']),
  runKey: z.string().meta({ description: 'The key of the run.' }),
  customerTraceNumber: z.string().exactOptional(),
  shareId: z.string().exactOptional(),
  decisionId: z.string().exactOptional(),
});
type Match = z.infer<typeof matchSchema>;

const MOST = 20;

const searchSchema = z
  .object({ matches: z.array(matchSchema).meta({ description: `At most ${MOST}; runs first.` }) })
  .meta({ id: 'searchResult' });

const searchQuery = z.strictObject({
  q: z
    .string()
    .max(200)
    .transform((text) => text.trim())
    .pipe(z.string().min(1).max(64))
    .describe('1 to 64 characters: a whole id, also as `<kind>:<id>`.'),
});

export const searchRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/search',
    operationId: 'search',
    summary: 'Find runs by a whole id: of the run, of a share, an inquiry or a decision',
    description: 'The answer has only runs that the token reaches.',
    scope: 'holds:read',
    query: searchQuery,
    answers: { 200: { description: 'The runs that match the id.', schema: searchSchema } },
    async handle(call): Promise<Reply<200>> {
      const { q } = call.query;
      // No record has such a name. It may be a person's own, so the search does not look for it.
      if (runKeyProblem(q) !== null) return { status: 200, body: { matches: [] } };
      const sources = await Promise.allSettled([runsNamed(call, q), recordsNamed(call, q)]);
      const matches = sources.flatMap((source) => (source.status === 'fulfilled' ? source.value : [])).slice(0, MOST);
      // If one source fails, the answer has the matches of the other.
      const failed = sources.find((source) => source.status === 'rejected');
      if (failed && matches.length === 0) throw failed.reason;
      call.note({ count: matches.length });
      return { status: 200, body: { matches } };
    },
  }),
];

type Asking = Pick<Call, 'services' | 'caller'>;

/** Finds runs with this key, and runs of each other kind with this id. */
async function runsNamed({ services, caller }: Asking, q: string): Promise<Match[]> {
  const names = q.includes(':') ? [q] : KINDS.map((kind) => toRunKey(kind, q));
  const found = await inParallel(names, KINDS.length, async (runKey) => {
    const scope = await services.runScope(runKey);
    if (!scope || !reaches(caller, scope)) return [];
    const { kind, id, accountId } = parseRunKey(runKey);
    // A row has the scope of its review, which does not show that the row exists.
    if (accountId !== undefined && (await countInquiries(services, runKey)) === 0) return [];
    return [{ what: kind, runKey, ...(kind === 'share' ? { shareId: id } : {}) }];
  });
  return found.flat();
}

async function countInquiries({ openLedger }: Asking['services'], runKey: string): Promise<number> {
  return (await (await openLedger()).inquiriesOf(runKey)).length;
}

async function recordsNamed({ services, caller }: Asking, q: string): Promise<Match[]> {
  if (q.includes(':')) return [];
  const records = await (await services.openLedger()).recordsNamed(q);
  // Without a record, the API still asks about one run. So the answer about a foreign record takes no longer.
  const owners = records.length === 0 ? [q] : [...new Set(records.map(({ runKey }) => runKey))];
  const mine = new Set<string>();
  await inParallel(owners, 8, async (runKey) => {
    if (await isReached({ services, caller }, runKey)) mine.add(runKey);
  });
  // A share by itself is found as a run.
  const isOwnRun = ({ what, runKey }: NamedRecord) => what === 'share' && runKey === toRunKey('share', q);
  const reached = records.filter((record) => mine.has(record.runKey) && !isOwnRun(record));
  return reached.map(({ what, ...record }) => ({
    ...{ what, ...record },
    ...(what === 'decision' ? { decisionId: q } : {}),
  }));
}

// Runs by the reason they wait for, counted and listed from search attributes. Each count is one call to Temporal.

const RUNNING = `${RUNS_WITH_INQUIRIES} AND ExecutionStatus = 'Running'`;

/** Each run is of one kind: a person first. One whose tasks fail is counted under `repair` besides. */
const COUNTED = ['person', 'repair', ...WAITS_FOR, 'other'] as const;
type Counted = (typeof COUNTED)[number];

const WORDS: Readonly<Record<Counted, string>> = {
  person: 'a person',
  repair: 'a repair, since their tasks fail',
  ...WAITS_WORDS,
  other: 'none of these',
};

function toCondition(counted: Counted): string {
  if (counted === 'person') return 'NeedsAttention IS NOT NULL';
  if (counted === 'repair') return TASKS_FAIL;
  return `NeedsAttention IS NULL AND WaitsFor ${counted === 'other' ? 'IS NULL' : `= '${counted satisfies WaitsFor}'`}`;
}

const waitsForSchema = z.enum(COUNTED).meta({
  description:
    'person: a decision or a look. repair: the workflow tasks of the run fail, so it makes no progress, whatever else it is ' +
    'counted for; absent where Temporal does not tell. gate: the message that passes it, or its date. consents: the answers of consumers. ' +
    'gateway: a retry, since the gateway throttles or cannot be reached. pause: inquiries that are resumed. ledger: a ' +
    'retry, since the ledger cannot be reached. requests: nothing is left to do, but further shares or repeats are taken. ' +
    'other: under way, or a wait that no search attribute names; GET /v1/runs/{runKey}/story tells more.',
});

const waitingSchema = z
  .object({
    asOf: z.string().meta({ format: 'date-time' }),
    counts: z.array(
      z.object({
        waitsFor: waitsForSchema,
        words: z.string().meta({ description: 'Words for people, to follow "waits for".' }),
        count: z.int().min(0),
        isWhole: z
          .boolean()
          .meta({ description: 'false: there are at least so many. Only for a token that does not reach all runs.' }),
      }),
    ),
  })
  .meta({ id: 'waitingCounts' });

const waitingRunsSchema = z
  .object({
    asOf: z.string().meta({ format: 'date-time' }),
    words: z.string().meta({ description: 'Words for people, to follow "waits for".' }),
    data: z.array(listedRunSchema).meta({ description: 'The runs, the newest first.' }),
    hasMore: z.boolean(),
  })
  .meta({ id: 'waitingRuns' });

const runsQuery = z.strictObject({
  waitsFor: z.enum(COUNTED).describe('The reason to wait for, as `GET /v1/waiting` counts it.'),
  limit: limitParameter,
});

const TIMEOUT_MS = 2_000;

/** More is counted only for a caller who reaches every run. */
const MOST_JUDGED = 1_000;

const NEEDED: readonly SearchAttributeName[] = ['NeedsAttention', 'WaitsFor', 'GatewayProfile', 'EndUserCodes'];

const LAGS =
  'The counts come from Temporal’s visibility, which may lag by a second. 503 while Temporal is away. Without search attributes there are none.';

export const waitingRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/waiting',
    operationId: 'countWaiting',
    summary: 'Count the runs that wait, by what they wait for',
    description: LAGS,
    scope: 'holds:read',
    answers: { 200: { description: 'One count for each thing to wait for.', schema: waitingSchema } },
    async handle({ services, caller }): Promise<Reply<200>> {
      const { client } = services;
      const asOf = new Date().toISOString();
      const count = reachesAll(caller) ? countAll : countReached;
      const counts = await askVisibility(client, [], () =>
        Promise.all(
          COUNTED.map(async (waitsFor) => {
            const counted = await whereKnown(() => count(services, toCondition(waitsFor), caller));
            return counted && { waitsFor, words: WORDS[waitsFor], ...counted };
          }),
        ),
      );
      return { status: 200, body: { asOf, counts: counts.filter((entry) => entry !== null) } };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/waiting/runs',
    operationId: 'listWaiting',
    summary: 'List the runs that wait for one thing',
    description: LAGS,
    scope: 'holds:read',
    query: runsQuery,
    answers: { 200: { description: 'At most as many runs as the request asks for.', schema: waitingRunsSchema } },
    async handle({ services, caller, query }): Promise<Reply<200>> {
      const asOf = new Date().toISOString();
      const { waitsFor } = query;
      const limit = limitIn(query);
      const found = await askVisibility(services.client, { data: [], hasMore: false }, async () => {
        // If some runs are out of reach, the API reads enough to fill the list.
        const pageSize = reachesAll(caller) ? limit : MOST_JUDGED;
        const known = await whereKnown(() => listReached(services, toCondition(waitsFor), caller, pageSize));
        const { runs, isWhole } = known ?? { runs: [], isWhole: true };
        return { data: runs.slice(0, limit), hasMore: !isWhole || runs.length > limit };
      });
      return { status: 200, body: { asOf, words: WORDS[waitsFor], ...found } };
    },
  }),
];

/** @throws Refusal */
async function askVisibility<Answer>(client: Client, unknown: Answer, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
      const registered = await askSearchAttributes(client.connection, client.options.namespace);
      return NEEDED.every((name) => registered.includes(name)) ? ask() : unknown;
    });
  } catch (error) {
    throw translatedServerError(error);
  }
}

interface Count {
  count: number;
  isWhole: boolean;
}

type Services = Pick<ApiServices, 'client' | 'runScope'>;

async function countAll({ client }: Services, condition: string): Promise<Count> {
  const { count } = await client.workflow.count(`${RUNNING} AND ${condition}`);
  return { count, isWhole: true };
}

async function countReached(services: Services, condition: string, caller: ApiCaller): Promise<Count> {
  const { runs, isWhole } = await listReached(services, condition, caller, MOST_JUDGED);
  return { count: runs.length, isWhole };
}

/** Search attributes leave most runs of others out. Of the rest each run says whose it is, as for every other read. */
async function listReached(services: Services, condition: string, caller: ApiCaller, pageSize: number) {
  const { client } = services;
  const { namespace } = client.options;
  const query = [RUNNING, condition, ...reachFilter(caller, NEEDED)].join(' AND ');
  const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
    namespace,
    query,
    pageSize,
  });
  const listed = (executions ?? []).flatMap((raw) => listedRun(raw) ?? []);
  return { runs: await withinReach(services, caller, listed), isWhole: (nextPageToken ?? []).length === 0 };
}
