/** Errors of the portfolio's files. They contain no value and no path of the machine. */

/** Thrown when the file is not the one that the review began with. Nothing more may be sent for it. */
export class PortfolioChangedError extends Error {
  override readonly name = 'PortfolioChangedError';
  constructor() {
    super('the portfolio file is not the one that the review began with');
  }
}

/** Thrown when the file, the directory or a row cannot be read or written now. A new attempt may succeed. */
export class PortfolioUnavailableError extends Error {
  override readonly name = 'PortfolioUnavailableError';
  /**
   * Such as `ENOENT`; `PORTFOLIO_DIR` where this worker has no directory; `ROW` where this worker takes a row for none
   * that the worker which examined the file took for one.
   */
  readonly code: string;
  constructor(code: string) {
    super(OF_THIS_WORKER[code] ?? `the portfolio’s files cannot be reached (${code})`);
    this.code = code;
  }
}

const OF_THIS_WORKER: Partial<Record<string, string>> = {
  PORTFOLIO_DIR: 'this worker has no PORTFOLIO_DIR',
  ROW: 'this worker cannot read a row that another worker has examined',
};

/** Turns an error of the file system into ours, without its path. */
export function portfolioUnavailable(error: unknown): PortfolioUnavailableError {
  const { code } = error as { code?: unknown };
  return new PortfolioUnavailableError(typeof code === 'string' && /^E[A-Z0-9]{1,20}$/.test(code) ? code : 'unknown');
}
