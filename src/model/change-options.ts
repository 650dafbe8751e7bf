/** Options of a comparison of reports: when a figure counts as changed (types). */

/**
 * The threshold of a figure. It counts as moved where it differs by at least `amount`, and by at least `percent` of the
 * larger figure.
 */
export interface FigureThreshold {
  /** A decimal string, not negative. */
  amount: string;
  /** A decimal string, 0 to 100. */
  percent: string;
}

export interface ChangeOptions {
  balance: FigureThreshold;
  creditLimit: FigureThreshold;
  /** Status codes that mean a closed tradeline. */
  closedStatusCodes: readonly string[];
}
