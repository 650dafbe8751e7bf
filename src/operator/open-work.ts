/** Lists everything that needs a person: the ledger's rows, and items that no row can show. */
import type { Client } from '@temporalio/client';
import { runInParallel } from '../base/in-parallel.ts';
import { describeRun } from '../client/connection/describe-run.ts';
import { getSdkClient } from '../client/credit-journeys.ts';
import type { UnmatchedConsent } from '../ledger/audit/audited.ts';
import type { WorkEnd, WorkFilters, WorkQuery, WorkRow } from '../ledger/holds/work.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { parseWorkflowId, RUNS_WITH_INQUIRIES, toTaskQueueFilter } from '../model/run-key.ts';
import type { SearchAttributeName } from '../model/search-attributes.ts';
import { askWhereKnown, listFailingRuns } from '../temporal/failing-runs.ts';
import { resolveCommand } from '../words/holds.ts';
import { describeHold, type Hold } from './holds.ts';
import type { LedgerJourneys } from './ledger-journeys.ts';
import { openDeliveries } from './webhook-deliveries.ts';

const PAGE = 500;

/** Reads the open rows page by page, the oldest first. */
export async function* readOpenWork(
  ledger: Ledger,
  { after: first, limit = PAGE, ...filters }: Partial<WorkQuery> = {},
): AsyncGenerator<{ rows: WorkRow[]; hasMore: boolean }> {
  let after = first;
  let page: { rows: WorkRow[]; hasMore: boolean };
  do {
    page = await ledger.work.open({ ...filters, limit, after });
    yield page;
    after = page.rows.at(-1);
  } while (page.hasMore);
}

/** Reads all rows that the filters choose, the oldest first. */
export async function readHolds(ledger: Ledger, filters: WorkFilters): Promise<Hold[]> {
  const holds: Hold[] = [];
  for await (const { rows } of readOpenWork(ledger, filters)) holds.push(...rows.map(describeHold));
  return holds;
}

/**
 * An item of the list. A row of the ledger has the row's members as well.
 *
 * - `hold`: an inquiry waits for a decision
 * - `look`: an inquiry was flagged; nothing waits for it
 * - `run`: a run as a whole was flagged (such as a review without its files), or needs an operator without a row
 * - `stuck`: the workflow tasks of an open run fail, so that it makes no progress
 * - `event`: an event was given up
 * - `consent`: it matches nothing that the ledger knows
 */
interface WorkItem extends Partial<Omit<Hold, 'kind' | 'guide' | 'decideAt'>> {
  kind: 'hold' | 'look' | 'run' | 'stuck' | 'event' | 'consent';
  /** The run key (model/run-key.ts). */
  runKey: string;
  /** A failure type, the name of a flag, or a short description. */
  reason: string;
  /** Details that only this item has, in words. */
  detail?: string;
  /** The command that resolves the item. */
  command: string;
}

interface WorkList {
  /** The oldest first. Work without a known beginning precedes the rest. */
  list: WorkItem[];
  /** Runs whose delivery of events no worker answered for. */
  unanswered: { runKey: string }[];
}

/** Filters leave only rows of the ledger: the rest has neither end user, product nor profile. */
export async function listWork(journeys: LedgerJourneys, filters: WorkFilters): Promise<WorkList> {
  const ledger = await journeys.getLedger();
  const isWhole = Object.keys(filters).length === 0;
  const [holds, { list: others, unanswered }] = await Promise.all([
    readHolds(ledger, filters),
    isWhole ? listOthers(getSdkClient(journeys), journeys.taskQueue, ledger) : { list: [], unanswered: [] },
  ]);
  const list = [...holds.map(toItem), ...others];
  return { list: list.sort((a, b) => Date.parse(a.since ?? '1970') - Date.parse(b.since ?? '1970')), unanswered };
}

function toItem({ guide: _, decideAt: __, ...hold }: Hold): WorkItem {
  const kind = hold.kind === 'held' ? 'hold' : hold.customerTraceNumber === undefined ? 'run' : 'look';
  return { ...hold, kind, command: resolveCommand(hold) };
}

/** Limits the list to a length that an operator can read. Each delivery takes a query. */
const MOST = { failing: 100, unlisted: 500, deliveries: 500, unmatchedConsents: 100 } as const;

