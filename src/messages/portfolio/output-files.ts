/** What a review writes, by name, beside its file. Pure. */

export interface PortfolioOutputs {
  /** One JSON line for each row that has an outcome. */
  results: string;
  /** One JSON line for each row that nothing was sent for. */
  badRows: string;
  /** A directory, while the review runs. */
  parts: string;
}

/** @param file its path, of which the folder is kept */
export function outputNamesOf(file: string, reviewId: string): PortfolioOutputs {
  const stem = `${file}.${reviewId}`;
  return { results: `${stem}.results.jsonl`, badRows: `${stem}.bad-rows.jsonl`, parts: `${stem}.parts` };
}

export const MAX_PATH_LENGTH = 200;

/** Parts of letters, digits, `.`, `_` and `-` that begin with none of the last two or a dot: no `..`, no hidden file. */
export const RELATIVE_PATH = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

/** The rule that a file's name breaks, or `null`. */
export function portfolioPathProblem(file: string): string | null {
  if (file.length <= MAX_PATH_LENGTH && RELATIVE_PATH.test(file)) return null;
  return `must be a path relative to PORTFOLIO_DIR, at most ${MAX_PATH_LENGTH} letters, digits, ".", "_" and "-" between slashes`;
}
