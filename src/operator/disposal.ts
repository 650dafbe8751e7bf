/**
 * Disposal of journeys, for operators (docs/retention.md): ledger and Temporal together, one journey after the other.
 * The order of things, and why, is in src/ledger/retention/retention.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { runInParallel } from '../base/in-parallel.ts';
import { CallError, hasStatus, translateCallError } from '../client/connection/errors.ts';
import { toLateConsentIdPrefix } from '../client/connection/run-messages.ts';
import { describeRun } from '../client/connection/temporal-runs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Authorization } from '../ledger/orders.ts';
import type { AgeQuery, Obstacle } from '../ledger/retention/retention.ts';
import { toWebhookDeliveryId } from '../messages/webhooks/delivery.ts';
import { toWorkflowId } from '../model/run-key.ts';

export interface DisposalContext {
  client: Client;
  ledger: Ledger;
}

/** By id, or by the age of the newest attempt or answer. `limit`: at most so many are planned, refused ones aside. */
export type DisposalSelection = { runKey: string } | { olderThanMs: number; limit: number };

export interface FinishedDisposal {
  runKey: string;
  inquiries: number;
  reports: number;
  /** Runs that Temporal has, or had: closed ones, and the delivery of events. */
  runs: number;
}

interface RefusedDisposal {
  runKey: string;
  obstacles: (Obstacle | { reason: 'runOpen' | 'runsRemain' })[];
  /** Histories that are gone from Temporal all the same: deleted before the obstacle came. */
  histories: number;
}

interface DisposalPlan {
  planned: (FinishedDisposal & {
    /** Events wait for an endpoint: they are dropped. */
    delivering?: true;
    newestAt?: string;
    /** When an unfinished disposal began. */
    begunAt?: string;
  })[];
  refused: RefusedDisposal[];
  /** More runs are old enough: plan again after these. */
  more: boolean;
  /** Begun before and not finished, also outside this selection: to be repeated by id. */
  unfinished: { runKey: string }[];
  /** The time of the disposal, by id, if no record remains. */
  disposedAt?: string;
}

/** A low limit, since workers use the ledger and the server at the same time. */
const AT_ONCE = 4;
const PAGE = 50;

/**
 * Plans a disposal: what would be disposed of, and why something would not. Changes nothing.
 *
 * @throws LedgerUnavailableError; CallError, also where neither Temporal nor the ledger knows the id
 */
export async function planDisposal(context: DisposalContext, selection: DisposalSelection): Promise<DisposalPlan> {
  const { retention } = context.ledger;
  const plan: DisposalPlan = { planned: [], refused: [], more: false, unfinished: await retention.unfinished() };
  if ('runKey' in selection) {
    const item = await planOne(context, selection.runKey);
    if (!item) throw new CallError('notFound', { runKey: selection.runKey });
    return { ...plan, ...item };
  }
  const { olderThanMs, limit } = selection;
  let after: AgeQuery['after'];
  do {
    const size = Math.min(PAGE, limit - plan.planned.length);
    const page = await retention.olderThan({ olderThanMs, limit: size, after });
    for (const item of await runInParallel(page.runKeys, AT_ONCE, (runKey) => planOne(context, runKey))) {
      plan.planned.push(...(item?.planned ?? []));
      plan.refused.push(...(item?.refused ?? []));
    }
    after = page.next;
  } while (after && plan.planned.length < limit);
  return { ...plan, more: after !== undefined };
}

/** Returns `undefined` if neither the ledger nor Temporal has the run. */
async function planOne(context: DisposalContext, runKey: string): Promise<Partial<DisposalPlan> | undefined> {
  const { view, runs, obstacles } = await examine(context, runKey);
  if (obstacles.length > 0) return { refused: [{ runKey, obstacles, histories: view.histories }] };
  const { inquiries, reports, newestAt, begunAt, disposedAt } = view;
  const count = runs.closed.length + runs.delivering.length;
  if (inquiries === 0 && count === 0 && begunAt === undefined) return disposedAt ? { disposedAt } : undefined;
  const delivering = runs.delivering.length > 0 ? (true as const) : undefined;
  return { planned: [{ runKey, inquiries, reports, runs: count, delivering, newestAt, begunAt }] };
}

/** Reads what the ledger and Temporal have of the run, and what forbids its disposal. */
async function examine({ client, ledger }: DisposalContext, runKey: string) {
  const view = await ledger.retention.view(runKey);
  const runs = await findRuns(client, runKey, view.runs);
  const holds = runs.closed.length + runs.delivering.length > 0 ? view.holdsOnOtherRows : [];
  const obstacles: RefusedDisposal['obstacles'] = [
    ...view.obstacles,
    ...holds.map((hold) => ({ reason: 'legalHold' as const, hold })),
    ...(runs.open.length > 0 ? [{ reason: 'runOpen' as const }] : []),
  ];
  return { view, runs, obstacles };
}

/**
 * Disposes of one planned item, and repeats every check first. The caller may stop it anywhere and run it again.
 *
 * @throws CallError, LedgerUnavailableError: nothing of the ledger was destroyed
 */
