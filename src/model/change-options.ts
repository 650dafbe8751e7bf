/** When a figure of a report counts as changed (types). */

/** When a figure counts as moved: it differs by at least `amount`, and by at least `percent` of the larger figure. */
export interface FigureThreshold {
  /** A decimal string, not negative. */
  amount: string;
  /** A decimal string, 0 to 100. */
  percent: string;
}

export interface ChangeOptions {
  balance: FigureThreshold;
  creditLimit: FigureThreshold;
  /** Status codes of a tradeline that is closed. */
  closedStatusCodes: readonly string[];
}
