/** The workflow that watches a ledger: its name, its id, its input. */
import type { SeenAttempt } from '../ledger/port.ts';

export const WATCH_LEDGER = 'watchLedger';

export interface LedgerWatchInput {
  ledgerId: string;
  /** Between two looks. */
  everyMs: number;
  /** The newest attempt that the runs before have seen. */
  seen?: SeenAttempt;
}

/** One for each task queue: a watch whose queue nobody polls any more stands still. */
export function ledgerWatchId(ledgerId: string, taskQueue: string): string {
  return `watch-${ledgerId}-${taskQueue}`;
}
