/** Errors of the portfolio's files. They contain no value and no path of the machine. */

/** Thrown when the file is not the one that the review began with. Nothing more may be sent for it. */
export class PortfolioChangedError extends Error {
  override readonly name = 'PortfolioChangedError';
  constructor() {
    super('the portfolio file is not the one that the review began with');
  }
}

/** Thrown when the file, or the directory, cannot be read or written now. A new attempt may succeed. */
export class PortfolioUnavailableError extends Error {
  override readonly name = 'PortfolioUnavailableError';
  /** Such as `ENOENT`; `PORTFOLIO_DIR` where this worker has no directory. */
  readonly code: string;
  constructor(code: string) {
    super(
      code === 'PORTFOLIO_DIR'
        ? 'this worker has no PORTFOLIO_DIR'
        : `the portfolio’s files cannot be reached (${code})`,
    );
    this.code = code;
  }
}

/** Turns an error of the file system into ours, without its path. */
export function portfolioUnavailable(error: unknown): PortfolioUnavailableError {
  const { code } = error as { code?: unknown };
  return new PortfolioUnavailableError(typeof code === 'string' && /^E[A-Z0-9]{1,20}$/.test(code) ? code : 'unknown');
}
