/** Runs as Temporal has them: whether one is open, what a ledger's watch has seen, and the end of those of a journey. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { toWebhookDeliveryId } from '../../messages/webhooks/delivery.ts';
import { type HighWaterMark, toLedgerWatchId } from '../../model/ledger-watch.ts';
import { parseWorkflowId, toWorkflowId } from '../../model/run-key.ts';
import { hasStatus, translateCallError } from './errors.ts';
import { toLateConsentIdPrefix } from './run-messages.ts';

/** Describes a run; by default the latest of its workflow id. `undefined` if the server knows none. */
export async function describeRun(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Whether the run has not closed. An operator may have paused it. */
export function isOpen({ status }: Pick<WorkflowExecutionDescription, 'status'>): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}

/**
 * Whether any run of this workflow is open: that run reads the ledger's row itself.
 *
 * @internal
 */
export async function isRunOpen(client: Client, workflowId: string): Promise<boolean> {
  try {
    const run = await describeRun(client, workflowId);
    return run !== undefined && isOpen(run);
  } catch (error) {
    throw translateCallError(error, parseWorkflowId(workflowId) ?? workflowId);
  }
}

/**
 * The newest attempt that the ledger's watch has seen; `undefined` where there is no watch yet, or nothing was claimed.
 * Temporal keeps it, so an older copy of the ledger cannot lose it.
 *
 * @throws what the server does where it does not answer, and what decoding does where a key is gone
 */
export async function readWatchedAttempt(
  client: Client,
  { ledgerId, taskQueue }: { ledgerId: string; taskQueue: string },
): Promise<HighWaterMark | undefined> {
  const watch = await describeRun(client, toLedgerWatchId(ledgerId, taskQueue));
  const { position, claimedAt } = (watch?.memo?.highWaterMark ?? {}) as Partial<HighWaterMark>;
  return typeof position === 'number' && typeof claimedAt === 'string' ? { position, claimedAt } : undefined;
}

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
