/** Watches the ledger from outside it: an older copy that is put back lacks the newest attempt. */
import { continueAsNew, log, sleep, upsertMemo, workflowInfo } from '@temporalio/workflow';
import type { HighWaterMark, LedgerWatchInput } from '../../model/ledger-watch.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { runUntilRecorded } from '../run/activity-stubs.ts';
import { toUndecodableFailure } from '../run/failures.ts';

/** A day of looks at most, if the server suggests no earlier end: some 15,000 events. */
const LOOKS_IN_A_RUN = 1_440;

/**
 * Keeps the newest attempt that the ledger ever had, outside the ledger: an older copy that is put back lacks it.
 * Workers start one for each ledger and task queue. It never ends, and a worker that starts reads its memo.
 */
export async function watchLedger(input: LedgerWatchInput): Promise<never> {
  if (isUndecodable(input)) throw toUndecodableFailure(input);
  const { ledgerId, everyMs, ...state } = input;
  let highWaterMark = state.highWaterMark;
  for (let looks = 0; looks < LOOKS_IN_A_RUN && !workflowInfo().continueAsNewSuggested; looks++) {
    const newest = await findNewestAttempt(ledgerId, highWaterMark);
    if (newest && newest !== highWaterMark) upsertMemo({ highWaterMark: newest });
    highWaterMark = newest;
    await sleep(everyMs, { summary: 'until the next look' });
  }
  return continueAsNew<typeof watchLedger>({ ledgerId, everyMs, highWaterMark });
}

/**
 * Returns the newest attempt seen by now. While the ledger lacks an attempt and no operator has accepted that, returns
 * the missing one.
 */
async function findNewestAttempt(ledgerId: string, highWaterMark: HighWaterMark | undefined) {
  const summary = 'looking for the newest attempt';
  const looked = await runUntilRecorded('lookAtLedger', { summary }, { ledgerId, highWaterMark });
  if (looked === 'ledgerChanged') {
    // No run claims an attempt in the ledger that answers, and the watched ledger may return.
    log.warn('the ledger that answers is not the one that is watched', {});
    return highWaterMark;
  }
  const { newest, lost } = looked;
  const isNew = newest && (newest.position !== highWaterMark?.position || newest.claimedAt !== highWaterMark.claimedAt);
  return isNew && !lost ? newest : highWaterMark;
}
