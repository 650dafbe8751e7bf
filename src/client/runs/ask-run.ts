/** Asks a run's query, again where its worker says so. */
import { setTimeout as delay } from 'node:timers/promises';
import { QueryNotRegisteredError, type WorkflowHandle } from '@temporalio/client';

/** A run that takes messages without end may be between two tasks several times in a row. */
const MOST_TIMES = 8;
const PAUSE_MS = 50;

/**
 * A worker refuses a query that comes between two tasks of the run (`workflows/run/as-replayed.ts`). The server tells each
 * query that failed by this one error, also the one that does not exist.
 */
export async function askRun<Answer>(
  handle: Pick<WorkflowHandle, 'query'>,
  name: string,
  signal?: AbortSignal,
  ...args: unknown[]
): Promise<Answer> {
  for (let time = 1; ; time++) {
    try {
      return await handle.query<Answer, unknown[]>(name, ...args);
    } catch (error) {
      if (!(error instanceof QueryNotRegisteredError) || time === MOST_TIMES) throw error;
    }
    await delay(PAUSE_MS * time, undefined, signal ? { signal } : {});
  }
}
