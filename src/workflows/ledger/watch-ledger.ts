import { continueAsNew, log, sleep, upsertMemo, workflowInfo } from '@temporalio/workflow';
import type { LedgerWatchInput, SeenAttempt } from '../../messages/ledger-watch.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { untilDone } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import { undecodableInput } from '../run/undecodable-input.ts';

/** A day of looks at most, where the server suggests nothing: some 15,000 events. */
const LOOKS_IN_A_RUN = 1_440;

/**
 * Keeps the newest attempt that the ledger ever had, outside the ledger: an older copy that is put back lacks it. Started
 * by workers, one for each ledger and task queue, and never ends. Its memo tells a worker that starts what it has seen.
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
 * The newest attempt seen by now. While the ledger lacks an attempt and no operator has accepted that, the missing one.
 */
async function look(ledgerId: string, seen: SeenAttempt | undefined): Promise<SeenAttempt | undefined> {
  try {
    const summary = 'looking for the newest attempt';
    const { newest, lost } = await untilDone('lookAtLedger', { summary }, { ledgerId, ...(seen ? { seen } : {}) });
    const isNew = newest && (newest.position !== seen?.position || newest.claimedAt !== seen.claimedAt);
    return isNew && !lost ? newest : seen;
  } catch (error) {
    if (applicationFailureOf(error)?.type !== 'LedgerChanged') throw error;
    // Another one answers, on which nothing is claimed anyway: this one may come back.
    log.warn('the ledger that answers is not the one that is watched', {});
    return seen;
  }
}
