/**
 * Writes what a run could not write into the ledger before it ended: what needs a person, and what needs one no longer.
 * A run starts it for each such end; it waits for the ledger for as long as it takes. Workflow id
 * `work-<workflow id of the run>-<run id>`.
 */
import { ActivityFailure, continueAsNew, isCancellation, log, workflowInfo } from '@temporalio/workflow';
import type { WorkNote } from '../../ledger/holds/work.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { noteWork, waitToTryAgain } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import type { LeftNotes } from '../run/noted-work.ts';
import { undecodableInput } from '../run/undecodable-input.ts';

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
    // Nothing is written into a ledger that is not the run's.
    return applicationFailureOf(error)?.type === 'LedgerChanged';
  }
}
