/** Waits shortly for what a decision leads to: a run answers when the ledger has it, before it has acted on it. */
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import type { AnyStatus } from '../../words/runs.ts';
import type { AnyRun } from './journey-action.ts';

/** An inquiry that is sent again is answered in about a second. A gateway that is slower is not waited for. */
const FOLLOWS_WITHIN_MS = 5_000;

interface Followed {
  status: AnyStatus;
  /** Describes the effect of the decision if the status does not show it. */
  words?: string;
}

/**
 * Returns the run's status once it has acted on the decision, or when the time is over. The decision is in force either
 * way. If the run cannot be watched, the result is the status in the answer.
 *
 * @param answered the status in the answer to the decision
 */
export async function whatFollowed(
  run: AnyRun,
  answered: AnyStatus,
  customerTraceNumber: string,
  signal: AbortSignal = AbortSignal.timeout(FOLLOWS_WITHIN_MS),
): Promise<Followed> {
  const decided = findHold(answered, customerTraceNumber)?.since;
  // A hold that the answer does not have is another one.
  const heldAnew = (status: AnyStatus) => {
    const hold = findHold(status, customerTraceNumber);
    return hold?.since === decided ? undefined : hold;
  };
  const isWaiting = (status: AnyStatus) =>
    decided !== undefined && findHold(status, customerTraceNumber)?.since === decided;
  let status = answered;
  try {
    for await (const next of run.watch({ signal }) as AsyncIterable<AnyStatus>) {
      status = next;
      if (heldAnew(status)) break;
      // A review continues beside its holds, and its status does not show the outcome of one row.
      if (!isWaiting(status) && ('reviewId' in status || status.state !== 'running')) break;
    }
  } catch {
    // Out of reach, or gone from Temporal by now.
  }
  const anew = heldAnew(status);
  if (anew) return { status, words: `on hold again: ${anew.failureType}, attempt ${anew.attempts}` };
  if (isWaiting(status)) return { status, words: 'the run has not acted on it yet' };
  return status.state === 'running' ? { status, words: 'the run continues with it' } : { status };
}

function findHold({ holds }: Pick<AnyStatus, 'holds'>, customerTraceNumber: string): HoldStatus | undefined {
  return (holds as HoldStatus[]).find((hold) => hold.customerTraceNumber === customerTraceNumber);
}
