/**
 * Counts and sums of what changed between two reports: the only part of a comparison that a journey's result holds
 * (types).
 */
import type { StageCode } from '../../model/products.ts';

export interface ChangeCounts {
  applicantsCompared: number;
  applicantsJoined: number;
  applicantsLeft: number;
  newAccounts: number;
  vanishedAccounts: number;
  closedAccounts: number;
  reopenedAccounts: number;
  /** All other changes of a status code. */
  statusChanges: number;
  balanceMoves: number;
  creditLimitMoves: number;
  newNames: number;
  vanishedNames: number;
  newAddresses: number;
  vanishedAddresses: number;
  unreadable: number;
}

/** Sums of all readable figures of the compared applicants; decimal strings. */
export interface ChangeTotals {
  balance: { earlier: string; later: string };
  creditLimit: { earlier: string; later: string };
  newAccounts: { balance: string; creditLimit: string };
  vanishedAccounts: { balance: string; creditLimit: string };
}

/** Counts and sums over all applicants: nothing that identifies one. */
export interface ChangeSummary {
  counts: ChangeCounts;
  totals: ChangeTotals;
}

/**
 * Why a comparison is missing: a report was disposed of, is not in the ledger, or cannot be read, or the activity could
 * not finish in its time.
 */
export const COMPARISON_GAPS = ['disposed', 'noReport', 'unreadable', 'notCompared'] as const;
export type ComparisonGap = (typeof COMPARISON_GAPS)[number];

/** The changes of one stage. Nothing personal: no contributor, no account number. */
export type StageChanges =
  | { comparedWith: StageCode; counts: ChangeCounts; totals: ChangeTotals }
  | { comparedWith: StageCode; unavailable: ComparisonGap };
