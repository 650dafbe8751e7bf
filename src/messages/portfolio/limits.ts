/** The limits and the fixed words of portfolio reviews. Pure. */

/** Rows in progress at once where the input names no `window`. */
export const DEFAULT_WINDOW = 20;
/**
 * Far above the slots of any gateway queue. Far below 2,000, the activities that Temporal lets one run have pending.
 */
export const MAX_WINDOW = 500;
export const DEFAULT_MAX_BAD_ROWS = 100;
export const MAX_BAD_ROWS = 10_000;
/** A worker keeps the ids of all rows in memory while it examines a file: some 100 MB for so many. */
export const MAX_ROWS = 1_000_000;
/** If so many inquiries wait for an operator, the review starts no further row: the cause may be common to all. */
export const MAX_HELD = 500;

/**
 * Why a review needs a person: its files cannot be reached. Shown by `NeedsAttention`, and by `attention` of its
 * status.
 */
export const PORTFOLIO_UNAVAILABLE = 'PortfolioUnavailable';

/** Faults of a worker that cannot reach them, by the code of its failure. Other codes are the file system’s. */
export const PORTFOLIO_FAULTS: Partial<Record<string, string>> = {
  PORTFOLIO_DIR: 'has no PORTFOLIO_DIR',
  PLACE: 'finds no file in the end user’s folder',
  ROW: 'cannot read a row that another worker has examined',
  RESULTS: 'lacks results that another worker has written',
};
