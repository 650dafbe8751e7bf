/**
 * Runs whose workflow tasks fail again and again: they stand still, and take no message, until what they fail on is mended.
 * The server (1.30 or newer) lists them by a search attribute of its own, which goes with the first task that succeeds.
 */
import { type Client, isGrpcServiceError } from '@temporalio/client';

/** A list filter for such runs. A server that lacks the attribute refuses it. */
export const TASKS_FAIL = 'TemporalReportedProblems IS NOT NULL';

/** gRPC's `INVALID_ARGUMENT`. */
const INVALID_ARGUMENT = 3;

/** Runs of any workflow type: deliveries of webhooks and the ledger's watch may stand still as well. */
function failingRunsFilter(taskQueue: string): string {
  return `${TASKS_FAIL} AND ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue.replaceAll("'", "''")}'`;
}

/** Returns `null` where the server cannot tell. */
export function countFailingRuns(client: Pick<Client, 'workflow'>, taskQueue: string): Promise<number | null> {
  return whereKnown(async () => (await client.workflow.count(failingRunsFilter(taskQueue))).count);
}

export interface FailingRun {
  workflowId: string;
  /** As the server says it, such as `WorkflowTaskFailedCauseNonDeterministicError`. */
  cause: string | null;
}

/** Returns at most `limit` runs, or `null` where the server cannot tell. */
export function listFailingRuns(
  client: Pick<Client, 'workflow'>,
  taskQueue: string,
  limit: number,
): Promise<FailingRun[] | null> {
  return whereKnown(async () => {
    const found: FailingRun[] = [];
    const query = failingRunsFilter(taskQueue);
    for await (const { workflowId, searchAttributes } of client.workflow.list({ query, pageSize: limit })) {
      found.push({ workflowId, cause: readCause(searchAttributes?.TemporalReportedProblems) });
      if (found.length >= limit) break;
    }
    return found;
  });
}

/** The attribute is a list of texts such as `category=WorkflowTaskFailed` and `cause=…`. */
function readCause(problems: readonly unknown[] = []): string | null {
  const cause = problems.find((text) => typeof text === 'string' && text.startsWith('cause='));
  return typeof cause === 'string' ? cause.slice('cause='.length) : null;
}

/** Returns `null` where the server does not know a search attribute of the question. */
export async function whereKnown<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === INVALID_ARGUMENT) return null;
    throw error;
  }
}
