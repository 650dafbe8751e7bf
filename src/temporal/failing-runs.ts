/**
 * Counts runs whose workflow tasks fail again and again. They make no progress, and take no message, until the cause is
 * fixed. The server (1.30 or newer) marks them by its own search attribute, which the first successful task removes.
 */

import { type Client, ServiceError } from '@temporalio/client';
import { isRecord } from '../base/is-record.ts';
import { toTaskQueueFilter } from '../model/run-key.ts';

/** A list filter for such runs, of any workflow type: deliveries of events may fail as well. */
export const TASKS_FAIL = 'TemporalReportedProblems IS NOT NULL';

/** gRPC's `INVALID_ARGUMENT`. */
const INVALID_ARGUMENT = 3;

/** Counts those of one task queue. Returns `null` if the server lacks the attribute. */
export function countFailingRuns(client: Pick<Client, 'workflow'>, taskQueue: string): Promise<number | null> {
  return askWhereKnown(() => countRunning(client, taskQueue, TASKS_FAIL));
}

/** Counts the running workflows of one task queue that match the filter. */
export async function countRunning(
  client: Pick<Client, 'workflow'>,
  taskQueue: string,
  filter: string,
): Promise<number> {
  const query = `${filter} AND ExecutionStatus = 'Running' AND ${toTaskQueueFilter(taskQueue)}`;
  return (await client.workflow.count(query)).count;
}

/** Returns `null` where the server does not know a search attribute of the question. */
export async function askWhereKnown<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    // Calls of the client wrap the gRPC error; calls of its raw services do not.
    const status = error instanceof ServiceError ? error.cause : error;
    if (isRecord(status) && status.code === INVALID_ARGUMENT) return null;
    throw error;
  }
}
