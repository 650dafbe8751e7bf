/** Why a run has failed: `start` says it at once, `status` later. */
import { setTimeout as delay } from 'node:timers/promises';
import type { CreditJourneys } from '../../client.ts';
import type { Problem } from '../../model/problems.ts';
import type { AnyStatus } from '../output/status-lines.ts';

type Run = ReturnType<CreditJourneys['run']>;

/** A worker checks an input in some 50 ms. Where none is free, `status` tells later. */
const CHECK_WAIT_MS = 1_000;

/**
 * Waits until a worker has checked the input of a run that was started, for a second at the most.
 *
 * @throws InvalidInputError with what the worker refuses; JourneyFailedError
 */
export async function untilChecked(run: Run): Promise<void> {
  const over = new AbortController();
  const checked = (async () => {
    for await (const status of run.watch({ signal: over.signal }) as AsyncIterable<AnyStatus>) {
      if (status.environment !== null) return;
    }
    if (!over.signal.aborted) await run.result();
  })();
  const timer = delay(CHECK_WAIT_MS, undefined, { signal: over.signal }).catch(() => {});
  try {
    await Promise.race([checked, timer]);
  } finally {
    over.abort();
    // A worker that is away answers the question only once the connection is closed.
    checked.catch(() => {});
  }
}

export interface RunFailure {
  /** As in `JourneyFailedError`. */
  type: string;
  /** Of an input that was refused: paths and rules, never values. */
  problems?: readonly Problem[];
}

/** `undefined` unless it has failed. */
export async function failureOf(run: Run, { state }: Pick<AnyStatus, 'state'>): Promise<RunFailure | undefined> {
  if (state !== 'failed') return undefined;
  try {
    await run.result();
    return undefined;
  } catch (error) {
    const { problems, failureType } = error as { problems?: readonly Problem[]; failureType?: string };
    if (problems) return { type: 'InvalidInput', problems };
    if (failureType !== undefined) return { type: failureType };
    throw error;
  }
}
