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
