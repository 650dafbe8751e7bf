/** Lists work for operators: the ledger's rows, and items that no row can show. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { omitUndefined } from '../base/defined.ts';
import { inParallel } from '../base/in-parallel.ts';
import { parseInstantMs } from '../base/instants.ts';
import type { UnmatchedConsent } from '../ledger/audit/audited.ts';
import type { WorkDetails, WorkEnd, WorkFilters, WorkRow } from '../ledger/holds/work.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { FAILURES, type HoldAction, isFailureType } from '../model/failure-types.ts';
import { LASTING_FLAGS } from '../model/inquiry.ts';
import { RUNS_WITH_INQUIRIES, runKeyFromWorkflowId, taskQueueFilter } from '../model/run-key.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import { MAX_ORDINAL } from '../model/trace-number.ts';
import { type FailingRun, listFailingRuns, whereKnown } from '../temporal/failing-runs.ts';
import { type OpenDeliveries, openDeliveries } from './webhook-deliveries.ts';

/** A row of the ledger with the actions that an operator may take. */
export interface OpenHold extends Omit<WorkRow, 'workId' | 'gatewayProfile' | 'details'>, WorkDetails {
  holdId: string;
  profile: string;
  /** By reason. A list asks no run whether it is still open: `readDecidable` (decide.ts) does, about one row. */
  allowedActions: (HoldAction | 'seen')[];
}

export function toHold({ workId, gatewayProfile, details, ...row }: WorkRow): OpenHold {
  const { kind, reason, since, runKey } = row;
  return {
    ...{ holdId: workId, kind, reason, since, runKey, profile: gatewayProfile },
    ...row,
    ...details,
    allowedActions: listActions(row),
  };
}

/** The last two digits of a trace number count its amendments. */
function listActions({
  kind,
  reason,
  productCode,
  customerTraceNumber,
}: Omit<WorkRow, 'workId' | 'gatewayProfile' | 'details'>) {
  if (kind === 'held' && isFailureType(reason)) {
    const mayAmend = productCode !== 'SECONDUSE' && Number(customerTraceNumber?.slice(-2)) < MAX_ORDINAL;
    return FAILURES[reason].actions.filter((action) => action !== 'amend' || mayAmend);
  }
  // For the other flags of a run, an operator has to fix the cause.
  return customerTraceNumber !== undefined || LASTING_FLAGS.includes(reason) ? ['seen' as const] : [];
}

const PAGE = 500;

/** Reads the open rows page by page, the oldest first. */
export async function* readOpenWork(
  ledger: Ledger,
  { after: first, limit = PAGE, ...filters }: WorkFilters & { after?: string | undefined; limit?: number } = {},
): AsyncGenerator<{ rows: WorkRow[]; hasMore: boolean }> {
  for (let after = first, hasMore = true; hasMore; ) {
    const { rows, next } = await ledger.work.open({ ...filters, limit, ...omitUndefined({ after }) });
    hasMore = next !== undefined;
    yield { rows, hasMore };
    after = next;
  }
}

/** Work for operators that is no row of the ledger. */
export interface OtherWork {
  /** Open runs whose workflow tasks fail, so that they make no progress. `null` if the server cannot list them. */
  failing: FailingRun[] | null;
  /** Open runs that need an operator but have no row in this ledger. They may belong to another ledger. */
  unlisted: { runKey: string; reason: string }[];
  /** Events of webhooks that were given up. */
  deliveries: OpenDeliveries['deliveries'];
  /** Runs whose delivery of events no worker answered for. */
  unanswered: string[];
  /** Consents that the ledger keeps and that match no journey, share or applicant which it knows. The oldest first. */
  unmatchedConsents: UnmatchedConsent[];
}

/** More than a person reads at once. Each delivery is asked by a query. */
const MOST = { failing: 100, unlisted: 500, deliveries: 500, unmatchedConsents: 100 } as const;

/** @param since leaves out what came earlier, RFC 3339 */
export async function readOtherWork(
  { client, taskQueue, ledger }: { client: Client; taskQueue: string; ledger: Ledger },
  { since }: { since?: string | undefined } = {},
): Promise<OtherWork> {
  const sinceMs = parseInstantMs(since ?? '') ?? 0;
  const isWanted = (at: string) => (parseInstantMs(at) ?? 0) >= sinceMs;
  const [failing, unlisted, events, consents] = await Promise.all([
    listFailingRuns(client, taskQueue, MOST.failing),
    listUnlisted(client, taskQueue, ledger),
    openDeliveries(client, taskQueue, { failed: true, limit: MOST.deliveries }),
    ledger.consents.unmatched({ limit: MOST.unmatchedConsents }),
  ]);
  return {
    failing,
    unlisted,
    deliveries: events.deliveries.filter(({ endpoints }) =>
      endpoints.some(({ failed }) => failed.some(({ failedAt }) => isWanted(failedAt))),
    ),
    unanswered: events.unanswered,
    unmatchedConsents: consents.filter((consent) => isWanted(consent.since)),
  };
}

const AT_ONCE = 8;

/** Lists runs by visibility, and then reads each from the server: visibility may lag behind a decision. */
async function listUnlisted(client: Client, taskQueue: string, ledger: Ledger): Promise<OtherWork['unlisted']> {
  const name: SearchAttributeName = 'NeedsAttention';
  const query = [
    RUNS_WITH_INQUIRIES,
    "ExecutionStatus = 'Running'",
    taskQueueFilter(taskQueue),
    `${name} IS NOT NULL`,
  ].join(' AND ');
  const found = await whereKnown(async () => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query, pageSize: MOST.unlisted })) {
      ids.push(workflowId);
      if (ids.length >= MOST.unlisted) break;
    }
    return ids;
  });
  const unlisted = await inParallel(found ?? [], AT_ONCE, async (workflowId) => {
    const runKey = runKeyFromWorkflowId(workflowId) ?? workflowId;
    if ((await ledger.work.open({ runKey, limit: 1 })).rows.length > 0) return [];
    const run = await client.workflow
      .getHandle(workflowId)
      .describe()
      .catch((error: unknown) => {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      });
    const reason = run?.status.name === 'RUNNING' ? run.searchAttributes[name]?.[0] : undefined;
    // The run's search attribute still names the reason after an operator has seen it.
    const isSeen = (row: WorkRow & { closed?: WorkEnd }) => row.reason === reason && row.closed?.how === 'seen';
    if (typeof reason !== 'string' || (await ledger.work.of(runKey)).some(isSeen)) return [];
    return [{ runKey, reason }];
  });
  return unlisted.flat();
}
