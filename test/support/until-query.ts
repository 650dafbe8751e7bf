/** Waits for a run's query to answer as a test wants it; a wait in vain tells the run's story. */
import { storyOf, type WatchedRun } from './run-story.ts';

/** Ends a test that would wait for ever; it is no timing check. Tests of broken builds need not wait as long. */
export const WAIT_LIMIT_MS = Number(process.env.TEST_WAIT_LIMIT_MS ?? 120_000);
/** A query costs worker and server a task each: four tests that wait at once leave the machine to what they wait for. */
const POLL_MS = 100;

export interface UntilOptions {
  /** Default: `status`. */
  query?: string;
  limitMs?: number;
}

/** @throws Error with the last answer, the run's history, its ledger's rows and the last log lines */
export async function untilQuery<Status>(
  handle: WatchedRun,
  isWanted: (status: Status) => boolean,
  { query = 'status', limitMs = WAIT_LIMIT_MS }: UntilOptions = {},
): Promise<Status> {
  const endsAt = performance.now() + limitMs;
  for (;;) {
    const status = await handle.query<Status>(query);
    if (isWanted(status)) return status;
    if (performance.now() > endsAt) {
      throw new Error(`waited in vain; ${query} is ${JSON.stringify(status)}\n${await storyOf(handle)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
