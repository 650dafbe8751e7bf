/** How many runs wait without needing a person, as far as search attributes tell: by Temporal, in one call for each count. */
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { parseJson } from '../../base/json-safety.ts';
import { translatedServerError } from '../../client/connection/error-translation.ts';
import { RUNS_WITH_INQUIRIES } from '../../model/owner-id.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import { askSearchAttributes } from '../../temporal/registered-search-attributes.ts';
import { type ApiCaller, reaches, reachesAll } from '../caller.ts';
import { type Reply, type Route, route } from '../route.ts';

const RUNNING = `${RUNS_WITH_INQUIRIES} AND ExecutionStatus = 'Running'`;

const WAITS = {
  person: 'NeedsAttention IS NOT NULL',
  consents: "NeedsAttention IS NULL AND JourneyStage = 'awaitingConsent'",
  other: "NeedsAttention IS NULL AND (JourneyStage IS NULL OR JourneyStage != 'awaitingConsent')",
} as const;
type WaitsFor = keyof typeof WAITS;

const waitingSchema = z
  .object({
    asOf: z.string().meta({ format: 'date-time' }),
    counts: z.array(
      z.object({
        waitsFor: z.enum(Object.keys(WAITS) as [WaitsFor, ...WaitsFor[]]).meta({
          description:
            'person: a decision or a look. consents: the answers of consumers, and nothing else. other: a gate, the ' +
            'gateway, a pause; GET /v1/runs/{ownerId}/story says which.',
        }),
        count: z.int().min(0),
        isWhole: z
          .boolean()
          .meta({ description: 'false: at least so many. Only where the token does not reach all runs.' }),
      }),
    ),
  })
  .meta({ id: 'waitingCounts' });

const TIMEOUT_MS = 2_000;

/** More is counted only for a caller who reaches every run. */
const MOST_JUDGED = 1_000;

const NEEDED: readonly SearchAttributeName[] = ['NeedsAttention', 'JourneyStage', 'GatewayProfile', 'EndUserCodes'];

export const waitingRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/waiting',
    operationId: 'countWaiting',
    summary: 'How many runs wait, and for what',
    description:
      'By visibility, which may lag by a second. 503 where Temporal is away. Without search attributes, none.',
    scope: 'holds:read',
    answers: { 200: { description: 'One count for each.', schema: waitingSchema } },
    async handle({ services: { client }, caller }): Promise<Reply<200>> {
      const asOf = new Date().toISOString();
      const count = reachesAll(caller) ? countAll : countReached;
      try {
        const counts = await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
          const registered = await askSearchAttributes(client.connection, client.options.namespace);
          if (!NEEDED.every((name) => registered.includes(name))) return [];
          const kinds = Object.keys(WAITS) as WaitsFor[];
          return Promise.all(
            kinds.map(async (waitsFor) => ({ waitsFor, ...(await count(client, WAITS[waitsFor], caller)) })),
          );
        });
        return { status: 200, body: { asOf, counts } };
      } catch (error) {
        throw translatedServerError(error);
      }
    },
  }),
];

interface Count {
  count: number;
  isWhole: boolean;
}

async function countAll(client: Client, condition: string): Promise<Count> {
  const { count } = await client.workflow.count(`${RUNNING} AND ${condition}`);
  return { count, isWhole: true };
}

/** Of each run its profile and everybody for whom it may pull are among its search attributes. */
async function countReached(client: Client, condition: string, caller: ApiCaller): Promise<Count> {
  const { namespace } = client.options;
  const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
    ...{ namespace, query: `${RUNNING} AND ${condition}`, pageSize: MOST_JUDGED },
  });
  const mine = (executions ?? []).filter(({ searchAttributes }) => {
    const endUsers = textsIn(searchAttributes, 'EndUserCodes');
    return reaches(caller, {
      profiles: textsIn(searchAttributes, 'GatewayProfile'),
      endUsers: endUsers.length === 0 ? null : endUsers,
    });
  });
  return { count: mine.length, isWhole: (nextPageToken ?? []).length === 0 };
}

interface Attributes {
  indexedFields?: Record<string, { data?: Uint8Array | null }> | null;
}

/** Search attributes are JSON in the clear: one text, or a list of them. */
function textsIn(attributes: Attributes | null | undefined, name: SearchAttributeName): string[] {
  const data = attributes?.indexedFields?.[name]?.data;
  const value = data ? parseJson(Buffer.from(data).toString('utf8'))?.[0] : [];
  return [value].flat().filter((text): text is string => typeof text === 'string');
}
