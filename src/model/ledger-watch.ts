/** The workflow that watches a ledger: its name, its id, its input. */

export const WATCH_LEDGER = 'watchLedger';

export interface LedgerWatchInput {
  ledgerId: string;
  /** The time between two looks, in milliseconds. */
  everyMs: number;
  /** The newest attempt that earlier runs have seen. */
  highWaterMark?: HighWaterMark;
}

/** The workflow id of a watch. Each task queue has its own, since a watch stops if no worker polls its queue. */
export function toLedgerWatchId(ledgerId: string, taskQueue: string): string {
  return `watch-${ledgerId}-${taskQueue}`;
}

/**
 * An attempt of any inquiry by its place in the ledger's sequence. A restored ledger may give that place again, to an
 * attempt of another instant.
 */
export interface HighWaterMark {
  position: number;
  /** RFC 3339, by the database's clock. */
  claimedAt: string;
}

export interface RestoreState {
  newest?: HighWaterMark;
  /**
   * An attempt that a watch has seen and that the ledger no longer has. Absent once an operator has accepted the loss.
   */
  lost?: HighWaterMark;
}
