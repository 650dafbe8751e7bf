/** Options of a comparison of reports: when a figure counts as changed (types). */

/**
 * The threshold of a figure. A figure has moved if it differs by at least `amount`, and by at least `percent` of the
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

/**
 * Every difference counts: nothing is left out unless an option says so. No code means closed: the interface shows no
 * list (2.4), and only the provider's is one.
 */
export const DEFAULT_CHANGE_OPTIONS: ChangeOptions = {
  balance: { amount: '0', percent: '0' },
  creditLimit: { amount: '0', percent: '0' },
  closedStatusCodes: [],
};
