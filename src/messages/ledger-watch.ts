/** The workflow that watches a ledger: its name, its id, its input. */

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

/** An attempt of any inquiry by its place in the ledger's sequence; with its instant, since a restored ledger counts anew. */
export interface SeenAttempt {
  position: number;
  /** RFC 3339, by the database's clock. */
  claimedAt: string;
}

/** What the ledger says of itself. */
export interface RestoreState {
  /** The newest attempt that it has. */
  newest?: SeenAttempt;
  /** The attempt that somebody has seen and that is not here, which nobody has accepted yet. */
  lost?: SeenAttempt;
}