export async function disposeItem(
  context: DisposalContext,
  runKey: string,
  authorization: Authorization,
): Promise<{ finished: FinishedDisposal } | { refused: RefusedDisposal }> {
  const { retention } = context.ledger;
  const refuse = async (obstacles: RefusedDisposal['obstacles']) => {
    const { histories } = await retention.view(runKey);
    return { refused: { runKey, obstacles, histories } };
  };
  const { view, obstacles } = await examine(context, runKey);
  if (obstacles.length > 0) return refuse(obstacles);
  const begun = await retention.begin(runKey, authorization);
  if (begun.kind === 'refused') return refuse(begun.obstacles);
  // A run that was started since the last look claims nothing any more: it ends, and this is done again.
  let holds: Obstacle[] = [];
  const { deleted, left } = await deleteClosedRuns(context.client, runKey, view.runs, async (run) => {
    holds = await retention.recordDeletion(runKey, authorization, run);
    return holds.length === 0;
  });
  if (holds.length > 0) return refuse(holds);
  if (left.open.length > 0) return refuse([{ reason: 'runOpen' }]);
  if (left.closed.length + left.delivering.length > 0) return refuse([{ reason: 'runsRemain' }]);
  const done = await retention.dispose(runKey, authorization, deleted);
  if (done.kind === 'refused') return refuse(done.obstacles);
  return { finished: { runKey, inquiries: done.inquiries, reports: done.reports, runs: deleted } };
}

// The runs of a journey as Temporal has them: which are open, and the end of those that are closed.

interface RunName {
  workflowId: string;
  runId: string;
}

interface JourneyRuns {
  /** Open runs, except the delivery of events. */
  open: RunName[];
  /** The open run that delivers the events: an endpoint has not taken all of them yet. */
  delivering: RunName[];
  closed: RunName[];
}

/** These statuses are final. Any other status may change, including one that only a newer server has. */
const CLOSED = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'CONTINUED_AS_NEW', 'TIMED_OUT']);

/**
 * The server deletes a run that closed a moment ago only when it next notes its progress, every 30 s; others at once.
 */
const DELETION_LIMIT_MS = 120_000;
const LOOK_AGAIN_MS = 200;

/**
 * Finds the runs under a run key, with the runs that deliver its events and record consents after its end. The ledger
 * names the runs of `known`. The server itself names open runs. Visibility finds older runs, and may be a second behind.
 *
 * @throws CallError
 */
export async function findRuns(client: Client, journeyId: string, known: readonly RunName[]): Promise<JourneyRuns> {
  const own = toWorkflowId(journeyId);
  const delivery = toWebhookDeliveryId(own);
  const found = new Map<string, RunName & { isClosed: boolean }>();
  const note = ({ workflowId, runId, status }: RunName & { status: { name: string } }) => {
    // A closed run stays closed, and visibility may lag behind.
    const isClosed = CLOSED.has(status.name) || found.get(runId)?.isClosed === true;
    found.set(runId, { workflowId, runId, isClosed });
  };
  try {
    const workflowIds = [...new Set([own, delivery, ...known.map(({ workflowId }) => workflowId)])];
    const prefix = toLateConsentIdPrefix(journeyId);
    const conditions = workflowIds.map((workflowId) => `WorkflowId = ${quote(workflowId)}`);
    for (const query of [...conditions, `WorkflowId STARTS_WITH ${quote(prefix)}`]) {
      for await (const run of client.workflow.list({ query })) {
        // This journey's id may be the beginning of another's.
        const isOwn =
          workflowIds.includes(run.workflowId) || /^[0-9a-f]{16}$/.test(run.workflowId.slice(prefix.length));
        if (isOwn) note(run);
      }
    }
    const current: Partial<RunName>[] = workflowIds.map((workflowId) => ({ workflowId }));
    const listedAsOpen = [...found.values()].filter(({ isClosed }) => !isClosed);
    for (const { workflowId = '', runId } of [...current, ...known, ...listedAsOpen]) {
      const described = await describeRun(client, workflowId, runId);
      if (described) note(described);
      else if (runId !== undefined) found.delete(runId);
    }
  } catch (error) {
    throw translateCallError(error, journeyId);
  }
  const runs: JourneyRuns = { open: [], delivering: [], closed: [] };
  for (const { isClosed, workflowId, runId } of found.values()) {
    const kind = isClosed ? 'closed' : workflowId === delivery ? 'delivering' : 'open';
    runs[kind].push({ workflowId, runId });
  }
  return runs;
}

/** Ids hold no quotes (docs/protection.md); those in a ledger may be of another make. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Deletes the closed runs and the delivery of events, each by its run id, so that a run that starts meanwhile stays.
 * Asks `mayDelete` before each run, and stops at the first that it forbids. `deleted` counts the deleted runs.
 * `left` has the runs that are open, that `mayDelete` forbids, or that the server has not removed in time.
 *
 * @throws CallError; what `mayDelete` throws
 */
async function deleteClosedRuns(
  client: Client,
  journeyId: string,
  known: readonly RunName[],
  mayDelete: (run: RunName) => Promise<boolean>,
): Promise<{ deleted: number; left: JourneyRuns }> {
  const deleted = new Set<string>();
  const deadline = performance.now() + DELETION_LIMIT_MS;
  for (;;) {
    const left = await findRuns(client, journeyId, known);
    const isOver = left.closed.length + left.delivering.length === 0 || performance.now() >= deadline;
    if (isOver || left.open.length > 0) return { deleted: deleted.size, left };
    // Deleting an open run terminates it. An unreachable endpoint would keep the delivery open for weeks
    // (docs/webhooks.md).
    for (const run of [...left.delivering, ...left.closed]) {
      if (!deleted.has(run.runId) && !(await mayDelete(run))) return { deleted: deleted.size, left };
      const named = { namespace: client.options.namespace, workflowExecution: run };
      await client.workflowService.deleteWorkflowExecution(named).catch((error: unknown) => {
        // An earlier request has already deleted the run.
        if (!hasStatus(error, 'notFound')) throw translateCallError(error, journeyId);
      });
      deleted.add(run.runId);
    }
    await sleep(LOOK_AGAIN_MS);
  }
}
