/** The runs of a journey as Temporal has them, for its disposal: which are open, and the end of those that are closed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { hasStatus, translateCallError } from '../client/connection/errors.ts';
import { toLateConsentIdPrefix } from '../client/connection/run-messages.ts';
import { describeRun } from '../client/connection/temporal-runs.ts';
import { toWebhookDeliveryId } from '../messages/webhooks/delivery.ts';
import { toWorkflowId } from '../model/run-key.ts';

interface RunName {
  workflowId: string;
  runId: string;
}

export interface JourneyRuns {
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
export async function deleteClosedRuns(
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
      await deleteRun(client, journeyId, run);
      deleted.add(run.runId);
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

async function deleteRun(client: Client, journeyId: string, { workflowId, runId }: RunName): Promise<void> {
  try {
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
    });
  } catch (error) {
    // An earlier request has already deleted the run.
    if (hasStatus(error, 'notFound')) return;
    throw translateCallError(error, journeyId);
  }
}
