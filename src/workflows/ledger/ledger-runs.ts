/**
 * Writes the operator tasks that a run could not open or close in the ledger before it ended. A run starts it for each
 * such end. It waits for the ledger without limit. Workflow id `work-<workflow id of the run>-<run id>`.
 */
import {
  ActivityFailure,
  continueAsNew,
  isCancellation,
  log,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { WorkNote } from '../../ledger/holds/work.ts';
import type { LedgerWatchInput, SeenAttempt } from '../../messages/ledger-watch.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { noteWork, untilDone, waitToTryAgain } from '../run/activity-stubs.ts';
import { applicationFailureOf, undecodableInput } from '../run/failures.ts';
import type { LeftNotes } from '../run/noted-work.ts';

export async function tellLedger(input: LeftNotes): Promise<void> {
  if (isUndecodable(input)) throw undecodableInput(input);
  const { ledgerId, notes } = input;
  let left = notes;
  for (let round = 0; left.length > 0; round++) {
    const failed: WorkNote[] = [];
    for (const note of left) if (!(await isTold(ledgerId, note))) failed.push(note);
    left = failed;
    if (left.length === 0) return;
    log.warn('the ledger does not take what a run has left', { notes: left.length });
    await waitToTryAgain('noteWork', round);
    if (workflowInfo().continueAsNewSuggested) return continueAsNew<typeof tellLedger>({ ledgerId, notes: left });
  }
}

async function isTold(ledgerId: string, note: WorkNote): Promise<boolean> {
  try {
    await noteWork.executeWithOptions({ summary: 'telling the ledger what a run has left' }, [{ ledgerId, note }]);
    return true;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    // A note never goes into another ledger than the run's.
    return applicationFailureOf(error)?.type === 'LedgerChanged';
  }
}

/** A day of looks at most, if the server suggests no earlier end: some 15,000 events. */
const LOOKS_IN_A_RUN = 1_440;

/**
 * Keeps the newest attempt that the ledger ever had, outside the ledger: an older copy that is put back lacks it.
 * Workers start one for each ledger and task queue. It never ends, and a worker that starts reads its memo.
 */
export async function watchLedger(input: LedgerWatchInput): Promise<never> {
  if (isUndecodable(input)) throw undecodableInput(input);
  const { ledgerId, everyMs, ...past } = input;
  let seen = past.seen;
  for (let looks = 0; looks < LOOKS_IN_A_RUN && !workflowInfo().continueAsNewSuggested; looks++) {
    const newest = await look(ledgerId, seen);
    if (newest && newest !== seen) upsertMemo({ seen: newest });
    seen = newest;
    await sleep(everyMs, { summary: 'until the next look' });
  }
  return continueAsNew<typeof watchLedger>({ ledgerId, everyMs, ...(seen ? { seen } : {}) });
}

/**
 * Returns the newest attempt seen by now. While the ledger lacks an attempt and no operator has accepted that, returns
 * the missing one.
 */
async function look(ledgerId: string, seen: SeenAttempt | undefined): Promise<SeenAttempt | undefined> {
  try {
    const summary = 'looking for the newest attempt';
    const { newest, lost } = await untilDone('lookAtLedger', { summary }, { ledgerId, ...(seen ? { seen } : {}) });
    const isNew = newest && (newest.position !== seen?.position || newest.claimedAt !== seen.claimedAt);
    return isNew && !lost ? newest : seen;
  } catch (error) {
    if (applicationFailureOf(error)?.type !== 'LedgerChanged') throw error;
    // No run claims anything in the ledger that answers, and the watched one may return.
    log.warn('the ledger that answers is not the one that is watched', {});
    return seen;
  }
}
