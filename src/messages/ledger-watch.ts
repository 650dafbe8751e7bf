/** The workflow that watches a ledger: its name, its id, its input. */

export const WATCH_LEDGER = 'watchLedger';

export interface LedgerWatchInput {
  ledgerId: string;
  /** The time between two looks, in milliseconds. */
  everyMs: number;
  /** The newest attempt that earlier runs have seen. */
  seen?: SeenAttempt;
}

/** The workflow id of a watch: one for each task queue, since a watch stops where no worker polls its queue. */
export function ledgerWatchId(ledgerId: string, taskQueue: string): string {
  return `watch-${ledgerId}-${taskQueue}`;
}

/**
 * An attempt of any inquiry by its place in the ledger's sequence. The instant tells it apart in a restored ledger,
 * which counts anew.
 */
export interface SeenAttempt {
  position: number;
  /** RFC 3339, by the database's clock. */
  claimedAt: string;
}

/** What a ledger reports about itself. */
export interface RestoreState {
  /** The newest attempt in the ledger. */
  newest?: SeenAttempt;
  /**
   * An attempt that a watch has seen and that the ledger no longer has. Absent once an operator has accepted the loss.
   */
  lost?: SeenAttempt;
}
