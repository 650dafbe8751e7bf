/** Which rows of a list are of runs that the token reaches, with one question to Temporal for all of them. */
import type { Client } from '@temporalio/client';
import { inParallel } from '../../base/in-parallel.ts';
import { parseJson } from '../../base/json-safety.ts';
import { ownerOf, workflowIdOf } from '../../model/owner-id.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import { type ApiCaller, type RunScope, reaches, reachesAll } from '../caller.ts';
import type { ApiServices } from '../services.ts';

type Services = Pick<ApiServices, 'client' | 'runScope'>;

const TIMEOUT_MS = 2_000;

/** Of a page's runs, each of which may have been started again. */
const MOST_RUNS = 1_000;

/**
 * The ledger has judged the rows already, by their inquiries. What a run may still pull for others is among its search
 * attributes. Where these do not tell, and of shares, which belong to whom their report is for, the run itself is asked.
 * A run that Temporal does not know, or cannot say, is whose the ledger says.
 */
export async function withinReach<Row extends { ownerId: string }>(
  { client, runScope }: Services,
  caller: ApiCaller,
  rows: readonly Row[],
): Promise<Row[]> {
  if (reachesAll(caller) || rows.length === 0) return [...rows];
  const owners = [...new Set(rows.map(({ ownerId }) => ownerId))];
  const listed = await listedScopes(client, [...new Set(owners.map(workflowIdOf))]);
  const mine = new Set<string>();
  await inParallel(owners, 8, async (ownerId) => {
    const known = listed?.get(workflowIdOf(ownerId)) ?? [];
    const isTold = ownerOf(ownerId).kind !== 'share' && known.every(({ endUsers }) => endUsers !== null);
    const scopes = listed === undefined || isTold ? known : [await runScope(ownerId)];
    if (scopes.every((scope) => scope !== undefined && reaches(caller, scope))) mine.add(ownerId);
  });
  return rows.filter(({ ownerId }) => mine.has(ownerId));
}

/** `undefined` where Temporal does not answer. */
async function listedScopes(
  client: Client,
  workflowIds: readonly string[],
): Promise<Map<string, RunScope[]> | undefined> {
  const query = `WorkflowId IN (${workflowIds.map((id) => `'${id}'`).join(', ')})`;
  const { namespace } = client.options;
  try {
    const { executions } = await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
      client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: MOST_RUNS }),
    );
    const scopes = (executions ?? []).map(({ execution, searchAttributes }) => {
      const endUsers = textsIn(searchAttributes, 'EndUserCodes');
      const scope = {
        profiles: textsIn(searchAttributes, 'GatewayProfile'),
        endUsers: endUsers.length > 0 ? endUsers : null,
      };
      return [execution?.workflowId ?? '', scope] as const;
    });
    return new Map(
      [...Map.groupBy(scopes, ([workflowId]) => workflowId)].map(([id, of]) => [id, of.map(([, scope]) => scope)]),
    );
  } catch {
    return undefined;
  }
}

interface Attributes {
  indexedFields?: Record<string, { data?: Uint8Array | null }> | null;
}

/** Search attributes are JSON in the clear: one text, or a list of them. */
export function textsIn(attributes: Attributes | null | undefined, name: SearchAttributeName): string[] {
  const data = attributes?.indexedFields?.[name]?.data;
  const value = data ? parseJson(Buffer.from(data).toString('utf8'))?.[0] : [];
  return [value].flat().filter((text): text is string => typeof text === 'string');
}
