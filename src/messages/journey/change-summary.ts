/** Counts and sums of what changed between two reports: all that a journey's result tells of it (types). */
import type { StageCode } from '../../model/products.ts';

export interface ChangeCounts {
  applicantsCompared: number;
  applicantsJoined: number;
  applicantsLeft: number;
  newAccounts: number;
  vanishedAccounts: number;
  closedAccounts: number;
  reopenedAccounts: number;
  /** Other changes of a status code. */
  statusChanges: number;
  balanceMoves: number;
  creditLimitMoves: number;
  newNames: number;
  vanishedNames: number;
  newAddresses: number;
  vanishedAddresses: number;
  unreadable: number;
}

/** Sums of all that could be read, of the applicants compared; decimal strings. */
export interface ChangeTotals {
  balance: { earlier: string; later: string };
  creditLimit: { earlier: string; later: string };
  newAccounts: { balance: string; creditLimit: string };
  vanishedAccounts: { balance: string; creditLimit: string };
}

/** Counts and sums over all applicants: nothing that tells who. */
export interface ChangeSummary {
  counts: ChangeCounts;
  totals: ChangeTotals;
}

/**
 * Why there is no comparison: a report was disposed of, is not in the ledger, cannot be read, or the activity could not
 * be carried out in its time.
 */
export const COMPARISON_GAPS = ['disposed', 'noReport', 'unreadable', 'notCompared'] as const;
export type ComparisonGap = (typeof COMPARISON_GAPS)[number];

/** Of one stage. Nothing personal: no contributor, no number of an account. */
export type StageChanges =
  | { comparedWith: StageCode; counts: ChangeCounts; totals: ChangeTotals }
  | { comparedWith: StageCode; unavailable: ComparisonGap };
