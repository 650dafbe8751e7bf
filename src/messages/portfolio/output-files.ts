/** Names the folder of a review's file, and the files that the review writes beside it. Pure. */

export type PortfolioOutputs = ReturnType<typeof toOutputNames>;

/** @param file path of the input, whose folder is kept */
export function toOutputNames(file: string, reviewId: string) {
  // An id with a dot could give another file's name: no file has a `~`.
  const stem = `${file}${reviewId.includes('.') ? '~' : '.'}${reviewId}`;
  return {
    /** One JSON line for each row that has an outcome. */
    results: `${stem}.results.jsonl`,
    /** One JSON line for each row that nothing was sent for. */
    badRows: `${stem}.bad-rows.jsonl`,
    /** The results so far, while the review runs. */
    unfinished: `${stem}.results.jsonl.part`,
  };
}

/**
 * The folder in PORTFOLIO_DIR that belongs to an end user of a profile. A review finds its file there and nowhere else, so
 * that no caller can name a file of another end user.
 */
export function toPortfolioFolder({ profile = 'default', endUserCode }: { profile?: string; endUserCode: string }) {
  return `${profile}/${endUserCode}`;
}

/** Reads the same folder from a path relative to PORTFOLIO_DIR. */
export function readFolder(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

export const MAX_PATH_LENGTH = 200;

/**
 * A relative path. Each part consists of letters, digits, `.`, `_` and `-` and begins with a letter or digit: no `..`,
 * no hidden file.
 */
export const RELATIVE_PATH = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

export function checkPortfolioPath(file: string): string | null {
  if (file.length <= MAX_PATH_LENGTH && RELATIVE_PATH.test(file)) return null;
  return `must be a path in the end user’s folder, at most ${MAX_PATH_LENGTH} letters, digits, ".", "_" and "-" between slashes`;
}