async function listOthers(client: Client, taskQueue: string, ledger: Ledger): Promise<WorkList> {
  const [unlisted, failing, { deliveries, unanswered }, consents] = await Promise.all([
    listUnlisted(client, taskQueue, ledger),
    listFailingRuns(client, taskQueue, MOST.failing),
    openDeliveries(client, taskQueue, { failed: true, limit: MOST.deliveries }),
    ledger.consents.unmatched({ limit: MOST.unmatchedConsents }),
  ]);
  // The history has the failure of each of its tasks.
  const stuck = (failing ?? []).map(
    ({ workflowId, cause }): WorkItem => ({
      ...{ kind: 'stuck', runKey: parseWorkflowId(workflowId) ?? workflowId, reason: 'its tasks fail' },
      detail: `${cause ?? 'no cause is known'}; docs/runbook/workflow-tasks-fail.md`,
      command: `temporal workflow describe --workflow-id ${workflowId}`,
    }),
  );
  const list = [...unlisted, ...stuck, ...deliveries.flatMap(listGivenUp), ...consents.map(toConsentItem)];
  return { list, unanswered: unanswered.map((runKey) => ({ runKey })) };
}

/** Lists endpoints separately: an operator mends each, and sends to it again, by itself. */
function listGivenUp({
  runKey,
  endpoints,
}: Awaited<ReturnType<typeof openDeliveries>>['deliveries'][number]): WorkItem[] {
  return endpoints.flatMap(({ endpoint, failed }) => {
    const [first, last] = [failed[0], failed.at(-1)];
    if (!first || !last) return [];
    const reason = last.httpStatus === undefined ? last.failureType : `${last.failureType} ${last.httpStatus}`;
    const count = failed.length === 1 ? '1 event' : `${failed.length} events`;
    const detail = `${count} to the endpoint ${endpoint}`;
    const command = `credit-journey webhooks resend ${runKey} --endpoint ${endpoint}`;
    return [{ kind: 'event', runKey, reason, since: first.failedAt, detail, command }];
  });
}

const UNMATCHED_WORDS: Readonly<Record<UnmatchedConsent['unmatched'], string>> = {
  journey: 'no such run',
  share: 'no such share of it',
  applicant: 'no such applicant of it',
};

/** Starting the run, or requesting the share, takes it off as well. */
function toConsentItem(consent: UnmatchedConsent): WorkItem {
  const { runKey, unmatched, since, consentId, decision, applicantId, shareId } = consent;
  return {
    ...{ kind: 'consent', runKey, reason: UNMATCHED_WORDS[unmatched], since },
    detail: `${consentId}: ${decision} by ${applicantId} for share ${shareId}`,
    command: `credit-journey seen consents --run-key ${runKey} --by <name> --reason <why>`,
  };
}

const AT_ONCE = 8;

/**
 * Lists open runs that need an operator but have no row in this ledger: they may belong to another ledger. Visibility
 * names them, and may lag behind a decision, so that each run is read from the server.
 */
async function listUnlisted(client: Client, taskQueue: string, ledger: Ledger): Promise<WorkItem[]> {
  const name: SearchAttributeName = 'NeedsAttention';
  const query = [
    RUNS_WITH_INQUIRIES,
    "ExecutionStatus = 'Running'",
    toTaskQueueFilter(taskQueue),
    `${name} IS NOT NULL`,
  ].join(' AND ');
  const found = await askWhereKnown(async () => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query, pageSize: MOST.unlisted })) {
      ids.push(workflowId);
      if (ids.length >= MOST.unlisted) break;
    }
    return ids;
  });
  const unlisted = await runInParallel(found ?? [], AT_ONCE, async (workflowId): Promise<WorkItem[]> => {
    const runKey = parseWorkflowId(workflowId) ?? workflowId;
    if ((await ledger.work.open({ runKey, limit: 1 })).rows.length > 0) return [];
    const run = await describeRun(client, workflowId);
    const reason = run?.status.name === 'RUNNING' ? run.searchAttributes[name]?.[0] : undefined;
    // The run's search attribute still names the reason after an operator has seen it.
    const isSeen = (row: WorkRow & { closed?: WorkEnd }) => row.reason === reason && row.closed?.how === 'seen';
    if (typeof reason !== 'string' || (await ledger.work.of(runKey)).some(isSeen)) return [];
    const detail = 'the ledger has no row of it yet, or is not the one that the run has used';
    return [{ kind: 'run', runKey, reason, detail, command: `credit-journey status ${runKey}` }];
  });
  return unlisted.flat();
}
